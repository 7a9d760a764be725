package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"countersign/fixtures"
	"countersign/tools/client"
)

// What operators say about tokens and cases holds from the next call of a server
// that is running.
func TestRunningServerHearsOfTokensAndCases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	demoAt(t, path, nil)
	operate := func(args ...string) string {
		t.Helper()
		r := run(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + fixtures.ManagerToken}, args...))
		if r.code != exitDone || r.stderr != "" {
			t.Fatalf("%v: %+v", args, r)
		}
		return r.stdout
	}
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(operate("tokens", "create", "agent-7", "--role", "staff", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	server := program(t, "countersign-mcp", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + made.Token})
	var log strings.Builder // read once the server has ended
	server.Stderr = &log
	session, err := client.Start(t.Context(), server, "test")
	if err != nil {
		t.Fatal(err)
	}
	var last struct {
		Error, Message, Status string
		CustomerID             string `json:"customer_id"`
		OrderID                string `json:"order_id"`
	}
	call := func(tool string, arguments map[string]any) string {
		t.Helper()
		answer, err := session.Call(t.Context(), tool, arguments)
		if err != nil {
			t.Fatal(err)
		}
		last.Error, last.Message, last.Status, last.CustomerID, last.OrderID = "", "", "", "", ""
		if err := json.Unmarshal(answer.JSON, &last); err != nil {
			t.Fatal(err)
		}
		return strings.Join(nonEmpty(last.Error, last.CustomerID, last.OrderID, last.Status), " ")
	}
	get := func(order string) string { return call("get_order", map[string]any{"order_id": order}) }
	refund := func() string {
		return call("issue_refund", map[string]any{"order_id": "NW-5002", "reason": "a hole in the heel"})
	}
	is := func(want, got string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q: %s", got, want, last.Message)
		}
	}

	is("no_customer", get("NW-5001"))
	operate("case", "open", "NW-5001", "--for", "agent-7")
	is("NW-5001 delivered", get("NW-5001"))
	operate("case", "open", "C-1002", "--for", "agent-7")
	is("no_customer", get("NW-5001"))
	if !strings.HasPrefix(last.Message, "The case changed: ") || !strings.Contains(last.Message, "lookup_customer") {
		t.Errorf("the agent isn't told: %s", last.Message)
	}
	is("no_customer", get("NW-5101"))
	is("C-1002", call("lookup_customer", nil))
	is("not_found", get("NW-5001"))
	is("NW-5101 shipped", get("NW-5101"))
	operate("case", "close", "--for", "agent-7")
	is("no_customer", call("lookup_customer", nil))
	operate("case", "open", "C-1001", "--for", "agent-7")
	is("C-1001", call("lookup_customer", nil))

	operate("tokens", "role", "agent-7", "viewer")
	is("permission_denied", refund())
	operate("tokens", "role", "agent-7", "staff")
	is("NW-5002 refunded", refund())
	operate("tokens", "revoke", "agent-7")
	is("permission_denied", refund())
	is("no_customer", get("NW-5001"))
	if !strings.Contains(last.Message, "revoked") {
		t.Errorf("the agent isn't told: %s", last.Message)
	}

	if err := session.Close(); err != nil {
		t.Error(err)
	}
	for _, secret := range []string{made.Token, "ava", "@"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, log.String())
		}
	}
	if rows := strings.Count(log.String(), "\n"); rows != 13 {
		t.Errorf("%d lines in the log, want one for each call:\n%s", rows, log.String())
	}
}
