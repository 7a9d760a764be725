package evals

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
)

// The retail shop and its calls are derived from tau2-bench; see
// testdata/LICENSE.txt.
var (
	//go:embed testdata/shop.jsonl
	retailShop []byte
	//go:embed testdata/replay-tau2.jsonl
	retailCalls []byte
)

// RetailRow is one call of the benchmark, and what a right server answers.
type RetailRow struct {
	ID       string         `json:"id"`
	Task     string         `json:"task"`
	Customer string         `json:"customer"`
	Tool     string         `json:"tool"`
	Args     map[string]any `json:"args"`
	Expect   RetailOutcome  `json:"expect"`
}

// RetailOutcome is what came of a call, by its answer and by what the other tools
// say afterwards.
type RetailOutcome struct {
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

// ReadRetail returns the benchmark's calls by task. A task has one customer.
func ReadRetail() (tasks [][]RetailRow, err error) {
	decoder := json.NewDecoder(bytes.NewReader(retailCalls))
	decoder.DisallowUnknownFields() // an expectation that nobody looks at would be none
	for decoder.More() {
		var r RetailRow
		if err := decoder.Decode(&r); err != nil {
			return nil, fmt.Errorf("retail calls: %w", err)
		}
		slices.Sort(r.Expect.Orders)
		i := slices.IndexFunc(tasks, func(rows []RetailRow) bool { return rows[0].Task == r.Task })
		if i < 0 {
			tasks = append(tasks, []RetailRow{r})
			continue
		}
		if tasks[i][0].Customer != r.Customer {
			return nil, fmt.Errorf("%s has two customers", r.Task)
		}
		tasks[i] = append(tasks[i], r)
	}
	return tasks, nil
}
