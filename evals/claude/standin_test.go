package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign/tools/client"
)

// install puts this test's binary on the PATH as claude.
func install(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	folder := t.TempDir()
	check(t, os.Symlink(self, filepath.Join(folder, "claude")))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// standIn is claude in a way that a test asks for, and returns its exit code.
func standIn(how string) int {
	args := strings.Join(os.Args[1:], " ")
	message, err := io.ReadAll(os.Stdin)
	if err != nil || os.Getenv("CLAUDECODE") != "" || !strings.HasPrefix(args, "-p --output-format stream-json --verbose ") {
		fmt.Fprintln(os.Stderr, "started in the wrong way", args)
		return 3
	}
	switch how {
	case "crashes":
		fmt.Fprintln(os.Stderr, "out of memory\nat line 1")
		return 134
	case "babbles":
		fmt.Println("Welcome!")
		return 0
	case "is not connected":
		say(map[string]any{"type": "system", "subtype": "init", "mcp_servers": []any{map[string]any{"name": "countersign", "status": "failed"}}})
		select {} // it would go on; nobody waits for it
	case "is turned away":
		for attempt := range 3 {
			say(map[string]any{"type": "system", "subtype": "api_retry", "attempt": attempt + 1, "error": "authentication_failed"})
		}
		select {} // it would go on for minutes
	case "is not logged in":
		say(map[string]any{"type": "result", "subtype": "success", "is_error": true, "result": "Invalid API key · Please run /login"})
		return 1
	case "is cut":
		say(map[string]any{"type": "assistant"})
		fmt.Print(`{"type":"result","subt`)
		return 0
	case "says nothing":
		say(map[string]any{"type": "result", "subtype": "success", "result": ""})
		return 0
	}
	if how == "asks" {
		if !strings.Contains(args, "The user is a colleague") {
			return 7
		}
		return serve(string(message), asks)
	}
	return serve(string(message), refunds)
}

func say(event any) {
	text, err := json.Marshal(event)
	if err != nil {
		panic(err) // events marshal
	}
	fmt.Println(string(text))
}

// refunds is what a good agent does in scenario 06.
func refunds(message string, resumed bool) (call string, args map[string]any, reply string) {
	if resumed {
		return "get_order", map[string]any{"order_id": "NW-5001"}, "144.00 USD were approved and refunded."
	}
	return "issue_refund", map[string]any{"order_id": "NW-5001", "reason": message}, "A specialist reviews it."
}

// asks is what a good agent does in scenario 31: the same form again is the same
// request.
func asks(string, bool) (call string, args map[string]any, reply string) {
	return "request_human", map[string]any{"title": "A key", "instructions": "Enter it", "category": "key", "timeout_seconds": 0,
		"fields": []any{map[string]any{"name": "CARRIER_KEY", "type": "secret"}}}, "It is .env that gets it, as CARRIER_KEY."
}

// serve does what a good agent does, by the configured server.
func serve(message string, does func(message string, resumed bool) (string, map[string]any, string)) int {
	call, args, reply := does(message, slices.Contains(os.Args, "--resume"))
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	text, err := os.ReadFile(os.Args[slices.Index(os.Args, "--mcp-config")+1])
	if err != nil || json.Unmarshal(text, &config) != nil {
		return 4
	}
	server := config.Servers["countersign"]
	cmd := exec.Command(server.Command, server.Args...)
	for name, value := range server.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	session, err := client.Start(context.Background(), cmd, "claude")
	if err != nil {
		return 5
	}
	defer session.Close()
	say(map[string]any{"type": "system", "subtype": "init", "session_id": "s-1", "mcp_servers": []any{map[string]any{"name": "countersign", "status": "connected"}}})
	if answer, err := session.Call(context.Background(), call, args); err != nil || answer.IsError {
		return 6
	}
	say(map[string]any{"type": "result", "subtype": "success", "session_id": "s-1", "result": reply, "num_turns": 2, "total_cost_usd": 0.25,
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 1}})
	return 0
}

func TestPlaysWithAClientOfItsOwn(t *testing.T) {
	install(t)
	t.Setenv("CLAUDECODE", "1") // as when a coding agent runs the evals
	t.Setenv("STAND_IN", "works")
	t.Setenv("TMPDIR", t.TempDir()) // where nobody else leaves anything
	got := play(t, "06-goes-on-after-approval")
	if !got.Passed || len(got.Happened) != 2 {
		t.Errorf("%+v", got)
	}
	if u := got.Usage; u == nil || u.Requests != 4 || u.Input != 20 || u.CostUSD == nil || *u.CostUSD != 0.5 {
		t.Errorf("usage %v", u)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "countersign-claude-*", "mcp.json")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
	if got := play(t, "26-lost-answer"); !strings.Contains(got.Skipped, "loses an answer") || got.Passed {
		t.Errorf("a lost answer is played: %+v", got)
	}
}

// Its server has the scenario's toolsets and .env file.
func TestAsksAHuman(t *testing.T) {
	install(t)
	t.Setenv("STAND_IN", "asks")
	if got := play(t, "31-key-by-reference"); !got.Passed {
		t.Errorf("%+v", got)
	}
}

func TestSaysWhatClaudeFailsWith(t *testing.T) {
	install(t)
	for how, want := range map[string]string{
		"crashes":          "claude failed: exit status 134: out of memory",
		"babbles":          "a line that isn't JSON",
		"is not connected": "claude didn't connect to the server",
		"is turned away":   "login or key isn't accepted",
		"is not logged in": "Please run /login",
		"is cut":           "a line that isn't JSON",
		"says nothing":     "without a word",
	} {
		t.Run(how, func(t *testing.T) {
			t.Setenv("STAND_IN", how)
			got := play(t, "06-goes-on-after-approval")
			if got.Passed || !strings.Contains(got.Fault, want) || strings.Contains(got.Fault, "\n") {
				t.Errorf("fault %q, want %q", got.Fault, want)
			}
		})
	}
}
