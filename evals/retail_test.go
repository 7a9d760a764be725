package evals_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/evals"
	"countersign/tools/client"
)

const rowCount = 405

// TestRetail replays the benchmark's tasks over the real server, each on a fresh
// copy of the shop: first with a policy that lets all amounts pass, then with the
// built-in one, where an operator approves every refund of more than $100.
func TestRetail(t *testing.T) {
	tasks, err := evals.ReadRetail()
	check(t, err)
	fresh, err := template()
	check(t, err)
	unlimited := fresh.copy(t)
	rules := filepath.Join(t.TempDir(), "everything.yaml")
	check(t, os.WriteFile(rules, []byte(evals.EverythingPasses), 0o600))
	_, err = operate("", "policy", "set", rules, "--token", unlimited.manager, "--db", unlimited.db)
	check(t, err)

	for _, pass := range []struct {
		name   string
		shop   shop
		parked int // how many refunds wait for an operator
	}{
		{"everything passes", unlimited, 0},
		{"over $100 is parked", fresh, 39},
	} {
		var checked, parked atomic.Int64
		t.Run(pass.name, func(t *testing.T) {
			for _, rows := range tasks {
				t.Run(rows[0].Task, func(t *testing.T) {
					t.Parallel()
					task := pass.shop.copy(t).begin(t, rows[0].Customer, pass.parked > 0)
					for _, r := range rows {
						if diff := cmp.Diff(r.Expect, task.Play(r)); diff != "" {
							t.Errorf("%s: -want +got:\n%s", r.ID, diff)
						}
						checked.Add(1)
					}
					check(t, task.Fault)
					for _, problem := range task.Problems {
						t.Error(problem)
					}
					parked.Add(int64(task.Parked))
				})
			}
		})
		if some := flag.Lookup("test.run").Value.String(); strings.Contains(some, "/") {
			t.Logf("%s: %d of %d rows, as -run asks", pass.name, checked.Load(), rowCount)
			continue
		}
		if checked.Load() != rowCount || parked.Load() != int64(pass.parked) {
			t.Errorf("%s: %d rows checked and %d refunds parked, want %d and %d",
				pass.name, checked.Load(), parked.Load(), rowCount, pass.parked)
		}
	}
}

// begin starts a server on the shop, for a task of a customer. Where it parks, the
// operator's program approves.
func (s shop) begin(t *testing.T, customer string, parks bool) *evals.RetailTask {
	t.Helper()
	p, err := programs()
	check(t, err)
	server := exec.Command(p.server, "--db", s.db, "--customer", customer, "--log-level", "error")
	server.Env = []string{"COUNTERSIGN_TOKEN=" + s.agent}
	server.Dir = "/"
	server.Stderr = t.Output()
	agent, err := client.Start(t.Context(), server, "retail")
	check(t, err)
	t.Cleanup(func() {
		if err := agent.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	if !parks {
		return evals.NewRetailTask(t.Context(), agent, nil)
	}
	return evals.NewRetailTask(t.Context(), agent, func(approval string) error {
		_, err := operate("", "approvals", "approve", approval, "--yes", "--token", s.manager, "--db", s.db)
		return err
	})
}

// TestRetailInOneProcess plays a fifth of the suite as the program does, strangers
// included. The program plays all of it, and TestRetail all of it over processes.
func TestRetailInOneProcess(t *testing.T) {
	const calls, approved = 73, 6 // of the tasks whose numbers end so
	report, err := evals.RunRetail(t.Context(), regexp.MustCompile("[05]$"), 2, nil)
	check(t, err)
	for i, pass := range report.Passes {
		if pass.Right != calls || pass.Calls != calls || pass.Parked != i*approved {
			t.Errorf("%s: %d of %d right, %d approved: %q", pass.Name, pass.Right, pass.Calls, pass.Parked, pass.Problems)
		}
	}
	for _, who := range report.Strangers {
		if len(who.Leaks) > 0 || who.Calls != calls && who.Kind != "a token pinned to another" || who.Calls < calls/2 {
			t.Errorf("%s: %d calls, leaks %q", who.Kind, who.Calls, who.Leaks)
		}
	}
	if len(report.Strangers) != 8 || report.Failed() {
		t.Errorf("%d kinds of strangers, failed: %v", len(report.Strangers), report.Failed())
	}
}
