package tools_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/tools"
)

// benchDesk is a desk on the demo shop and the agent who calls there.
func benchDesk(b *testing.B) (*tools.Desk, tools.Caller) {
	b.Helper()
	db, err := fixtures.OpenDemo(filepath.Join(b.TempDir(), "demo.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	rules, err := tools.NewRulebook(context.Background(), db, nil)
	if err != nil {
		b.Fatal(err)
	}
	caller := tools.Caller{Token: fixtures.StaffToken, Customer: "C-1001", Door: audit.Eval, Session: "bench"}
	return tools.NewDesk(db, rules, tools.All), caller
}

func BenchmarkGetOrder(b *testing.B) {
	desk, caller := benchDesk(b)
	args := json.RawMessage(`{"order_id":"NW-5001"}`)
	for b.Loop() {
		if res := desk.Call(context.Background(), caller, "get_order", args); res.IsError {
			b.Fatal(string(res.JSON))
		}
	}
}
