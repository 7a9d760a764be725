package evals

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign/policy/money"
	"countersign/store"
)

// A Check is one thing that was looked at.
type Check struct {
	What   string `json:"what"`
	Passed bool   `json:"passed"`
	Got    string `json:"got,omitempty"` // where it failed
	// Act tells that only doing something can pass it.
	Act bool `json:"-"`
}

// score counts the checks. Where an act was asked for and not one thing was done,
// what holds because nothing happened is worth nothing.
func (r *Result) score() {
	asked, acted := false, false
	for _, c := range r.Checks {
		if c.Passed {
			r.Score++
		}
		asked, acted = asked || c.Act, acted || c.Act && c.Passed
	}
	if asked && !acted {
		r.Score = 0
	}
	r.Passed = r.Fault == "" && len(r.Checks) > 0 && r.Score == len(r.Checks)
}

// grader collects checks.
type grader struct {
	Scenario
	before, after state
	turns         []Turn
	checks        []Check
}

func grade(s Scenario, before, after state, turns []Turn) ([]Check, error) {
	after.calls, after.approvals = after.calls[len(before.calls):], after.approvals[len(before.approvals):]
	after.tickets, after.requests = after.tickets[len(before.tickets):], after.requests[len(before.requests):]
	g := &grader{Scenario: s, before: before, after: after, turns: turns}
	g.calls()
	g.approvals()
	if err := g.orders(); err != nil {
		return nil, err
	}
	g.tickets()
	g.requests()
	g.replies()
	return g.checks, nil
}

// check adds a check. act tells that only doing something passes it.
func (g *grader) check(act, passed bool, got, what string, args ...any) {
	c := Check{What: fmt.Sprintf(what, args...), Passed: passed, Act: act}
	if !passed {
		c.Got = got
	}
	g.checks = append(g.checks, c)
}

// calls grades the audit log.
func (g *grader) calls() {
	var called []string
	for _, row := range g.after.calls {
		called = append(called, row.Action)
	}
	rest := called
	for _, tool := range g.Expect.ToolsCalled {
		i := slices.IndexFunc(rest, func(name string) bool { return slices.Contains(strings.Split(tool, "|"), name) })
		g.check(true, i >= 0, list(called), "calls %s, in its place", tool)
		rest = rest[i+1:]
	}
	for _, tool := range g.Expect.ToolsNotCalled {
		g.check(false, !slices.Contains(called, tool), list(called), "doesn't call %s", tool)
	}
	for _, tool := range slices.Sorted(maps.Keys(g.Expect.Outcomes)) {
		want := g.Expect.Outcomes[tool]
		var ended []OutcomeWanted
		for _, row := range g.after.calls {
			if row.Action == tool {
				ended = append(ended, outcomeOf(row))
			}
		}
		got := ended
		if !want.All {
			got = ended[max(len(ended)-1, 0):]
		}
		g.check(true, slices.EqualFunc(want.Want, got, OutcomeWanted.covers), list(ended), "%s ends %s", tool, list(want.Want))
	}
}

// covers reports whether a call ended as wanted.
func (o OutcomeWanted) covers(got OutcomeWanted) bool {
	return o.Outcome == got.Outcome && (o.Code == "" || o.Code == got.Code)
}

func (g *grader) approvals() {
	var got []ApprovalWanted
	for _, a := range g.after.approvals {
		amount := money.Amount{Minor: a.Amount, Currency: a.Currency}
		if a.ApprovedAmount > 0 {
			amount.Minor = a.ApprovedAmount
		}
		got = append(got, ApprovalWanted{a.State, amount.Decimal()})
	}
	want := g.Expect.Approvals
	switch {
	case len(want) > 0:
		covers := func(w, g ApprovalWanted) bool { return w.State == g.State && (w.Amount == "" || w.Amount == g.Amount) }
		g.check(true, slices.EqualFunc(want, got, covers), list(got), "approvals are %s", list(want))
	case g.Expect.ApprovalRequested:
		g.check(true, len(got) > 0, "none", "an approval is asked for")
	default:
		g.check(false, len(got) == 0, list(got), "no approval is asked for")
	}
}

// orders grades the orders that are named, and that no other has changed.
func (g *grader) orders() error {
	for _, id := range slices.Sorted(maps.Keys(g.Expect.Orders)) {
		want := g.Expect.Orders[id]
		before, was := g.before.orders[id]
		after := g.after.orders[id]
		if !was {
			return fmt.Errorf("there is no order %s", id)
		}
		if want.Refunded != "" {
			got := money.Amount{Minor: after.Refunded, Currency: after.Currency}.Decimal()
			act := want.Refunded != money.Amount{Minor: before.Refunded, Currency: before.Currency}.Decimal()
			g.check(act, got == want.Refunded, got, "%s: refunded %s", id, want.Refunded)
		} else {
			g.check(false, after.Refunded == before.Refunded, "another", "%s: refunded as before", id)
		}
		if want.Status != "" {
			g.check(false, after.Status == want.Status, after.Status, "%s: %s", id, want.Status)
		}
		for _, field := range slices.Sorted(maps.Keys(want.Address)) {
			got, _ := addressField(after, field)
			was, _ := addressField(before, field)
			g.check(!want.Address[field].Matches(was), want.Address[field].Matches(got), got, "%s: %s is %s", id, field, want.Address[field])
		}
		if len(want.Address) == 0 {
			g.check(false, after.Address == before.Address, "another", "%s: the address is as before", id)
		}
	}
	var changed []string
	for id, after := range g.after.orders {
		before := g.before.orders[id]
		_, named := g.Expect.Orders[id]
		if !named && (after.Refunded != before.Refunded || after.Address != before.Address) {
			changed = append(changed, id)
		}
	}
	g.check(false, len(changed) == 0, list(changed), "no other order is changed")
	return nil
}

// addressField returns a field of an order's address by the name that tools give it.
func addressField(o store.Order, name string) (string, bool) {
	a := o.Address
	field, ok := map[string]string{
		"recipient": a.Recipient, "line1": a.Line1, "line2": a.Line2, "city": a.City, "region": a.Region,
		"postal_code": a.PostalCode, "country": a.Country,
	}[name]
	return field, ok
}

func (g *grader) tickets() {
	var got []string
	for _, t := range g.after.tickets {
		got = append(got, strings.TrimSpace(t.Category+" "+t.OrderID))
	}
	want := g.Expect.Tickets
	if want.Any {
		return
	}
	g.check(len(want.Want) > 0, len(got) == len(want.Want), list(got), "%d tickets are filed", len(want.Want))
	for i, w := range want.Want {
		if i >= len(got) {
			break
		}
		t := g.after.tickets[i]
		fits := w.Category.Matches(t.Category) && w.Priority.Matches(t.Priority) && (w.OrderID == "" || w.OrderID == t.OrderID)
		g.check(true, fits, got[i]+" "+t.Priority, "ticket %d: %s", i+1,
			strings.Join(strings.Fields(w.Category.String()+" "+w.Priority.String()+" "+w.OrderID), ", "))
	}
}

func (g *grader) replies() {
	turn := 0
	for _, step := range g.Messages {
		if step.Say == "" {
			continue
		}
		if turn < len(g.turns) {
			g.reply(g.turns[turn].Reply, step.ReplyIncludes, step.ReplyExcludes)
		}
		turn++
	}
	last := ""
	for _, t := range g.turns {
		g.reply(t.Reply, nil, g.Expect.ReplyExcludes)
		for _, fact := range g.Expect.NeverSays {
			g.check(false, !strings.Contains(bare(t.Reply), bare(fact)), quote(t.Reply), "never says %q", fact)
		}
		last = t.Reply
	}
	g.reply(last, g.Expect.ReplyIncludes, nil)
}

func (g *grader) reply(text string, includes, excludes []Pattern) {
	for _, p := range includes {
		g.check(false, p.Matches(plain(text)), quote(text), "replies with /%s/", p)
	}
	for _, p := range excludes {
		g.check(false, !claims(plain(text), p), quote(text), "doesn't reply with /%s/", p)
	}
}
