package evals_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// scratch is a folder that lives as long as the tests do.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "countersign-evals-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// programs are the two binaries, built once from the sources as they are.
var programs = sync.OnceValues(func() (p struct{ server, operator string }, err error) {
	if err := readSources(); err != nil {
		return p, err
	}
	p.server, p.operator = filepath.Join(scratch, "countersign-mcp"), filepath.Join(scratch, "countersign")
	for binary, name := range map[string]string{p.server: "countersign-mcp", p.operator: "countersign"} {
		out, err := exec.Command("go", "build", "-o", binary, "countersign/cmd/"+name).CombinedOutput()
		if err != nil {
			return p, fmt.Errorf("go build %s: %w\n%s", name, err, out)
		}
	}
	return p, nil
})

// readSources opens every source folder, so that "go test" knows that its kept
// result depends on them: it can't see what the build reads.
func readSources() error {
	return fs.WalkDir(os.DirFS(".."), ".", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (path == "bin" || len(path) > 1 && path[0] == '.') {
			return fs.SkipDir
		}
		return err
	})
}

// shop is a database of the retail shop and the tokens to it.
type shop struct{ db, agent, manager string }

// template is a freshly imported shop, made once with the operator's program. Nothing
// but [shop.copy] may touch it.
var template = sync.OnceValues(func() (s shop, err error) {
	s.db = filepath.Join(scratch, "template", "shop.db")
	printed, err := operate("", "init", "--db", s.db)
	if err != nil {
		return s, err
	}
	if s.agent = token.FindString(printed); s.agent == "" {
		return s, fmt.Errorf("init printed no token:\n%s", printed)
	}
	kept, err := os.ReadFile(filepath.Join(scratch, ".config", "countersign", "credentials.json"))
	if err != nil {
		return s, err
	}
	if s.manager = token.FindString(string(kept)); s.manager == "" || s.manager == s.agent {
		return s, errors.New("init kept no token of the manager")
	}
	printed, err = operate("", "import", "native", "--db", s.db, filepath.Join("testdata", "shop.jsonl"))
	if err != nil {
		return s, err
	}
	if counts := regexp.MustCompile(`orders +1000 `); !counts.MatchString(printed) {
		return s, fmt.Errorf("import counted:\n%s", printed)
	}
	if _, err := os.Stat(s.db + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return s, errors.New("the import left a WAL behind")
	}
	return s, nil
})

var token = regexp.MustCompile(`\bcs_[0-9A-Za-z]{40,}`)

// copy returns a copy of the shop in a folder of the test's own.
func (s shop) copy(t *testing.T) shop {
	t.Helper()
	fresh := s
	fresh.db = filepath.Join(t.TempDir(), "shop.db")
	for _, suffix := range []string{"", ".key"} {
		text, err := os.ReadFile(s.db + suffix)
		check(t, err)
		check(t, os.WriteFile(fresh.db+suffix, text, 0o600))
	}
	return fresh
}

// operate runs the operator's program in an environment of its own, where HOME
// is scratch, and returns what it printed.
func operate(token string, args ...string) (string, error) {
	p, err := programs()
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(p.operator, args...)
	cmd.Env = []string{"HOME=" + scratch, "COUNTERSIGN_TOKEN=" + token}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("countersign %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String(), nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
