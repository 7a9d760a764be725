package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"countersign/evals"
	"countersign/evals/api"
	"countersign/evals/api/apitest"
	"countersign/tools/client"
)

// noTools is a session with a server that offers none of ours: these tests are
// about the way to the API.
type noTools struct{}

func (noTools) Instructions() string { return "" }

func (noTools) Describe(context.Context) ([]client.Tool, error) {
	return []client.Tool{{Name: "wave", InputSchema: map[string]any{"type": "object"}}}, nil
}

func (noTools) Call(context.Context, string, any) (client.Answer, error) {
	return client.Answer{JSON: []byte(`{}`)}, nil
}

func say(t *testing.T, agent *api.Agent) (string, error) {
	t.Helper()
	talk, err := agent.Begin(t.Context(), evals.Task{Scenario: "x-1", Tools: noTools{}})
	check(t, err)
	defer talk.Close()
	return talk.Reply(t.Context(), "Hello?")
}

func TestErrorsInPlainWords(t *testing.T) {
	fail := func(status int, kind string) apitest.Turn { return apitest.Turn{Status: status, Error: kind} }
	midway := apitest.Turn{Text: "Hel", Error: "overloaded_error"}
	cut, fine := apitest.Turn{Text: "Hel", Cut: true}, apitest.Turn{Text: "Hello!"}
	for name, row := range map[string]struct {
		turns []apitest.Turn // as often as it is asked for
		want  error
	}{
		"a bad key":             {[]apitest.Turn{fail(401, "authentication_error")}, api.ErrKey},
		"a key without rights":  {[]apitest.Turn{fail(403, "permission_error")}, api.ErrForbidden},
		"no such model":         {[]apitest.Turn{fail(404, "not_found_error")}, api.ErrNoModel},
		"a bad request":         {[]apitest.Turn{fail(400, "invalid_request_error")}, api.ErrRequest},
		"a limit":               {[]apitest.Turn{fail(429, "rate_limit_error"), fail(429, "rate_limit_error"), fail(429, "rate_limit_error")}, api.ErrLimit},
		"a failing API":         {[]apitest.Turn{fail(500, "api_error"), fail(500, "api_error"), fail(500, "api_error")}, api.ErrAPI},
		"an overload":           {[]apitest.Turn{fail(529, "overloaded_error"), fail(529, "overloaded_error"), fail(529, "overloaded_error")}, api.ErrOverloaded},
		"an overload that ends": {[]apitest.Turn{fail(529, "overloaded_error"), fail(529, "overloaded_error"), fine}, nil},
		"an overload midway":    {[]apitest.Turn{midway, midway, midway}, api.ErrOverloaded},
		"one that ends":         {[]apitest.Turn{midway, fine}, nil},
		"a cut":                 {[]apitest.Turn{cut, cut, cut}, api.ErrCut},
		"a cut that heals":      {[]apitest.Turn{cut, cut, fine}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, err := say(t, newAgent(t, apitest.New(t, row.turns...), api.Options{}))
			if !errors.Is(err, row.want) || err == nil && reply != "Hello!" {
				t.Errorf("%q, %v; want %v", reply, err, row.want)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "{\n") || strings.Contains(err.Error(), "sk-test") || strings.Contains(err.Error(), "Hello?")) {
				t.Errorf("not in plain words: %v", err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	server := apitest.New(t)
	agent := newAgent(t, server, api.Options{})
	server.Stop()
	if _, err := say(t, agent); !errors.Is(err, api.ErrUnreachable) {
		t.Errorf("%v", err)
	}
}

// What a broken stream asked for isn't done: the call of the whole message is made,
// once.
func TestCutStreamCallsNothing(t *testing.T) {
	half := calls(refund)
	half.Cut = true
	got, _ := play(t, "06-goes-on-after-approval", api.Options{}, half, calls(refund), waiting, calls(order), granted)
	if !got.Passed || len(got.Happened) != 2 {
		t.Errorf("%+v", got)
	}
}

// A customer's Ctrl-C is none of the API's errors.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	interrupt := apitest.Turn{From: func(apitest.Request) apitest.Turn {
		stop()
		return apitest.Turn{Status: 529, Error: "overloaded_error"}
	}}
	talk, err := newAgent(t, apitest.New(t, interrupt), api.Options{}).Begin(ctx, evals.Task{Scenario: "x-1", Tools: noTools{}})
	check(t, err)
	if _, err := talk.Reply(ctx, "Hello?"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
