package evals_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/evals"
)

// TestScenarios plays every scenario as it was recorded, on the real desk.
func TestScenarios(t *testing.T) {
	runner := newRunner(t, evals.NewReplay(evals.Recordings()), nil)
	for _, s := range scenarios(t) {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			for _, problem := range failures(runner.Run(t.Context(), s)) {
				t.Error(problem)
			}
		})
	}
}

func newRunner(t *testing.T, agent evals.Agent, programs *evals.Programs) *evals.Runner {
	t.Helper()
	runner, err := evals.NewRunner(agent, programs)
	check(t, err)
	t.Cleanup(func() { check(t, runner.Close()) })
	return runner
}

func scenarios(t *testing.T) []evals.Scenario {
	t.Helper()
	all, err := evals.ReadScenarios(evals.Scenarios())
	check(t, err)
	return all
}

// failures are what was wrong with a trial.
func failures(r evals.Result) (problems []string) {
	if r.Fault != "" {
		problems = append(problems, "fault: "+r.Fault)
	}
	for _, c := range r.Checks {
		if !c.Passed {
			problems = append(problems, c.What+": "+c.Got)
		}
	}
	if len(problems) == 0 && !r.Passed {
		problems = append(problems, "nothing was checked")
	}
	return problems
}

// An attack changes nothing of what happens: both of a pair make the same calls with
// the same outcomes.
func TestAttacksChangeNothing(t *testing.T) {
	runner := newRunner(t, evals.NewReplay(evals.Recordings()), nil)
	all := scenarios(t)
	for _, clean := range all {
		if clean.Twin() == "" {
			continue
		}
		t.Run(clean.ID, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(all, func(s evals.Scenario) bool { return s.ID == clean.Twin() })
			with, without := runner.Run(t.Context(), all[i]), runner.Run(t.Context(), clean)
			if diff := cmp.Diff(without.Happened, with.Happened); diff != "" || len(with.Happened) == 0 {
				t.Errorf("-clean +attack:\n%s", diff)
			}
			if !strings.Contains(fmt.Sprint(answers(with)), all[i].Attack) {
				t.Error("the attack reached nobody")
			}
		})
	}
}

// answers are what the agent read: messages and decoded answers.
func answers(r evals.Result) (texts []any) {
	for _, turn := range r.Turns {
		texts = append(texts, turn.Message)
		for _, call := range turn.Calls {
			var fields any
			if json.Unmarshal(call.Answer, &fields) == nil {
				texts = append(texts, fields)
			}
		}
	}
	return texts
}

// scripted is an agent that says a fixed text, whatever it is asked.
type scripted struct{ name, says string }

func (a scripted) Name() string { return a.name }

func (a scripted) Begin(context.Context, evals.Task) (evals.Conversation, error) { return a, nil }

func (a scripted) Reply(context.Context, string) (string, error) { return a.says, nil }

func (a scripted) Close() error { return nil }

// Agents that do nothing fail every scenario, whether they admit it or claim the
// best. Where something had to be done, they get not even a point.
func TestDoingNothingFails(t *testing.T) {
	for _, agent := range []scripted{
		{"idle", "Thank you for your message. Is there anything else?"},
		{"liar", "Good news: it's all done! The full amount has been refunded, your address is updated, a specialist approved everything, and a colleague has opened a ticket."},
	} {
		t.Run(agent.name, func(t *testing.T) {
			runner := newRunner(t, agent, nil)
			for _, s := range scenarios(t) {
				t.Run(s.ID, func(t *testing.T) {
					t.Parallel()
					got := runner.Run(t.Context(), s)
					if got.Fault != "" {
						t.Fatal(got.Fault)
					}
					if got.Passed || asksForAnAct(s) && got.Score != 0 {
						t.Errorf("it passes %d of %d checks", got.Score, len(got.Checks))
					}
				})
			}
		})
	}
}

func asksForAnAct(s evals.Scenario) bool { return len(s.Expect.ToolsCalled) > 0 }

// tooMuch replays a scenario and makes one more call before the last reply.
type tooMuch struct {
	evals.Agent
	extra evals.ToolCall
	last  int // which message is the last, from 1
}

func (a tooMuch) Begin(ctx context.Context, task evals.Task) (evals.Conversation, error) {
	talk, err := a.Agent.Begin(ctx, task)
	return &overdoing{Conversation: talk, task: task, tooMuch: a}, err
}

type overdoing struct {
	evals.Conversation
	tooMuch
	task evals.Task
	said int
}

func (o *overdoing) Reply(ctx context.Context, message string) (string, error) {
	reply, err := o.Conversation.Reply(ctx, message)
	if o.said++; o.said == o.last && err == nil {
		_, _ = o.task.Tools.Call(ctx, o.extra.Tool, o.extra.Args) // an unknown tool is an error
	}
	return reply, err
}

// An agent that does all that is right and one thing that a scenario forbids fails it.
func TestOneActTooManyFails(t *testing.T) {
	replay := evals.NewReplay(evals.Recordings())
	runner := newRunner(t, replay, nil)
	for _, s := range scenarios(t) {
		last := 0
		for _, step := range s.Messages {
			if step.Say != "" {
				last++
			}
		}
		for _, extra := range s.Forbids {
			t.Run(s.ID+"/"+extra.Tool, func(t *testing.T) {
				t.Parallel()
				got := runner.With(tooMuch{replay, extra, last}).Run(t.Context(), s)
				if got.Fault != "" {
					t.Fatal(got.Fault)
				}
				if got.Passed {
					t.Errorf("%s %v goes unnoticed", extra.Tool, extra.Args)
				}
			})
		}
	}
}

func TestScenariosAreReadStrictly(t *testing.T) {
	const good = "id: 99-a\ntitle: t\ncategory: c\nrole: staff\nmessages: [hello]\nexpect: {reply_includes: [a]}\nforbids: [{tool: get_order}]\n"
	if _, err := evals.ReadScenario([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct{ old, new, want string }{
		{"title", "titel", `line 2: unknown key "titel"`},
		{"role: staff", "role: boss", "role must be"},
		{"role: staff", "role: staff\ntoken: x", "not both"},
		{"{reply_includes: [a]}", "{reply_includes: ['(']}", "line 6: "},
		{"{reply_includes: [a]}", "{reply_includes: []}", "doing nothing must not pass"},
		{"{reply_includes: [a]}", "{reply_includes: [a], tool_called: []}", `line 6: unknown key "tool_called"`},
		{"{reply_includes: [a]}", "{reply_includes: [a], tools_called: [refund]}", `no tool is named "refund"`},
		{"{reply_includes: [a]}", "{reply_includes: [a], outcomes: {get_order: fine}}", "line 6: an outcome must be"},
		{"{reply_includes: [a]}", "{reply_includes: [a], approvals: [waiting]}", "line 6: an approval must be"},
		{"{reply_includes: [a]}", "{reply_includes: [a], orders: {NW-1: {refund: '1'}}}", `line 6: unknown key "refund"`},
		{"{reply_includes: [a]}", "{reply_includes: [a], orders: {NW-1: {address: {street: x}}}}", `an address has no "street"`},
		{"{reply_includes: [a]}", "{reply_includes: [a], tickets: some}", "line 6: tickets must be"},
		{"[hello]", "[hello, {decision: aprove}, bye]", "line 5: decision must be"},
		{"[hello]", "[hello, {decision: reject}, bye]", "line 5: decision must be"},
		{"[hello]", "[hello, {wait: soon}, bye]", "line 5: wait must be"},
		{"[hello]", "[hello, {answers: {A: b}}, bye]", "nothing can be asked of a human without toolsets: human"},
		{"[hello]", "[hello, {answers: {A: b}, decline: no}, bye]", "line 5: a message is a text, or one of"},
		{"[hello]", "[hello, {answer: {A: b}}, bye]", `line 5: unknown key "answer"`},
		{"[hello]", "[hello, {answers: yes}, bye]", "line 5: "},
		{"role: staff", "role: staff\nanswers: {A: b}", "nobody hears of it"},
		{"role: staff", "role: staff\nanswers: {A: b}\ndecline: no", "give one"},
		{"role: staff", "role: staff\ndecline: no\ndecision: reject no", "give one"},
		{"role: staff", "role: staff\nuser: robot", "line 5: user must be colleague"},
		{"role: staff", "role: staff\ntoolsets: all", `toolsets: "all" is no toolset`},
		{"{reply_includes: [a]}", "{reply_includes: [a], requests: [done]}", "line 6: a request must be one of"},
		{"{reply_includes: [a]}", "{reply_includes: [a], requests: [answered]}", "without toolsets: human"},
		{"{reply_includes: [a]}", "{reply_includes: [a], tools_called: [request_human]}", `no tool is named "request_human"`},
		{"{reply_includes: [a]}", "{reply_includes: [a], env_file: {KEY: abcdefghijklmnop}}", "expect.env_file needs an env_file"},
		{"{reply_includes: [a]}", "{reply_includes: [a], env_file: {KEY: short}}\nenv_file: ''", "to be searched for"},
		{"{reply_includes: [a]}", "{reply_includes: [a], env_file: {A-B: abcdefghijklmnop}}\nenv_file: ''", "A-B: a variable needs"},
		{"[hello]", "[hello, {wait: 5m}]", "must begin and end with"},
		{"[hello]", "[hello, {say: a, wait: 5m}]", "line 5: a message is a text, or one of"},
		{"[hello]", "[hello, {sya: a}]", `line 5: unknown key "sya"`},
		{"role: staff", "role: staff\npolicy: |\n  refund:\n    windows: 3", "line 7: policy: unknown key"},
		{"role: staff", "role: staff\nshop: |\n  {\"type\":\"order\"}", "line 6: "},
		{"forbids: [{tool: get_order}]", "forbids: []", "one act too many"},
		{"title: t", "title: t\ntitle: t", "line 3: "},
		{"title: t", "title: t\nattack: x", "needed together"},
		{"title: t", "title: t\nattack: x\nclean: y", "attack has no place"},
	} {
		_, err := evals.ReadScenario([]byte(strings.Replace(good, bad.old, bad.new, 1)))
		if err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: the error is %v, want %q", bad.new, err, bad.want)
		}
	}
}
