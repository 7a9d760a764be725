package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal a backup shows how far it is, and the doctor keeps to its width.
func TestBackupAndDoctorOnATerminal(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "demo.db")
	heavy(t, path, 10)
	for term, bar := range map[string]bool{"xterm-256color": true, "dumb": false} {
		env := []string{"COUNTERSIGN_DB=" + path, "TERM=" + term}
		code, screen := onTerminal(t, program(t, "countersign", env, "backup", filepath.Join(folder, term+".db"))).end()
		if code != exitDone || !strings.Contains(screen, "Copied ") {
			t.Errorf("exit code %d\n%q", code, screen)
		}
		if got := strings.Contains(screen, "copying"); got != bar {
			t.Errorf("TERM=%s: a bar: %v\n%q", term, got, screen)
		}
	}
	x := onTerminal(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + path}, "doctor"))
	code, screen := x.end()
	if code != exitDone || !strings.Contains(screen, "ok    integrity   the file is whole\n") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	if !strings.Contains(x.shown(), "\x1b[32mok") {
		t.Errorf("no colours: %q", x.shown())
	}
	for line := range strings.Lines(screen) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && strings.Contains(strings.TrimSpace(line[18:]), " ") {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}
