package evals_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// reply is the whole of what may stand on a line of stdout.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      *int            `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// toolResult is a reply's result to tools/call.
type toolResult struct {
	Content    []struct{ Type, Text string }
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

// TestStdoutCarriesOnlyReplies speaks to the server without any library: each
// line of its stdout must be the reply to one request.
func TestStdoutCarriesOnlyReplies(t *testing.T) {
	p, err := programs()
	check(t, err)
	server := exec.CommandContext(t.Context(), p.server,
		"--demo", "--db", filepath.Join(t.TempDir(), "demo.db"), "--customer", "C-1001", "--log-level", "debug")
	server.Env = []string{"COUNTERSIGN_TOKEN=demo-staff-token"}
	server.Stderr = t.Output()
	stdin, err := server.StdinPipe()
	check(t, err)
	stdout, err := server.StdoutPipe()
	check(t, err)
	check(t, server.Start())
	defer server.Wait()
	defer stdin.Close()
	stuck := time.AfterFunc(20*time.Second, func() { server.Process.Kill() })
	defer stuck.Stop()

	lines := bufio.NewReader(stdout)
	say := func(line string) {
		_, err := io.WriteString(stdin, line+"\n")
		check(t, err)
	}
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	if r := hear(t, lines); *r.ID != 0 || r.Error != nil {
		t.Fatalf("initialize is answered with %+v", r)
	}
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)

	script := []struct {
		request string // method and params
		code    int    // of the protocol's error
		refusal string // code in the tool's answer
	}{
		{request: `"tools/list"`},
		{request: `"ping"`},
		{request: `"tools/call","params":{"name":"lookup_customer"}`},
		{request: `"tools/call","params":{"name":"get_order","arguments":{"order_id":"nw-5001 "}}`},
		{request: `"tools/call","params":{"name":"track_shipment","arguments":{"order_id":"NW-5006"}}`},
		{request: `"tools/call","params":{"name":"search_help_center","arguments":{"query":"how do I return this?"}}`},
		{request: `"tools/call","params":{"name":"issue_refund","arguments":{"order_id":"NW-5001","reason":"too small"}}`},
		{request: `"tools/call","params":{"name":"escalate_to_human","arguments":{"summary":"wants a call back","category":"other"}}`},
		{request: `"tools/call","params":{"name":"get_order","arguments":{"order_id":"NW-5101"}}`, refusal: "not_found"},
		{request: `"tools/call","params":{"name":"get_order","arguments":{"orderId":"NW-5001"}}`, refusal: "invalid_arguments"},
		{request: `"tools/call","params":{"name":"get_order","arguments":[1]}`, refusal: "invalid_arguments"},
		{request: `"tools/call","params":{"name":"issue_refund","arguments":{"order_id":"NW-5002","amount":5,"reason":"x\ny"}}`, refusal: "invalid_arguments"},
		{request: `"tools/call","params":{"name":"delete_everything","arguments":{}}`, code: -32602},
		{request: `"no/such/method"`, code: -32601},
	}
	for i, s := range script {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i+1, s.request))
	}
	answered := map[int]bool{}
	for range script {
		r := hear(t, lines)
		if *r.ID < 1 || *r.ID > len(script) || answered[*r.ID] {
			t.Fatalf("nothing that waits has the id of %+v", r)
		}
		answered[*r.ID] = true
		s := script[*r.ID-1]
		var code int
		if r.Error != nil {
			code = r.Error.Code
		}
		if code != s.code {
			t.Errorf("%s: error %+v, want code %d", s.request, r.Error, s.code)
		}
		if bytes.HasPrefix([]byte(s.request), []byte(`"tools/call"`)) && code == 0 {
			checkToolResult(t, s.request, r.Result, s.refusal)
		}
	}

	check(t, stdin.Close())
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("after the last reply: %q, %v", rest, err)
	}
	check(t, server.Wait())
}

// hear reads one line and fails the test unless it is one whole reply.
func hear(t *testing.T, lines *bufio.Reader) reply {
	t.Helper()
	line, err := lines.ReadBytes('\n')
	if err != nil {
		t.Fatalf("stdout: %q, %v", line, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	var r reply
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("stdout: %q: %v", line, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("stdout: more than one value on a line: %q", line)
	}
	if r.Version != "2.0" || r.ID == nil || (r.Result == nil) == (r.Error == nil) {
		t.Fatalf("stdout: no reply: %q", line)
	}
	return r
}

// checkToolResult checks that a success holds the same JSON twice and a refusal
// holds it once, as text.
func checkToolResult(t *testing.T, request string, result json.RawMessage, refusal string) {
	t.Helper()
	var r toolResult
	check(t, json.Unmarshal(result, &r))
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		t.Fatalf("%s: content is not one text block: %s", request, result)
	}
	text := r.Content[0].Text
	var answer struct{ Error string }
	check(t, json.Unmarshal([]byte(text), &answer))
	if answer.Error != refusal || r.IsError != (refusal != "") {
		t.Errorf("%s: want the refusal %q: %s", request, refusal, result)
	}
	if r.IsError && r.Structured != nil || !r.IsError && !sameJSON(t, string(r.Structured), text) {
		t.Errorf("%s: structuredContent %s beside %s", request, r.Structured, text)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var left, right bytes.Buffer
	check(t, json.Compact(&left, []byte(a)))
	check(t, json.Compact(&right, []byte(b)))
	return left.String() == right.String()
}
