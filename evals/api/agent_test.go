package api_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/evals"
	"countersign/evals/api"
	"countersign/evals/api/apitest"
	"countersign/tools"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newAgent(t *testing.T, server *apitest.Server, o api.Options) *api.Agent {
	t.Helper()
	o.Key, o.BaseURL = "sk-test", server.URL
	agent, err := api.New(o)
	check(t, err)
	return agent
}

// play plays a built-in scenario with the script as the model.
func play(t *testing.T, id string, o api.Options, turns ...apitest.Turn) (evals.Result, *apitest.Server) {
	t.Helper()
	server := apitest.New(t, turns...)
	runner, err := evals.NewRunner(newAgent(t, server, o), nil)
	check(t, err)
	defer runner.Close()
	all, err := evals.ReadScenarios(evals.Scenarios())
	check(t, err)
	i := slices.IndexFunc(all, func(s evals.Scenario) bool { return s.ID == id })
	return runner.Run(t.Context(), all[i]), server
}

// calls is a turn that calls tools; their ids count from the given letter.
func calls(calls ...apitest.Call) apitest.Turn {
	for i := range calls {
		calls[i].ID = "toolu_" + string(rune('a'+i))
	}
	return apitest.Turn{Calls: calls}
}

var (
	refund  = apitest.Call{Name: "issue_refund", Input: `{"order_id":"NW-5001","reason":"came back – unworn"}`}
	order   = apitest.Call{Name: "get_order", Input: `{"order_id":"NW-5001"}`}
	waiting = apitest.Turn{Text: "A specialist reviews your refund."}
	granted = apitest.Turn{Text: "It was approved: 144.00 USD are on their way."}
)

// A refund waits for a human in one turn, and the next one hears of the decision.
func TestGoesOnAfterAnApproval(t *testing.T) {
	for _, states := range []string{"", t.TempDir()} {
		got, server := play(t, "06-goes-on-after-approval", api.Options{Model: "claude-opus-5", States: states}, calls(refund), waiting, calls(order), granted)
		if !got.Passed {
			t.Fatalf("%+v", got)
		}
		requests := server.Requests()
		last := requests[len(requests)-1]
		if n := len(last.Messages); n != 7 || last.Messages[0].Content[0].Text != got.Turns[0].Message || last.Messages[4].Content[0].Text != got.Turns[1].Message {
			t.Errorf("the last request holds %d messages: %+v", n, last.Messages)
		}
		if !strings.Contains(last.Results()[0].ResultText(), `"approved"`) {
			t.Errorf("the model isn't told of the approval: %+v", last.Results())
		}
		// Four requests of 100 tokens in, 20 to and 3 from the cache, and 10 out.
		cost := (400*5 + 40*25 + 80*6.25 + 12*0.5) / 1e6
		if diff := cmp.Diff(&evals.Usage{Requests: 4, Input: 400, Output: 40, CacheWrite: 80, CacheRead: 12, CostUSD: &cost}, got.Usage); diff != "" {
			t.Errorf("usage: -want +got:\n%s", diff)
		}
	}
}

// The model gets the server's tools and instructions as they are.
func TestOffersTheServersTools(t *testing.T) {
	got, server := play(t, "01-track-order", api.Options{Model: "some-model"}, apitest.Turn{Text: "I don't know."})
	asked := server.Requests()[0]
	if asked.Header.Get("X-Api-Key") != "sk-test" || !asked.Stream || asked.Model != "some-model" || len(asked.Tools) != len(tools.All) {
		t.Errorf("%v, stream %v, model %s, %d tools", asked.Header, asked.Stream, asked.Model, len(asked.Tools))
	}
	for i, tool := range asked.Tools {
		_, marked := tool["cache_control"]
		if last := i == len(asked.Tools)-1; marked != last {
			t.Errorf("tool %d is marked for the cache: %v", i, marked)
		}
		registered := tools.All[slices.IndexFunc(tools.All, func(r *tools.Tool) bool { return r.Name == tool["name"] })]
		var schema any
		check(t, json.Unmarshal(registered.Schema(), &schema))
		if diff := cmp.Diff(schema, tool["input_schema"]); diff != "" || tool["description"] != registered.Description {
			t.Errorf("%s is changed: -registered +sent:\n%s", tool["name"], diff)
		}
	}
	var system []struct {
		Text  string
		Cache any `json:"cache_control"`
	}
	check(t, json.Unmarshal(asked.System, &system))
	if n := len(system); n != 2 || system[0].Cache != nil || system[1].Cache == nil || !strings.Contains(system[1].Text, "escalate_to_human") {
		t.Errorf("the system's words are %s", asked.System)
	}
	if got.Usage.CostUSD != nil {
		t.Error("a model without a price costs something")
	}
}

// All calls of a message are answered in one message, in their order, those that
// can't be made as well.
func TestSeveralCallsInOneMessage(t *testing.T) {
	broken := apitest.Call{Name: "issue_refund", Input: `{"order_id":"NW-5001","rea`}
	list := apitest.Call{Name: "issue_refund", Input: `["NW-5001"]`}
	unknown := apitest.Call{Name: "delete_everything", Input: `{}`}
	empty := apitest.Call{Name: "lookup_customer"}
	got, server := play(t, "01-track-order", api.Options{}, calls(order, broken, list, unknown, empty, order), apitest.Turn{Text: "Let me see."})
	if diff := cmp.Diff([]string{"get_order", "unknown", "lookup_customer", "get_order"}, called(got)); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	asked := server.Requests()[1]
	if n := len(asked.Messages); n != 3 {
		t.Fatalf("%d messages", n)
	}
	for i, want := range []struct {
		isError bool
		text    string
	}{{false, "NW-5001"}, {true, "JSON object"}, {true, "JSON object"}, {true, "delete_everything"}, {false, "C-1001"}, {false, "NW-5001"}} {
		result, call := asked.Results()[i], asked.Messages[1].Content[i]
		if result.IsError != want.isError || !strings.Contains(result.ResultText(), want.text) || result.ToolUseID != call.ID {
			t.Errorf("result %d: %+v", i, result)
		}
		if call.Input[0] != '{' {
			t.Errorf("call %d is sent back with %s", i, call.Input)
		}
	}
}

// called are the tools that the agent called, by the audit log.
func called(r evals.Result) (tools []string) {
	for _, line := range r.Happened {
		tools = append(tools, strings.Fields(line)[0])
	}
	return tools
}

func TestHowMessagesEnd(t *testing.T) {
	again := calls(order)
	cut := apitest.Turn{Calls: []apitest.Call{{ID: "toolu_a", Name: "issue_refund", Input: `{"order_id":"NW-5001"`}}, Stop: "max_tokens"}
	for _, row := range []struct {
		turns []apitest.Turn
		fault string
	}{
		{[]apitest.Turn{{Text: "I", Stop: "refusal"}}, api.ErrRefused.Error()},
		{[]apitest.Turn{cut}, api.ErrTooLong.Error()},
		{[]apitest.Turn{{Text: "It", Stop: "model_context_window_exceeded"}}, api.ErrTooLong.Error()},
		{[]apitest.Turn{{Text: "Wait", Stop: "pause_turn"}, {Text: "Done."}}, ""},
		{[]apitest.Turn{calls(order), {}}, api.ErrSilent.Error()},
		{[]apitest.Turn{{Text: "Now", Stop: "tool_use"}}, "named none"},
		{[]apitest.Turn{again, again, again}, api.ErrSteps.Error() + ": 3 requests"},
	} {
		got, _ := play(t, "01-track-order", api.Options{Steps: 3}, row.turns...)
		if !strings.Contains(got.Fault, row.fault) || (got.Fault == "") != (row.fault == "") || slices.Contains(called(got), "issue_refund") {
			t.Errorf("%+v: %q %v, want %q", row.turns, got.Fault, got.Happened, row.fault)
		}
	}
}

func TestNewNeedsAKeyAndAnAddress(t *testing.T) {
	if _, err := api.New(api.Options{}); !errors.Is(err, api.ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := api.New(api.Options{Key: "sk-test", BaseURL: "localhost"}); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_BASE_URL") {
		t.Errorf("without a host: %v", err)
	}
}

// A scenario's toolsets reach the model, and it is told that a colleague writes.
func TestAsksAHuman(t *testing.T) {
	ask := apitest.Call{Name: "request_human", Input: `{"title":"A key","instructions":"Enter it","category":"key","timeout_seconds":0,` +
		`"fields":[{"name":"CARRIER_KEY","type":"secret"}]}`}
	collect := apitest.Turn{From: func(asked apitest.Request) apitest.Turn {
		text, err := json.Marshal(asked.Messages)
		check(t, err)
		return calls(apitest.Call{Name: "check_request", Input: `{"request_id":"` + regexp.MustCompile(`RQ-[0-9A-Z]{10}`).FindString(string(text)) + `"}`})
	}}
	got, server := play(t, "31-key-by-reference", api.Options{}, calls(ask), apitest.Turn{Text: "It's asked for."},
		collect, apitest.Turn{Text: "Use ${CARRIER_KEY} from .env."})
	if !got.Passed {
		t.Fatalf("%+v", got)
	}
	first := server.Requests()[0]
	if len(first.Tools) != len(tools.All)+len(tools.Human) || !strings.Contains(string(first.System), "The user is a colleague") {
		t.Errorf("%d tools, %s", len(first.Tools), first.System)
	}
	last := server.Requests()[3]
	if text := last.Results()[0].ResultText(); !strings.Contains(text, "written to .env; use ${CARRIER_KEY}") {
		t.Errorf("the model is told %s", text)
	}
}
