package evals_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is one line of replay-tau2.jsonl: a call, and what a right server answers.
type row struct {
	ID       string         `json:"id"`
	Task     string         `json:"task"`
	Customer string         `json:"customer"`
	Tool     string         `json:"tool"`
	Args     map[string]any `json:"args"`
	Expect   outcome        `json:"expect"`
}

// outcome is what came of a call, by its answer and by what the other tools say
// afterwards.
type outcome struct {
	Status          string   `json:"status,omitempty"`
	Total           string   `json:"total,omitempty"`
	ItemCount       int      `json:"item_count,omitempty"`
	Email           string   `json:"email,omitempty"`
	Orders          []string `json:"orders,omitempty"`
	Refunded        string   `json:"refunded,omitempty"`
	RefundableAfter string   `json:"refundable_after,omitempty"`
	Updated         bool     `json:"updated,omitempty"`
	Ticket          bool     `json:"ticket,omitempty"`
	OrderUnchanged  bool     `json:"order_unchanged,omitempty"`
	Error           string   `json:"error,omitempty"`
}

const rowCount = 405

// everything lets all amounts pass.
const everything = `refund: {auto_limit: {USD: "1000000.00"}, customer_limit_24h: {USD: "1000000.00"}}`

// TestRetail replays the benchmark's tasks over the real server, each on a fresh
// copy of the shop: first with a policy that lets all amounts pass, then with the
// built-in one, where an operator approves every refund of more than $100.
func TestRetail(t *testing.T) {
	tasks := readTasks(t)
	fresh, err := template()
	check(t, err)
	unlimited := filepath.Join(t.TempDir(), "everything.yaml")
	check(t, os.WriteFile(unlimited, []byte(everything), 0o600))

	for _, pass := range []struct {
		name   string
		flags  []string
		parked int // how many refunds wait for an operator
	}{
		{"everything passes", []string{"--policy", unlimited}, 0},
		{"over $100 is parked", nil, 39},
	} {
		var checked, parked atomic.Int64
		t.Run(pass.name, func(t *testing.T) {
			for _, rows := range tasks {
				t.Run(rows[0].Task, func(t *testing.T) {
					t.Parallel()
					c := converse(t, fresh.copy(t), rows[0].Customer, pass.flags...)
					c.parks = pass.parked > 0
					for _, r := range rows {
						if diff := cmp.Diff(r.Expect, c.replay(r)); diff != "" {
							t.Errorf("%s: -want +got:\n%s", r.ID, diff)
						}
						checked.Add(1)
					}
					parked.Add(int64(c.parked))
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

// readTasks returns the rows by task. A task has one customer.
func readTasks(t *testing.T) (tasks [][]row) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "replay-tau2.jsonl"))
	check(t, err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // an expectation that nobody looks at would be none
	for decoder.More() {
		var r row
		check(t, decoder.Decode(&r))
		slices.Sort(r.Expect.Orders)
		i := slices.IndexFunc(tasks, func(rows []row) bool { return rows[0].Task == r.Task })
		if i < 0 {
			tasks = append(tasks, []row{r})
			continue
		}
		if tasks[i][0].Customer != r.Customer {
			t.Fatalf("%s has two customers", r.Task)
		}
		tasks[i] = append(tasks[i], r)
	}
	return tasks
}
