package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/tools"
)

// terminal is a program at a pseudo-terminal of 80 columns.
type terminal struct {
	t   *testing.T
	cmd *exec.Cmd
	pty *os.File

	mu     sync.Mutex
	screen bytes.Buffer
	read   chan struct{} // closed once all output is read
}

// onTerminal starts a command at a terminal of its own.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	number, unlock, size := 0, 0, [4]uint16{40, 80}
	ioctl(t, pty, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(t, pty, syscall.TIOCGPTN, unsafe.Pointer(&number))
	ioctl(t, pty, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if !slices.Contains(cmd.Env, "TERM=dumb") {
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, cmd: cmd, pty: pty, read: make(chan struct{})}
	go x.keepReading()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // if a test failed before its end
		pty.Close()
	})
	return x
}

func ioctl(t *testing.T, file *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(arg)); errno != 0 {
		t.Fatalf("ioctl %x: %v", request, errno)
	}
}

func (x *terminal) keepReading() {
	defer close(x.read)
	buf := make([]byte, 4096)
	for {
		n, err := x.pty.Read(buf)
		x.mu.Lock()
		x.screen.Write(buf[:n])
		x.mu.Unlock()
		if err != nil { // also when the program has ended
			return
		}
	}
}

func (x *terminal) shown() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.screen.String()
}

// answer waits until a text was shown for the nth time, and types at once.
func (x *terminal) answer(question string, nth int, keys string) {
	x.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		if strings.Count(x.shown(), question) >= nth {
			if _, err := x.pty.WriteString(keys); err != nil {
				x.t.Fatal(err)
			}
			return
		}
	}
	x.t.Fatalf("%q was never shown: %q", question, x.shown())
}

// end waits for the program and returns its exit code and all that was shown,
// without colours.
func (x *terminal) end() (code int, screen string) {
	x.t.Helper()
	late := time.AfterFunc(time.Minute, func() { _ = x.cmd.Process.Kill() }) // or a prompt would wait for ever
	defer late.Stop()
	var exit *exec.ExitError
	if err := x.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	<-x.read
	colours := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	return x.cmd.ProcessState.ExitCode(), strings.ReplaceAll(colours.ReplaceAllString(x.shown(), ""), "\r\n", "\n")
}

func state(t *testing.T, path, id string) (state string) {
	t.Helper()
	db, err := fixtures.OpenDemo(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(context.Background(), func(v *store.View) error {
		a, err := v.Approval(id)
		state = a.State
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// On a terminal the whole request is shown, and only a yes decides it.
func TestConfirmsOnATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	id := parked(t, path)
	command := func(verb string, args ...string) *terminal {
		args = append([]string{"approvals", verb, id}, args...)
		return onTerminal(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + path}, args...))
	}
	for _, keys := range []string{"n\n", "\n", "yeah\n", "\x04", "\x03", "y\x03"} {
		x := command("approve")
		x.answer("[y/N] ", 1, keys)
		code, screen := x.end()
		if code != exitFailure || !strings.HasSuffix(screen, "countersign: nothing was decided\n") {
			t.Errorf("%q: exit code %d\n%s", keys, code, screen)
		}
		if !strings.Contains(screen, "Ava Lindqvist (C-1001)") || !strings.Contains(screen, `"don't fit" (written by the model)`) {
			t.Errorf("the request wasn't shown:\n%s", screen)
		}
	}
	x := command("reject", "--note", "no")
	x.answer("Reject "+id+"? [y/N] ", 1, "\n")
	if code, screen := x.end(); code != exitFailure {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	if got := state(t, path, id); got != store.Pending {
		t.Fatalf("it is %s", got)
	}
	x = command("approve", "--amount", "80.00")
	x.answer("Approve "+id+" for 80.00 instead? [y/N] ", 1, "y\n")
	if code, screen := x.end(); code != exitDone || !strings.Contains(screen, id+"  approved by demo-manager: 80.00 USD refunded on NW-5001\n") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	x = command("approve")
	if code, screen := x.end(); code != exitConflict || strings.Contains(screen, "[y/N]") {
		t.Errorf("decided already: exit code %d\n%s", code, screen)
	}
}

// A request is answered field by field, asked again where the answer doesn't
// fit, and what is secret is never shown.
func TestAnswersOnATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	id := asked(t, path)
	command := func() *terminal {
		return onTerminal(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + path}, "requests", "answer", id))
	}
	for _, keys := range []string{"\x03", "k-Zq7\n\x03", "k-Zq7\nS\nn\n"} {
		x := command()
		x.answer("required): ", 1, keys)
		if code, screen := x.end(); code != exitFailure || !strings.HasSuffix(screen, "countersign: nothing was decided\n") {
			t.Errorf("%q: exit code %d\n%s", keys, code, screen)
		}
	}
	x := command()
	x.answer("KEY — Your key (secret, pattern k-.*, required): ", 1, "wrong-Zq7\n")
	x.answer("KEY doesn't match its pattern k-.*", 1, "")
	x.answer("KEY — Your key (secret, pattern k-.*, required): ", 2, "k-Zq7\n")
	x.answer("SIZE (S | M): ", 1, "XL\n")
	x.answer("SIZE must be one of: S, M", 1, "")
	x.answer("SIZE (S | M): ", 2, "m\n")
	x.answer("Send this answer to "+id+"? [y/N] ", 1, "y\n")
	code, screen := x.end()
	if code != exitDone || !strings.HasSuffix(screen, id+"  answered by demo-manager\n") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	if strings.Contains(screen, "Zq7") {
		t.Errorf("the secret was shown:\n%s", screen)
	}
	if code, screen := command().end(); code != exitConflict || strings.Contains(screen, "): ") && strings.Contains(screen, "[y/N]") {
		t.Errorf("answered already: exit code %d\n%s", code, screen)
	}
}

// Nobody goes on answering what somebody else has decided meanwhile, or what they
// may not answer.
func TestStopsAskingOnATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	id := asked(t, path)
	environ := []string{"COUNTERSIGN_DB=" + path}
	x := onTerminal(t, program(t, "countersign", environ, "requests", "answer", id))
	x.answer("KEY — Your key", 1, "")
	r := run(t, program(t, "countersign", append(environ, "COUNTERSIGN_TOKEN="+fixtures.ManagerToken), "requests", "decline", id, "--note", "no", "--yes"))
	if r.code != exitDone {
		t.Fatalf("%+v", r)
	}
	x.answer("KEY — Your key", 1, "k-Zq7\n")
	if code, screen := x.end(); code != exitConflict || strings.Contains(screen, "SIZE (S | M): ") || !strings.Contains(screen, id+" was declined by demo-manager at ") {
		t.Errorf("exit code %d\n%s", code, screen)
	}

	s := newShop(t)
	res := s.desk.Call(t.Context(), tools.Caller{Token: fixtures.ManagerToken, Customer: "C-1001", Door: audit.MCP}, "issue_refund", []byte(`{"order_id":"NW-5001","reason":"don't fit"}`))
	own := regexp.MustCompile(`AP-\d{10}`).FindString(string(res.JSON))
	other := s.ask("C-1002", "issue_refund", `{"order_id":"NW-5101","reason":"two weeks late","amount":"20.00"}`)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"approve", own}, exitNotPermitted, own + " was asked for by demo-manager; somebody else has to decide it"},
		{[]string{"reject", own, "--note", "no"}, exitNotPermitted, "somebody else has to decide it"},
		{[]string{"approve", other, "--amount", "20.01"}, exitUsage, "asks for 20.00 USD; approve that or less, above zero"},
	} {
		x := onTerminal(t, s.cli(nil, append([]string{"approvals"}, c.args...)...))
		if code, screen := x.end(); code != c.code || strings.Contains(screen, "[y/N]") || !strings.Contains(screen, c.says) {
			t.Errorf("%v: exit code %d\n%s", c.args, code, screen)
		}
	}
}

// asked makes a demo database in which a request for a secret waits, and returns
// its id.
func asked(t *testing.T, path string) (id string) {
	t.Helper()
	demoAt(t, path, nil)
	db, err := fixtures.OpenDemo(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rules, err := tools.NewRulebook(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	desk := tools.NewDesk(db, rules, tools.Human)
	desk.EnvFile = &envfile.File{Path: filepath.Join(filepath.Dir(path), ".env")}
	res := desk.Call(t.Context(), tools.Caller{Token: fixtures.StaffToken, Door: audit.MCP}, "request_human", []byte(`{"title":"A key","instructions":"Make a key.",
		"category":"key","timeout_seconds":0,"fields":[{"name":"KEY","label":"Your key","type":"secret","pattern":"k-.*","required":true},
		{"name":"SIZE","type":"choice","options":["S","M"]}]}`))
	id = regexp.MustCompile("RQ-[0-9A-Z]{10}").FindString(string(res.JSON))
	if id == "" {
		t.Fatalf("%s", res.JSON)
	}
	return id
}

// On a terminal what was asked is charted: in 80 columns, and, where no colours
// are wanted, without any.
func TestChartsOnATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	asked(t, path)
	for _, environ := range [][]string{nil, {"NO_COLOR=1"}} {
		x := onTerminal(t, program(t, "countersign", append([]string{"COUNTERSIGN_DB=" + path}, environ...), "stats"))
		code, screen := x.end()
		if code != exitDone || !regexp.MustCompile(`(?m)^request_human +▒+ +1 +1 +- +- +-$`).MatchString(screen) ||
			!regexp.MustCompile(`(?m)^  key +▒+ +1 +1 +- +- +-$`).MatchString(screen) {
			t.Errorf("exit code %d\n%s", code, screen)
		}
		for line := range strings.Lines(screen) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		if coloured := regexp.MustCompile(`\x1b\[[0-9;]*3[0-9]`).MatchString(x.shown()); coloured != (environ == nil) {
			t.Errorf("%v: coloured: %v\n%q", environ, coloured, x.shown())
		}
	}
}

// On a narrower terminal the figures go before the bars, and nothing breaks within
// a word.
func TestFiguresOnANarrowTerminal(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	s.operate("approvals", "approve", "AP-0000000001", "--yes")
	for width, wants := range map[int][]string{
		72: {"escalate_to_human ", "▒ open  ░ expired or stale", "REFUNDED  BY A HUMAN"},
		55: {"ASKED  OPEN  APPROVED  MEDIAN   P90", "escalate_to_human      2     2         -", "refunded USD: 144.00 by a human (1)"},
		50: {"escalate_to_human: asked 2, open 2, approved -,\nmedian -, p90 -", "refunded USD: 144.00 by a human (1), 0.00 by the\npolicy (0)"},
		40: {"issue_refund: asked 2, open 1, approved\n100%, median", "refunded USD: 144.00 by a human (1),\n0.00 by the policy (0)"},
		20: {"issue_refund: asked\n2, open 1, approved\n100%, median", "refunded USD: 144.00\nby a human (1), 0.00\nby the policy (0)"},
	} {
		x := onScreen(t, width, 40, s.cli(nil, "stats"))
		x.left()
		shown := ""
		x.until(func(string) bool {
			shown = x.tmux("capture-pane", "-p", "-S", "-") // tmux's own last line moves the first off the screen
			return !slices.ContainsFunc(wants, func(want string) bool { return !strings.Contains(shown, want) })
		}, func(string) string { return fmt.Sprintf("%d columns: not all of %q:\n%s", width, wants, shown) })
		if bars := strings.ContainsAny(shown, "█▒"); bars != (width == 72) {
			t.Errorf("%d columns: bars: %v\n%s", width, bars, shown)
		}
	}
}

// Before a refund outside the policy the order is shown, and only a yes makes it.
func TestConfirmsARefundOnATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	demoAt(t, path, nil)
	command := func(order string) *terminal {
		return onTerminal(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + path},
			"refunds", "issue", order, "--amount", "20.00", "--note", "pole split"))
	}
	for _, keys := range []string{"n\n", "\n", "\x04", "\x03"} {
		x := command("5004")
		x.answer("Refund 20.00 on 5004? [y/N] ", 1, keys)
		code, screen := x.end()
		if code != exitFailure || !strings.HasSuffix(screen, "countersign: nothing was refunded\n") {
			t.Errorf("%q: exit code %d\n%s", keys, code, screen)
		}
		if !strings.Contains(screen, "NW-5004  delivered\n") || !strings.Contains(screen, "paid        279.23 USD\n") {
			t.Errorf("the order wasn't shown:\n%s", screen)
		}
	}
	x := command("5004")
	x.answer("[y/N] ", 1, "y\n")
	if code, screen := x.end(); code != exitDone || !strings.Contains(screen, "  20.00 USD refunded on NW-5004 by demo-manager\n") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	if code, screen := command("NW-9999").end(); code != exitNotFound || strings.Contains(screen, "[y/N]") {
		t.Errorf("unknown: exit code %d\n%s", code, screen)
	}
}

// The demo waits before each step, and what its reader says is what happens.
func TestInteractiveDemo(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"y": "approved by demo-manager: 144.00 USD refunded on NW-5001",
		"n": "rejected by demo-manager\n",
	} {
		temp := t.TempDir()
		x := onTerminal(t, program(t, "countersign", []string{"TMPDIR=" + temp}, "demo", "--interactive"))
		for i := range 3 {
			x.answer("[return] ", i+1, "\n")
		}
		x.answer("[y/N] ", 1, answer+"\n")
		for i := range 3 {
			x.answer("[return] ", i+4, "\n")
		}
		code, screen := x.end()
		if code != exitDone || !strings.Contains(screen, want) || !strings.Contains(screen, "\nintact: ") {
			t.Errorf("%s: exit code %d\n%s", answer, code, screen)
		}
		for line := range strings.Lines(screen) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("%d characters: %s", n, line)
			}
		}
		if names := snapshot(t, temp); len(names) != 1 {
			t.Errorf("left behind: %v", names)
		}
	}
}

// Who leaves the demo in its middle leaves nothing behind.
func TestLeavingTheDemo(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"\x03", "\x04"} {
		temp := t.TempDir()
		x := onTerminal(t, program(t, "countersign", []string{"TMPDIR=" + temp}, "demo", "--interactive"))
		x.answer("[return] ", 1, "\n")
		x.answer("[return] ", 2, keys)
		code, screen := x.end()
		if code != exitFailure || !strings.HasSuffix(screen, "countersign: the demo was left\n") {
			t.Errorf("%q: exit code %d\n%s", keys, code, screen)
		}
		if names := snapshot(t, temp); len(names) != 1 {
			t.Errorf("left behind: %v", names)
		}
	}
}

// An import shows how far it is, and clears that away.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, file := filepath.Join(folder, "demo.db"), filepath.Join(folder, "shop.jsonl")
	demoAt(t, path, nil)
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, `{"type":"customer","id":"N-%d","name":"Ann","created_at":"-90d"}`+"\n", i)
	}
	put(t, file, lines.String())
	for term, bar := range map[string]bool{"xterm-256color": true, "dumb": false} {
		env := []string{"COUNTERSIGN_DB=" + path, "TERM=" + term}
		code, screen := onTerminal(t, program(t, "countersign", env, "import", "native", "--dry-run", file)).end()
		if code != exitDone || !strings.Contains(screen, "customers     3000") {
			t.Errorf("exit code %d\n%q", code, screen)
		}
		if got := strings.Contains(screen, "storing"); got != bar {
			t.Errorf("TERM=%s: a bar: %v\n%q", term, got, screen)
		}
	}
}
