//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// wire is a server with the toolset "human", and every byte that it gives away.
type wire struct {
	t        *testing.T
	cmd      *exec.Cmd
	in       io.WriteCloser
	lines    chan string
	out, log *logged
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// wired starts the server on a shop, for its agent.
func wired(t *testing.T, path string, args ...string) *wire {
	t.Helper()
	return wiredWith(t, path, nil, args...)
}

// wiredWith is wired with further variables.
func wiredWith(t *testing.T, path string, env []string, args ...string) *wire {
	t.Helper()
	cmd := program(t, "countersign-mcp", append(env, "COUNTERSIGN_DB="+path, "COUNTERSIGN_TOKEN="+agentToken),
		append([]string{"--toolsets", "support,human"}, args...)...)
	return wiredTo(t, cmd)
}

// wiredTo starts a command that is the server.
func wiredTo(t *testing.T, cmd *exec.Cmd) *wire {
	t.Helper()
	w := &wire{t: t, cmd: cmd, lines: make(chan string, 1000), out: new(logged), log: new(logged)}
	cmd.Stderr = w.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if w.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if a test failed before its end
	go func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(io.TeeReader(out, w.out)); lines.Scan(); {
			w.lines <- lines.Text()
		}
	}()
	w.send(initialize)
	w.receive(`"serverInfo"`)
	return w
}

func (w *wire) send(lines string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, lines); err != nil {
		w.t.Fatal(err)
	}
}

// receive returns the next line that holds a text.
func (w *wire) receive(text string) string {
	w.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				w.t.Fatalf("the server ended before it sent %s: %s", text, w.log)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-late:
			w.t.Fatalf("the server never sent %s: %s", text, w.out)
		}
	}
}

// asks calls a tool, with the call's id as progress token.
func (w *wire) asks(id int, tool, arguments string) {
	w.t.Helper()
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"progressToken":%d},"name":%q,"arguments":%s}}`+"\n", id, id, tool, arguments))
}

func (w *wire) answer(id int) string { return w.receive(fmt.Sprintf(`"id":%d,`, id)) }

// ends waits for the server's end and checks that it was a good one, in time.
func (w *wire) ends(within time.Duration) {
	w.t.Helper()
	began := time.Now()
	late := time.AfterFunc(time.Minute, func() { _ = w.cmd.Process.Kill() })
	defer late.Stop()
	for range w.lines {
	}
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("%v: %s", err, w.log)
	}
	if took := time.Since(began); took > within {
		w.t.Errorf("it took %v to end", took)
	}
}

func (w *wire) hangUp() {
	w.t.Helper()
	if err := w.in.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.ends(5 * time.Second)
}

// reference is what the wire shows of a secret, with < and > as JSON may write them.
const reference = `"CARRIER_KEY":"\u003cwritten to .env; use ${CARRIER_KEY}\u003e"`

var requestID = regexp.MustCompile(`RQ-[0-9A-Z]{10}`)

// operates runs an operator's command with a text on its standard input.
func operates(t *testing.T, path, input string, args ...string) (code int, output string) {
	t.Helper()
	cmd := program(t, "countersign", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + managerToken}, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// waits returns the id of the one request that waits, once there is one.
func waits(t *testing.T, path string) string {
	t.Helper()
	for range 600 {
		if code, out := operates(t, path, "", "requests", "list", "--json"); code != 0 {
			t.Fatal(out)
		} else if id := requestID.FindString(out); id != "" {
			return id
		}
	}
	t.Fatal("no request ever waited")
	return ""
}

// traces are the forms in which a text could have got somewhere.
func traces(text string) map[string][]byte {
	quoted, _ := json.Marshal(text)
	return map[string][]byte{
		"plain": []byte(text), "JSON": bytes.Trim(quoted, `"`), "URL": []byte(url.QueryEscape(text)),
		"hex": []byte(hex.EncodeToString([]byte(text))), "base64": []byte(base64.RawStdEncoding.EncodeToString([]byte(text))),
		"its middle": []byte(text[4 : len(text)-4]),
	}
}

// TestSecretLeavesNoTrace plants secrets and looks for them in every byte that
// any process gave away and in every file but the one that is theirs.
func TestSecretLeavesNoTrace(t *testing.T) {
	const secret, refused = `Zq7 "planted" $ecret #42`, "Wx9küplanted7788"
	path, folder := shop(t), t.TempDir()
	env := filepath.Join(folder, ".env")
	if err := os.WriteFile(env, []byte("# mine\nA=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := wired(t, path, "--env-file", env, "--log-level", "debug")
	w.asks(1, "request_human", keyForm(40))
	w.receive(`"notifications/progress"`)
	id := waits(t, path)
	var seen strings.Builder
	for _, c := range []struct {
		code  int
		input string
		args  []string
	}{
		{0, "", []string{"show", id}},
		{2, refused, []string{"answer", id, "--set", "CARRIER_KEY=-", "--yes"}},
		{2, "", []string{"answer", id, "--set", "CARRIER_KEY=" + refused, "--yes"}},
		{2, "", []string{"answer", id, "--set", "CARRIER_KEY=" + refused}},
		{2, "", []string{"answer", id, "--set", refused, "--yes"}},
		{4, secret, []string{"answer", "RQ-0", "--set", "CARRIER_KEY=-", "--yes"}},
		{0, secret + "\n", []string{"answer", id, "--set", "CARRIER_KEY=-", "--set", "NOTE=as asked", "--yes", "--json"}},
		{5, secret, []string{"answer", id, "--set", "CARRIER_KEY=-", "--yes"}},
		{0, "", []string{"list", "--all", "--json"}},
		{0, "", []string{"show", id, "--json"}},
	} {
		code, out := operates(t, path, c.input, append([]string{"requests"}, c.args...)...)
		if code != c.code {
			t.Errorf("%v: exit code %d: %s", c.args, code, out)
		}
		seen.WriteString(out)
	}
	got := w.answer(1)
	for _, want := range []string{`"status":"answered"`, reference, `"NOTE":"as asked"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %s: %s", want, got)
		}
	}
	w.asks(2, "check_request", `{"request_id":"`+id+`"}`)
	w.answer(2)

	found := map[string]int{}
	search := func(where string, text []byte) {
		for _, planted := range []string{secret, refused} {
			for form, trace := range traces(planted) {
				if bytes.Contains(text, trace) {
					t.Errorf("%s holds a secret (%s)", where, form)
				}
			}
		}
		found[where] = len(text)
	}
	files := func(when string) {
		for _, pattern := range []string{path + "*", folder + "/.*", folder + "/*"} {
			names, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				text, err := os.ReadFile(name)
				if info, statErr := os.Stat(name); statErr == nil && (info.IsDir() || name == env) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				search(filepath.Base(name)+" "+when, text)
			}
		}
	}
	files("while it runs")
	w.hangUp()
	files("afterwards")
	_, tail := operates(t, path, "", "audit", "tail", "-n", "1000", "--json")
	search("audit", []byte(tail))
	search("server's stdout", []byte(w.out.String()))
	search("server's stderr", []byte(w.log.String()))
	search("operator's output", []byte(seen.String()))
	for _, where := range []string{filepath.Base(path) + " while it runs", filepath.Base(path) + "-wal while it runs", "audit", "server's stdout", "server's stderr", "operator's output"} {
		if found[where] == 0 {
			t.Errorf("nothing to search in %s: %v", where, found)
		}
	}
	text, err := os.ReadFile(env)
	if err != nil || string(text) != "# mine\nA=1\nCARRIER_KEY='"+secret+"'\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// An answer that comes while nobody waits is there for the next server.
func TestAnswerAfterRestart(t *testing.T) {
	path := shop(t)
	env := filepath.Join(t.TempDir(), ".env")
	w := wired(t, path, "--env-file", env)
	w.asks(1, "request_human", keyForm(0))
	id := requestID.FindString(w.answer(1))
	w.hangUp()
	if code, out := operates(t, path, "key-12345678", "requests", "answer", id, "--set", "CARRIER_KEY=-", "--yes"); code != 0 {
		t.Fatal(out)
	}
	w = wired(t, path) // without a place for secrets
	w.asks(1, "check_request", `{"request_id":"`+id+`"}`)
	if got := w.answer(1); !strings.Contains(got, `env_file_unavailable`) {
		t.Error(got)
	}
	w.hangUp()
	for range 2 {
		w = wired(t, path, "--env-file", env)
		w.asks(1, "check_request", `{"request_id":"`+id+`","wait_seconds":45}`)
		if got := w.answer(1); !strings.Contains(got, `"answer":{`+reference+`}`) {
			t.Error(got)
		}
		w.hangUp()
	}
	if text, err := os.ReadFile(env); err != nil || string(text) != "CARRIER_KEY=key-12345678\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Whatever ends a server ends its waiting at once, with the truth.
func TestWaitingServerEnds(t *testing.T) {
	for name, end := range map[string]func(*wire) error{
		"EOF":     func(w *wire) error { return w.in.Close() },
		"SIGTERM": func(w *wire) error { return w.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(w *wire) error { return w.cmd.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wired(t, shop(t), "--env-file", filepath.Join(t.TempDir(), ".env"))
			for id := range 5 {
				w.asks(id+1, "request_human", keyForm(45))
			}
			w.receive(`"notifications/progress"`)
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			w.ends(5 * time.Second)
			if n := strings.Count(w.out.String(), `"structuredContent":{"status":"pending"`); n != 5 {
				t.Errorf("%d of 5 calls were answered: %s", n, w.out)
			}
		})
	}
}

// A client that asked for progress hears of it; one that didn't hears nothing.
func TestProgress(t *testing.T) {
	w := wired(t, shop(t), "--env-file", filepath.Join(t.TempDir(), ".env"))
	w.asks(7, "request_human", keyForm(3))
	w.answer(7)
	told := regexp.MustCompile(`"progressToken":7`).FindAllString(w.out.String(), -1)
	if len(told) < 2 {
		t.Errorf("told %d times: %s", len(told), w.out)
	}
	if n := len(regexp.MustCompile(`"progress":\d+(\.\d{1,3})?[,}]`).FindAllString(w.out.String(), -1)); n != len(told) {
		t.Errorf("%d of %d times told by seconds of three decimals: %s", n, len(told), w.out)
	}
	before := len(w.out.String())
	w.send(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"request_human","arguments":` + keyForm(2) + "}}\n")
	w.answer(8)
	if strings.Contains(w.out.String()[before:], "progress") {
		t.Errorf("told without being asked: %s", w.out)
	}
	w.hangUp()
}

// Of twelve operators who answer at once one does it; the others learn who did.
func TestManyAnswerAtOnce(t *testing.T) {
	path := shop(t)
	w := wired(t, path, "--env-file", filepath.Join(t.TempDir(), ".env"))
	w.asks(1, "request_human", keyForm(0))
	id := requestID.FindString(w.answer(1))
	var all sync.WaitGroup
	var mu sync.Mutex
	codes, won := map[int]int{}, 0
	for i := range 12 {
		all.Go(func() {
			code, out := operates(t, path, "", "requests", "answer", id, "--set", fmt.Sprintf("CARRIER_KEY=key-%08d", i), "--yes")
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
			if code == 0 {
				won = i
			} else if !strings.Contains(out, id+" was answered by ") {
				t.Error(out)
			}
		})
	}
	all.Wait()
	if codes[0] != 1 || codes[5] != 11 {
		t.Errorf("exit codes: %v", codes)
	}
	w.asks(2, "check_request", `{"request_id":"`+id+`"}`)
	w.answer(2)
	w.hangUp()
	text, err := os.ReadFile(argument(w.cmd, "--env-file"))
	if err != nil || string(text) != fmt.Sprintf("CARRIER_KEY=key-%08d\n", won) {
		t.Errorf("%q, %v; operator %d won", text, err, won)
	}
}

func argument(cmd *exec.Cmd, flag string) string {
	for i, arg := range cmd.Args {
		if arg == flag {
			return cmd.Args[i+1]
		}
	}
	return ""
}

// While the disk of the .env file is full the answer waits; then it is written.
func TestEnvFileOnAFullDisk(t *testing.T) {
	path, disk := shop(t), smallDisk(t)
	env := filepath.Join(disk, ".env")
	if err := os.WriteFile(env, []byte("A=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := wired(t, path, "--env-file", env)
	w.asks(1, "request_human", keyForm(0))
	id := requestID.FindString(w.answer(1))
	if code, out := operates(t, path, "key-12345678", "requests", "answer", id, "--set", "CARRIER_KEY=-", "--yes"); code != 0 {
		t.Fatal(out)
	}
	free := fill(t, disk)
	w.asks(2, "check_request", `{"request_id":"`+id+`"}`)
	if got := w.answer(2); !strings.Contains(got, `env_file_unavailable`) || !strings.Contains(got, "the disk is full") {
		t.Error(got)
	}
	(&session{t: t, log: w.log}).says("secrets can't be put into .env: the disk is full")
	if text, err := os.ReadFile(env); err != nil || string(text) != "A=1\n" {
		t.Errorf("%q, %v", text, err)
	}
	free()
	w.asks(3, "check_request", `{"request_id":"`+id+`"}`)
	if got := w.answer(3); !strings.Contains(got, `"status":"answered"`) {
		t.Error(got)
	}
	w.hangUp()
	if text, err := os.ReadFile(env); err != nil || string(text) != "A=1\nCARRIER_KEY=key-12345678\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// A limit on the size of files is named to the agent, and in the log.
func TestEnvFileAboveTheLimit(t *testing.T) {
	path, env := shop(t), filepath.Join(t.TempDir(), ".env")
	before := strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 8500)
	if err := os.WriteFile(env, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "countersign-mcp", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + agentToken}, "--toolsets", "human", "--env-file", env)
	shell := exec.Command("sh", append([]string{"-c", `ulimit -f 8000; exec "$0" "$@"`}, cmd.Args...)...) // blocks of 512 or of 1024 bytes
	shell.Env = cmd.Env
	w := wiredTo(t, shell)
	w.asks(1, "request_human", keyForm(0))
	id := requestID.FindString(w.answer(1))
	if code, out := operates(t, path, "key-12345678", "requests", "answer", id, "--set", "CARRIER_KEY=-", "--yes"); code != 0 {
		t.Fatal(out)
	}
	w.asks(2, "check_request", `{"request_id":"`+id+`"}`)
	const reason = "can't be put into .env: it would become larger than a file of this server may be"
	if got := w.answer(2); !strings.Contains(got, `env_file_unavailable`) || !strings.Contains(got, reason) {
		t.Error(got)
	}
	(&session{t: t, log: w.log}).says(reason)
	w.hangUp()
	if log := w.log.String(); strings.Contains(log, "12345678") || strings.Contains(log, env) {
		t.Errorf("the log tells too much: %s", log)
	}
	entries, err := os.ReadDir(filepath.Dir(env))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	if text, err := os.ReadFile(env); err != nil || string(text) != before {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// Killed while it writes a secret, a server leaves that nowhere but in the .env
// file once the next one has started.
func TestKilledWhileCollecting(t *testing.T) {
	path, folder := shop(t), t.TempDir()
	env := filepath.Join(folder, ".env")
	much := strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 4000) // to write it takes a while
	if err := os.WriteFile(env, []byte(much), 0o600); err != nil {
		t.Fatal(err)
	}
	drafts := func() (found []string) {
		t.Helper()
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if name := entry.Name(); name != ".env" && name != ".env.lock" {
				found = append(found, name)
			}
		}
		return found
	}
	id := ""
	for try := 0; len(drafts()) == 0; try++ {
		if try == 50 {
			t.Fatal("no kill came while it wrote")
		}
		w := wired(t, path, "--env-file", env)
		w.asks(1, "request_human", keyForm(0))
		id = requestID.FindString(w.answer(1))
		if code, out := operates(t, path, "key-12345678", "requests", "answer", id, "--set", "CARRIER_KEY=-", "--yes"); code != 0 {
			t.Fatal(out)
		}
		w.asks(2, "check_request", `{"request_id":"`+id+`"}`)
		for end := time.Now().Add(10 * time.Second); len(drafts()) == 0 && len(w.lines) == 0 && time.Now().Before(end); {
			continue // until there is a draft, or it was over too soon
		}
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for range w.lines {
		}
		_ = w.cmd.Wait() // it was killed
	}
	w := wired(t, path, "--env-file", env)
	if left := drafts(); len(left) > 0 {
		t.Errorf("left beside it: %q", left)
	}
	w.asks(2, "check_request", `{"request_id":"`+id+`"}`)
	if got := w.answer(2); !strings.Contains(got, `"status":"answered"`) {
		t.Error(got)
	}
	w.hangUp()
	if text, err := os.ReadFile(env); err != nil || string(text) != much+"CARRIER_KEY=key-12345678\n" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if left := drafts(); len(left) > 0 {
		t.Errorf("left beside it: %q", left)
	}
}
