package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// children are what this test's binary does instead of testing where a test
// starts it with a variable set.
var children = map[string]func() error{
	"README_TEST_CLAUDE": func() error { return standInClaude(os.Args[1:]) },
}

func TestMain(m *testing.M) {
	for variable, child := range children {
		if os.Getenv(variable) == "" {
			continue
		}
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, variable+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if programsFolder != "" {
		_ = os.RemoveAll(programsFolder)
	}
	os.Exit(code)
}

// programsFolder is where the programs are, once a test needed them.
var programsFolder string

// programs are both programs, built, in a folder that every user may read.
var programs = sync.OnceValues(func() (folder string, err error) {
	folder, err = os.MkdirTemp("", "countersign-programs-")
	programsFolder = folder
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

// program returns the command of a program, with no settings but the ones given.
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

// self returns the command of this test's binary as one of its [children].
func self(child string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{child + "=1", "PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}
