package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/evals"
	"countersign/evals/api/apitest"
)

// A model's conversation is played, reported with what it took, kept, recorded, and
// the recording replayed.
func TestRecordsAModel(t *testing.T) {
	request := apitest.Turn{Calls: []apitest.Call{{ID: "toolu_a", Name: "issue_refund", Input: `{"order_id":"NW-5001","reason":"came back unworn"}`}}}
	waits := apitest.Turn{From: func(asked apitest.Request) apitest.Turn {
		var parked struct {
			ID string `json:"approval_id"`
		}
		if err := json.Unmarshal([]byte(asked.Results()[0].ResultText()), &parked); err != nil {
			t.Error(err)
		}
		return apitest.Turn{Text: "A specialist reviews it as " + parked.ID + "."} // another id each time
	}}
	look := apitest.Turn{Calls: []apitest.Call{{ID: "toolu_b", Name: "get_order", Input: `{"order_id":"NW-5001"}`}}}
	server := apitest.New(t, request, waits, look, apitest.Turn{Text: "Approved: 144.00 USD are on their way."},
		request, waits, look, apitest.Turn{Text: "I can't see it."})
	env := []string{"ANTHROPIC_API_KEY=sk-test", "ANTHROPIC_BASE_URL=" + server.URL}
	folder := t.TempDir()
	record, states := filepath.Join(folder, "recordings"), filepath.Join(folder, "states")

	out, stderr, code := runWith(t, env, "--agent", "api", "--model", "claude-opus-5", "--only", "^06-", "--repeat", "2", "--parallel", "1", "--json",
		"--record="+record, "--state", states)
	var report evals.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	if code != 1 || report.Scenarios[0].Passed != 1 || !strings.Contains(stderr, "1 scenarios recorded in "+record) {
		t.Errorf("exit code %d, %s, %+v", code, stderr, report)
	}
	if u := report.Usage; u == nil || u.Requests != 8 || u.Input != 800 || u.CostUSD == nil || *report.Scenarios[0].Usage.CostUSD != *u.CostUSD {
		t.Errorf("usage %v", report.Usage)
	}
	if kept, err := filepath.Glob(filepath.Join(states, "06-goes-on-after-approval-*.json")); err != nil || len(kept) != 2 {
		t.Errorf("kept conversations: %v, %v", kept, err)
	}
	text, err := os.ReadFile(filepath.Join(record, "06-goes-on-after-approval.yaml"))
	if err != nil || !strings.Contains(string(text), "source: claude-opus-5\n") || !strings.Contains(string(text), "${approval_id}") {
		t.Errorf("%v\n%s", err, text)
	}
	if out, stderr, code := run(t, "--recordings", record, "--only", "^06-"); code != 0 || !strings.Contains(out, "all passed") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
}

func TestReportsWhatAModelTook(t *testing.T) {
	server := apitest.New(t, apitest.Turn{Text: "I don't know."})
	env := []string{"ANTHROPIC_API_KEY=sk-test", "ANTHROPIC_BASE_URL=" + server.URL}
	out, stderr, code := runWith(t, env, "--agent", "api", "--model", "claude-opus-5", "--only", "^01-")
	if code != 1 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"123 in 10 out $0.001", "by api", "1 requests, tokens: 100 in, 10 out, cache: 20 written, 3 read; about 0.00 USD"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestClaudeNeedsRealPrograms(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "claude"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + folder}
	if out, stderr, code := runWith(t, env, "--agent", "claude", "--only", "^01-"); code != 2 || out != "" || !strings.Contains(stderr, "--agent claude needs --stdio") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
	if out, _, code := runWith(t, env, "--agent", "claude", "--stdio", "--only", "^26-"); code != 0 || !strings.Contains(out, "1 skipped: it loses an answer") {
		t.Errorf("exit code %d, %s", code, out)
	}
}
