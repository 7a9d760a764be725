package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// programs are both programs, built, in a folder that every user may read.
var programs = sync.OnceValues(func() (folder string, err error) {
	folder, err = os.MkdirTemp("", "countersign-programs-")
	if err == nil {
		err = os.Chmod(folder, 0o755)
	}
	if err == nil {
		var out []byte
		if out, err = exec.Command("go", "build", "-o", folder, "countersign/cmd/...").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	return folder, err
})

// program returns the command of a program, in a shell of its own: with no
// settings but the ones given, and standard input at its end.
func program(t testing.TB, name string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	folder, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(folder, name), args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}

// result is what became of a command.
type result struct {
	code           int
	stdout, stderr string
}

func run(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// snapshot is every file under a folder, by name: its mode and content.
func snapshot(t testing.TB, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		files[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[name] += fmt.Sprintf(" %d bytes %x", len(text), sha256.Sum256(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// refused checks that a command failed with one line that names what it is about.
func refused(t testing.TB, r result, names ...string) {
	t.Helper()
	if r.code != 1 {
		t.Errorf("exit code %d, want 1", r.code)
	}
	if r.stdout != "" {
		t.Errorf("stdout: %q", r.stdout)
	}
	if strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, "\n") {
		t.Errorf("stderr isn't one line: %q", r.stderr)
	}
	for _, name := range names {
		if !strings.Contains(r.stderr, name) {
			t.Errorf("stderr doesn't say %q: %q", name, r.stderr)
		}
	}
}
