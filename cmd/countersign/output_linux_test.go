package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Output that can't be written is told, by every command, in one line; but not
// where the reader just stopped, as head does.
func TestOutputThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.db")
	demoAt(t, path, nil)
	calls := []string{"COUNTERSIGN_DB=" + path}
	if r := run(t, program(t, "countersign", calls, "erase", "C-404", "--yes")); r.code != exitNotFound { // so that the log has a row
		t.Fatalf("%+v", r)
	}
	for _, command := range []string{
		"approvals list", "approvals list --json", "tickets list", "audit tail", "audit tail --json", "audit tail -f", "audit verify",
		"audit export --format csv", "audit export --format jsonl", "policy show", "doctor", "doctor --json", "erase C-1002 --yes", "--help", "--version",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			reader, closed, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer closed.Close()
			reader.Close()
			const lost = "the command ran, but what it printed is lost; standard output: no space left on device\n"
			for stdout, want := range map[*os.File]string{full: lost, closed: ""} {
				cmd := program(t, "countersign", calls, strings.Fields(command)...)
				var stderr strings.Builder
				cmd.Stdout, cmd.Stderr = stdout, &stderr
				_ = cmd.Run() // the exit code says it
				code, said := cmd.ProcessState.ExitCode(), stderr.String()
				if strings.HasPrefix(command, "erase") && code == exitNotFound {
					continue // the first of the two has erased the customer
				}
				if code != exitFailure || !strings.HasSuffix(said, want) || strings.Count(said, "\n") != strings.Count(want, "\n") {
					t.Errorf("exit code %d: %q", code, said)
				}
			}
		})
	}
}
