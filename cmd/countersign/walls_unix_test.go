//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// wallsDemo is the command of the demo with a server that a shell script starts:
// $SERVER is the real one, and $KEPT a folder that outlives the demo.
func wallsDemo(t *testing.T, script string) (demo *exec.Cmd, kept, temporary string) {
	t.Helper()
	built, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	kept, temporary = filepath.Join(folder, "kept"), filepath.Join(folder, "tmp")
	server := fmt.Sprintf("#!/bin/sh\nSERVER=%q\nKEPT=%q\n%s\n", filepath.Join(built, "countersign-mcp"), kept, script)
	for _, err := range []error{
		os.Mkdir(kept, 0o700), os.Mkdir(temporary, 0o700),
		os.Link(filepath.Join(built, "countersign"), filepath.Join(folder, "countersign")),
		os.WriteFile(filepath.Join(folder, "countersign-mcp"), []byte(server), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	demo = exec.Command(filepath.Join(folder, "countersign"), "demo", "--walls")
	demo.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + temporary, "CLAUDECODE=1"}
	return demo, kept, temporary
}

// keepAll keeps what goes over the wire and, when the server has ended, its files.
const keepAll = `for arg; do
	case $last in --env-file) env=$arg;; --db) db=$arg;; esac
	last=$arg
done
tee "$KEPT/in" | "$SERVER" "$@" --log-level debug 2>"$KEPT/err" | tee "$KEPT/out"
cp "$env" "$KEPT/.env"
cp "$db"* "$KEPT"`

// Three requests for something secret are filed, answered and collected, and not
// one of the secrets is in anything that is printed, sent, logged or stored.
func TestWallsDemoShowsNoSecret(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2 {
		demo, kept, temporary := wallsDemo(t, keepAll)
		told := run(t, demo)
		if told.code != exitDone || told.stderr != "" {
			t.Fatalf("%+v", told)
		}
		read := func(name string) string {
			t.Helper()
			text, err := os.ReadFile(filepath.Join(kept, name))
			if err != nil || len(text) == 0 {
				t.Fatalf("%s: %d bytes, %v", name, len(text), err)
			}
			return string(text)
		}
		env := regexp.MustCompile(`^# from before\nPORT=3000\nSERVICE_KEY=(srv_\w{26})\nPAYMENT_KEY=(sk_test_\w{26})\nDNS_TOKEN=(dns_\w{26})\n$`)
		secrets := env.FindStringSubmatch(read(".env"))
		if secrets == nil {
			t.Fatal("the .env file isn't as it must be")
		}
		places := map[string]string{"what is printed": told.stdout}
		for _, name := range []string{"in", "out", "err", "demo.db", "demo.db.key"} {
			places[name] = read(name)
		}
		for _, secret := range secrets[1:] {
			if seen[secret] {
				t.Error("a secret isn't made up anew")
			}
			seen[secret] = true
			for place, text := range places {
				if strings.Contains(text, secret[12:24]) { // a part would be too much
					t.Errorf("%s holds a secret", place)
				}
			}
		}
		// The call that waits says so before it is answered.
		if wire := places["out"]; !(strings.Index(wire, `"notifications/progress"`) > 0 &&
			strings.Index(wire, `"notifications/progress"`) < strings.Index(wire, `${PAYMENT_KEY}`)) {
			t.Error("no call waited for a person")
		}
		for _, want := range []string{
			"SERVICE_KEY=••••••••\n           PAYMENT_KEY=••••••••\n           DNS_TOKEN=••••••••\n",
			"agent      PROJECT_URL        https://todo.host.example\n           SERVICE_KEY        <written to .env; use ${SERVICE_KEY}>\n",
			"--set DNS_TOKEN=- --yes", "Searched for the three secrets", "intact: 12 rows",
		} {
			if !strings.Contains(told.stdout, want) {
				t.Errorf("it doesn't print %q:\n%s", want, told.stdout)
			}
		}
		if n := strings.Count(told.stdout, " answered by demo-manager\n"); n != 3 {
			t.Errorf("%d requests are answered", n)
		}
		for line := range strings.Lines(told.stdout) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 || strings.Contains(line, "\x1b") {
				t.Errorf("not for a plain screen of 80 columns: %q", line)
			}
		}
		isEmpty(t, temporary)
	}
}

// An interrupt and the end of the terminal leave nothing behind, wherever they come.
func TestWallsDemoIsInterrupted(t *testing.T) {
	t.Parallel()
	terminals := make(chan os.Signal, 1)
	signal.Notify(terminals, syscall.SIGHUP) // or the demo would ignore it where nohup runs this test
	t.Cleanup(func() { signal.Stop(terminals) })
	const untold = `"$SERVER" "$@" | grep --line-buffered -v notifications/progress`
	for name, row := range map[string]struct {
		script, last string
		by           os.Signal
	}{
		"while the server starts":           {`exec cat >/dev/null`, "--env-file, the file", syscall.SIGINT},
		"while the agent waits":             {untold, "wait_seconds=45", syscall.SIGINT},
		"while the agent waits, by its end": {untold, "wait_seconds=45", syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			demo, _, temporary := wallsDemo(t, row.script)
			var stderr strings.Builder
			demo.Stderr = &stderr
			out, err := demo.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := demo.Start(); err != nil {
				t.Fatal(err)
			}
			stuck := time.AfterFunc(time.Minute, func() { _ = demo.Process.Kill() })
			defer stuck.Stop()
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.Contains(lines.Text(), row.last) {
			}
			if err := demo.Process.Signal(row.by); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Fatal(err)
			}
			_ = demo.Wait() // its exit code says it
			if code := demo.ProcessState.ExitCode(); code != exitFailure || stderr.String() != "countersign: the demo was left\n" {
				t.Errorf("exit code %d, %q", code, stderr.String())
			}
			isEmpty(t, temporary)
		})
	}
}

func isEmpty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
