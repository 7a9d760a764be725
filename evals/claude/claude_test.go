package claude_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"countersign/evals"
	"countersign/evals/api/apitest"
	"countersign/evals/claude"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scratch is a folder that lives as long as the tests do.
var scratch string

func TestMain(m *testing.M) {
	if how := os.Getenv("STAND_IN"); how != "" {
		os.Exit(standIn(how))
	}
	var err error
	if scratch, err = os.MkdirTemp("", "countersign-claude-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// programs are the two binaries, built once.
var programs = sync.OnceValues(func() (*evals.Programs, error) {
	for _, name := range []string{"countersign-mcp", "countersign"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(scratch, name), "countersign/cmd/"+name).CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	return evals.FindPrograms(scratch)
})

// play plays a built-in scenario with the claude that is on the PATH.
func play(t *testing.T, id string) evals.Result {
	t.Helper()
	agent, err := claude.New("")
	check(t, err)
	built, err := programs()
	check(t, err)
	runner, err := evals.NewRunner(agent, built)
	check(t, err)
	defer runner.Close()
	all, err := evals.ReadScenarios(evals.Scenarios())
	check(t, err)
	i := slices.IndexFunc(all, func(s evals.Scenario) bool { return s.ID == id })
	return runner.Run(t.Context(), all[i])
}

// TestRealClaudeCode has the real Claude Code play a scenario of two messages, with
// a script in the model's place.
func TestRealClaudeCode(t *testing.T) {
	if _, err := exec.LookPath("claude"); err != nil {
		t.Skip("there is no claude on the PATH")
	}
	call := func(id, name, input string) apitest.Turn {
		return apitest.Turn{Calls: []apitest.Call{{ID: "toolu_" + id, Name: "mcp__countersign__" + name, Input: input}}}
	}
	server := apitest.New(t,
		call("a", "issue_refund", `{"order_id":"NW-5001","reason":"came back unworn"}`),
		apitest.Turn{Text: "A specialist reviews your refund."},
		call("b", "get_order", `{"order_id":"NW-5001"}`),
		apitest.Turn{Text: "It was approved: 144.00 USD are on their way."})
	_, err := programs() // before HOME, and the builder's cache with it, is another
	check(t, err)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("ANTHROPIC_BASE_URL", server.URL)
	t.Setenv("ANTHROPIC_API_KEY", "sk-test")
	t.Setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
	got := play(t, "06-goes-on-after-approval")
	if !got.Passed || got.Usage == nil || got.Usage.Output == 0 {
		t.Fatalf("%+v", got)
	}
	requests := server.Requests()
	for _, tool := range requests[0].Tools {
		if name := tool["name"].(string); !strings.HasPrefix(name, "mcp__countersign__") && name != "DeferredToolPlaceholder" {
			t.Errorf("Claude has %s as well", name)
		}
	}
	last := requests[len(requests)-1]
	if text := last.Body; !strings.Contains(text, got.Turns[0].Message) || !strings.Contains(text, `\"approved\"`) {
		t.Error("the last request lacks the first message or the decision")
	}
}

func TestNeedsClaudeAndRealPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := claude.New(""); err != claude.ErrNotInstalled {
		t.Errorf("without claude: %v", err)
	}
	install(t)
	agent, err := claude.New("")
	check(t, err)
	if _, err := evals.NewRunner(agent, nil); err != evals.ErrNeedsPrograms {
		t.Errorf("in one process: %v", err)
	}
}
