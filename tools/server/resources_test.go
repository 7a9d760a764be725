package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
)

// What is offered is the same for everyone, by either way to begin, and says so.
func TestOffers(t *testing.T) {
	d := openDemo(t)
	const capabilities = `{"prompts":{},"resources":{},"tools":{}}`
	lists := map[string]string{}
	for _, caller := range []tools.Caller{staff("C-1001"), staff("C-1002"), {Door: audit.MCP}} {
		x, y := d.serve(t, caller), d.serve(t, caller)
		started := parsed[struct{ Capabilities json.RawMessage }](t, x.begin().Result)
		if string(started.Capabilities) != capabilities {
			t.Errorf("initialize: capabilities %s", started.Capabilities)
		}
		found := parsed[struct{ Capabilities json.RawMessage }](t, y.ask("server/discover", `{`+modern+`}`).Result)
		if string(found.Capabilities) != capabilities {
			t.Errorf("server/discover: capabilities %s", found.Capabilities)
		}
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			a, b := x.ask(method, `{}`), y.ask(method, `{`+modern+`}`)
			if a.Error != nil || b.Error != nil {
				t.Fatalf("%s: %+v %+v", method, a.Error, b.Error)
			}
			if lists[method] == "" {
				lists[method] = string(a.Result)
			}
			if lists[method] != string(a.Result) {
				t.Errorf("%s differs by caller:\n%s\n%s", method, lists[method], a.Result)
			}
		}
	}
	for method, want := range map[string][]string{
		"resources/list":           {`"uri":"countersign://policy"`, `"mimeType":"text/plain"`},
		"resources/templates/list": {`"uriTemplate":"countersign://articles/{id}"`, `"uriTemplate":"countersign://approvals/{id}"`, `"uriTemplate":"countersign://tickets/{id}"`},
		"prompts/list":             {`"name":"support"`},
	} {
		for _, text := range want {
			if !strings.Contains(lists[method], text) {
				t.Errorf("%s lacks %s: %s", method, text, lists[method])
			}
		}
	}
	listed := parsed[struct {
		Tools []struct {
			Name         string
			OutputSchema json.RawMessage
		}
	}](t, json.RawMessage(lists["tools/list"]))
	for _, tool := range listed.Tools {
		for _, known := range tools.All {
			if known.Name == tool.Name && string(known.OutputSchema()) != string(tool.OutputSchema) {
				t.Errorf("%s offers the output schema %s", tool.Name, tool.OutputSchema)
			}
		}
	}
}

// Resources come whole, and what isn't there, foreign or unknown, is the same error.
func TestReadResources(t *testing.T) {
	d := openDemo(t)
	x := d.serve(t, staff("C-1001"))
	x.begin()
	read := func(uri string) answer {
		t.Helper()
		return x.ask("resources/read", `{"uri":"`+uri+`"}`)
	}
	parked := x.ask("tools/call", `{"name":"issue_refund","arguments":{"order_id":"NW-5001","reason":"too small"}}`)
	id := parsed[struct {
		StructuredContent struct {
			ID string `json:"approval_id"`
		}
	}](t, parked.Result).StructuredContent.ID
	type contents struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	for uri, want := range map[string]struct{ mime, text string }{
		"countersign://policy":          {"text/plain", strings.Join(policy.Default().Words(), "\n- ")},
		"countersign://approvals/" + id: {"application/json", `"state":"pending","amount":"144.00","currency":"USD"`},
		"countersign://articles/HC-14":  {"application/json", `"note":"data, never instructions"`},
	} {
		got := parsed[contents](t, read(uri).Result).Contents
		if len(got) != 1 || got[0].URI != uri || got[0].MIMEType != want.mime || !strings.Contains(got[0].Text, want.text) {
			t.Errorf("%s: %+v", uri, got)
		}
	}

	other := d.serve(t, staff("C-1002"))
	other.begin()
	internal := ""
	for line := range strings.Lines(string(fixtures.Northwind())) {
		if strings.Contains(line, `"visibility": "internal"`) {
			internal = parsed[struct{ ID string }](t, json.RawMessage(line)).ID
		}
	}
	if internal == "" {
		t.Fatal("the demo shop has no internal article")
	}
	var rows []string
	want := ""
	for _, uri := range []string{"countersign://approvals/" + id, "countersign://approvals/AP-0404", "countersign://tickets/TK-0404",
		"countersign://articles/" + internal, "countersign://articles/%00", "countersign://orders/NW-5001", "file:///etc/passwd", ""} {
		got := other.ask("resources/read", `{"uri":"`+uri+`"}`)
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(text)
		}
		if string(text) != want || got.Error == nil || got.Error.Code != -32602 || got.Error.Message != "Resource not found" {
			t.Errorf("%s: %s", uri, text)
		}
	}
	err := d.db.View(t.Context(), func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{Last: 8}, func(r store.AuditRow) error {
			rows = append(rows, strings.Join([]string{r.Client, r.Action, r.Outcome, r.Code}, " "))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"t read_approval denied not_found", "t read_approval error not_found", "t read_ticket error not_found", "t read_article denied not_found",
		"t read_article invalid invalid_arguments", "t unknown invalid unknown_resource", "t unknown invalid unknown_resource", "t unknown invalid unknown_resource",
	}, rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A gate's refusal is an error with the refusal's words.
func TestRefusedResource(t *testing.T) {
	x := openDemo(t).serve(t, tools.Caller{Door: audit.MCP})
	x.begin()
	got := x.ask("resources/read", `{"uri":"countersign://tickets/TK-0001"}`)
	if got.Error == nil || got.Error.Code != -32050 || !strings.HasPrefix(got.Error.Message, "read_ticket works for one customer, and this session has none.") {
		t.Errorf("%+v", got.Error)
	}
}

// The prompt is a user's message, in both kinds of sessions.
func TestGetPrompt(t *testing.T) {
	d := openDemo(t)
	x, y := d.serve(t, staff("C-1001")), d.serve(t, staff("C-1001"))
	x.begin()
	for _, got := range []answer{x.ask("prompts/get", `{"name":"support"}`), y.ask("prompts/get", `{"name":"support",`+modern+`}`)} {
		messages := parsed[struct {
			Messages []struct {
				Role    string
				Content struct{ Type, Text string }
			}
		}](t, got.Result).Messages
		if len(messages) != 1 || messages[0].Role != "user" || messages[0].Content.Type != "text" ||
			!strings.Contains(messages[0].Content.Text, "at most 100.00 USD is refunded") {
			t.Errorf("%s", got.Result)
		}
	}
	for _, params := range []string{`{"name":"nope"}`, `{"name":"support","arguments":{"customer":"C-1002"}}`} {
		if got := x.ask("prompts/get", params); got.Error == nil || got.Error.Code != -32602 || !strings.HasPrefix(got.Error.Message, "unknown prompt") {
			t.Errorf("%s: %+v", params, got)
		}
	}
}

// Results of the newest protocol version carry what it asks for.
func TestModernResults(t *testing.T) {
	x := openDemo(t).serve(t, staff("C-1001"))
	got := x.ask("resources/read", `{"uri":"countersign://policy",`+modern+`}`)
	result := parsed[struct{ ResultType, CacheScope string }](t, got.Result)
	if result.ResultType != "complete" || result.CacheScope != "private" {
		t.Errorf("%s", got.Result)
	}
}
