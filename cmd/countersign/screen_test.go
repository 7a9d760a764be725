package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// screen is a program on a terminal that tmux keeps.
type screen struct {
	t      *testing.T
	socket string
	env    []string
	code   string // the file in which the exit code will stand
}

// onScreen starts a command on a screen of its own.
func onScreen(t *testing.T, width, height int, cmd *exec.Cmd) *screen {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux, which keeps the screens, is not installed")
	}
	folder, err := os.MkdirTemp("", "tmux") // the test's own folder may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, socket: filepath.Join(folder, "socket"), code: filepath.Join(folder, "code"), env: append(cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh")}
	t.Cleanup(func() {
		_ = s.command("kill-server").Run() // nobody else's: the socket is its own
		_ = os.RemoveAll(folder)
	})
	put(t, filepath.Join(folder, "config"), "set -g remain-on-exit on\nset -g status off\nset -sg escape-time 0\nset -g default-terminal screen-256color\n")
	start := exec.Command(tmux, append([]string{"-u", "-S", s.socket, "-f", filepath.Join(folder, "config"),
		"new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "--",
		"/bin/sh", "-c", `"$@"; echo $? >"$0"`, s.code, cmd.Path}, cmd.Args[1:]...)...)
	start.Env = s.env
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s
}

func (s *screen) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...)
	cmd.Env = s.env
	return cmd
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys presses keys by tmux's names for them, such as "Enter".
func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

// text types characters.
func (s *screen) text(text string) { s.t.Helper(); s.tmux("send-keys", "-l", text) }

// paste pastes a text as terminals do.
func (s *screen) paste(text string) {
	s.t.Helper()
	load := s.command("load-buffer", "-")
	load.Stdin = strings.NewReader(text)
	if out, err := load.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	s.tmux("paste-buffer", "-p", "-r", "-d")
}

func (s *screen) shown() string {
	s.t.Helper()
	lines := strings.Split(strings.TrimRight(s.tmux("capture-pane", "-p"), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// until waits for a screen that fits.
func (s *screen) until(fits func(shown string) bool, otherwise func(shown string) string) string {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		shown := s.shown()
		if fits(shown) {
			return shown
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s\n%s", otherwise(shown), shown)
		}
	}
}

// shows waits until all of some texts are on the screen.
func (s *screen) shows(texts ...string) string {
	s.t.Helper()
	missing := ""
	return s.until(func(shown string) bool {
		for _, missing = range texts {
			if !strings.Contains(shown, missing) {
				return false
			}
		}
		return true
	}, func(string) string { return "never shown: " + missing })
}

// lacks waits until a text is gone from the screen.
func (s *screen) lacks(text string) string {
	s.t.Helper()
	return s.until(func(shown string) bool { return !strings.Contains(shown, text) }, func(string) string { return "never gone: " + text })
}

// dates and the policy's version differ from run to run.
var changing = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "2000-00-00T00:00:00Z"},
	{regexp.MustCompile(`\bp-[0-9a-f]{12}\b`), "p-000000000000"},
}

// golden waits until the screen is that of a golden file, once it has some texts.
func (s *screen) golden(name string, texts ...string) {
	s.t.Helper()
	path := filepath.Join("testdata", "inbox", name+".txt")
	plain := func(shown string) string {
		for _, c := range changing {
			shown = c.pattern.ReplaceAllString(shown, c.instead)
		}
		return shown
	}
	shown := s.shows(texts...)
	if *update {
		for before := ""; before != shown; before, shown = shown, s.shown() {
			time.Sleep(200 * time.Millisecond) // it is what will be compared: nothing may be on its way
		}
		put(s.t, path, plain(shown))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.until(func(shown string) bool { return plain(shown) == string(want) },
		func(shown string) string { return name + ": -want +got:\n" + cmp.Diff(string(want), plain(shown)) })
}

// process is the id of the program.
func (s *screen) process() int {
	s.t.Helper()
	shell := strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", shell).Output()
	id, bad := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || bad != nil {
		s.t.Skip("ps doesn't say which process it is:", err, bad)
	}
	return id
}

// left waits until the program has ended and returns its exit code, with what is
// on the screen then.
func (s *screen) left() (code, shown string) {
	s.t.Helper()
	s.until(func(string) bool {
		text, err := os.ReadFile(s.code)
		code = strings.TrimSpace(string(text))
		return err == nil && code != ""
	}, func(string) string { return "it never ended" })
	return code, s.shown()
}
