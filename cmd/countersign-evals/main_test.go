package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"countersign/evals"
)

// program is the binary, built once with the other two beside it.
var program string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "countersign-evals-")
	if err != nil {
		panic(err)
	}
	out, err := exec.Command("go", "build", "-o", folder+"/", "countersign/cmd/...").CombinedOutput()
	if err != nil {
		panic(string(out))
	}
	program = filepath.Join(folder, "countersign-evals")
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// run runs the program and returns what it printed and its exit code.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runWith(t, nil, args...)
}

// runWith is run with more environment.
func runWith(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append([]string{"CLAUDECODE=1", "COUNTERSIGN_KEY=not a key"}, env...) // neither may matter
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestPrintsATable(t *testing.T) {
	out, stderr, code := run(t, "--only", "refunds|^18-")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"refunds\n  04  Refunds a small amount at once", "  18  A viewer may look", "all passed", "by replay"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestPlaysRealProgramsAndPrintsJSON(t *testing.T) {
	out, stderr, code := run(t, "--stdio", "--only", "^(06|30)-", "--repeat", "2", "--json")
	var report evals.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	if code != 0 || report.Passed != 1 || report.Skipped != 1 || len(report.Scenarios[0].Trials) != 2 || len(report.PassHat) != 2 {
		t.Errorf("exit code %d, %+v", code, report)
	}
	trial := report.Scenarios[0].Trials[0]
	if len(trial.Turns) != 2 || trial.Turns[0].Calls[0].Tool != "issue_refund" || len(trial.Checks) == 0 || len(trial.Happened) != 2 {
		t.Errorf("a trial is %+v", trial)
	}
}

func TestFailsWhereAScenarioDoes(t *testing.T) {
	text, err := os.ReadFile("../../evals/scenarios/04-small-refund.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte("38.50"), []byte("38.49")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := run(t, name)
	if code != 1 || stderr != "" || !strings.Contains(out, "✗ NW-5002: refunded 38.49; got: 38.50") {
		t.Errorf("exit code %d, %s\n%s", code, stderr, out)
	}
}

func TestPlaysTheRetailSuite(t *testing.T) {
	out, stderr, code := run(t, "retail", "--only", "tau2/1$")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"all amounts pass", "calls right", "an expired token", "calls, 0 leaks"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if out, stderr, code := run(t, "retail", "--only", "nothing-like-this"); code != 1 || out != "" || !strings.Contains(stderr, "no task") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
}

func TestUsage(t *testing.T) {
	for _, row := range []struct {
		args string
		code int
		want string
	}{
		{"--agent nobody", 2, `no agent is named "nobody"`},
		{"--only (", 2, "--only: "},
		{"--only nothing-like-this", 2, "no scenario is meant"},
		{"--repeat 0", 2, "take 1 to 1000"},
		{"--parallel 999999999", 2, "take 1 to 1000"},
		{"--what", 2, "unknown flag: --what"},
		{"--agent api", 2, "no API key: set ANTHROPIC_API_KEY"},
		{"--agent claude --stdio", 2, "no claude on the PATH"},
		{"--record=x", 2, "are for --agent api"},
		{"--agent claude --state x", 2, "are for --agent api"},
		{"--agent api --recordings x", 2, "is for --agent replay"},
		{"--model x", 2, "--model is for"},
		{"--agent api --steps -1", 2, "counts from 1"},
		{"retail --stdio", 2, "retail takes"},
		{"missing.yaml", 1, "missing.yaml: no such file"},
		{"--help", 0, "Usage: countersign-evals"},
	} {
		out, stderr, code := run(t, strings.Fields(row.args)...)
		if code != row.code || !strings.Contains(stderr, row.want) || out != "" {
			t.Errorf("%s: exit code %d, want %d; %s%s", row.args, code, row.code, out, stderr)
		}
	}
}
