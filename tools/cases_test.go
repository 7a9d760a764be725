package tools_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

// freed is an agent that nothing but a case gives a customer.
func (s *shop) freed(name string) agent {
	s.t.Helper()
	a := s.agent(name, policy.Staff, "")
	a.caller.Session = "of " + name
	return a
}

// anew is the same principal in a new session.
func (a agent) anew(session string) agent {
	a.caller.Session = session
	return a
}

func (s *shop) openCase(who, principal string, expires time.Duration) {
	s.t.Helper()
	if _, _, err := s.operator.OpenCase(s.t.Context(), who, principal, expires); err != nil {
		s.t.Fatal(err)
	}
}

// serves is the customer that lookup_customer shows, else the refusal.
func (a agent) serves() string {
	a.t.Helper()
	return pick(a.t, a.call("lookup_customer", ""), "customer_id error")
}

const changed = "The case changed: an operator opened another one for this session since it last knew its customer. " +
	"Call lookup_customer first, then go on for the customer that it shows; nothing was done."

// After a switch each tool that needs a customer or writes does nothing and says
// why, until lookup_customer has shown the new one.
func TestCaseSwitch(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"), order("NW-5001", "C-1", "20.00", nil), order("NW-6001", "C-2", "20.00", nil))
	a := s.freed("agent")
	equal(t, "no_customer", code(a.call("get_order", `{"order_id":"NW-5001"}`)))

	s.openCase("C-1", "agent", 8*time.Hour)
	equal(t, "ok", code(a.call("get_order", `{"order_id":"NW-5001"}`))) // the first case is no switch
	equal(t, "not_found", code(a.call("get_order", `{"order_id":"NW-6001"}`)))

	for _, to := range []string{"C-2", "C-2", "C-1"} { // the same customer again is another case, too
		s.openCase(to, "agent", 8*time.Hour)
		business := s.business()
		for _, tool := range everyTool {
			if tool.ReadOnly && !tool.NeedsCustomer || tool.Name == "lookup_customer" {
				continue
			}
			for _, order := range []string{"NW-5001", "NW-6001"} {
				res := a.call(tool.Name, strings.ReplaceAll(valid(t, tool, nil), "NW-5001", order))
				equal(t, `{"allowed":false,"error":"no_customer","message":"`+changed+`"}`, string(res.JSON))
				equal(t, "denied no_customer", s.logged())
			}
		}
		equal(t, business, s.business())
		equal(t, "ok", code(a.call("search_help_center", `{"query":"returns"}`)))
		equal(t, "invalid_arguments", code(a.call("lookup_customer", `{"customer":"C-1"}`))) // shows nothing
		equal(t, changed, pick(t, a.call("get_order", `{"order_id":"NW-5001"}`), "message"))
		equal(t, to, a.serves())
		own := map[string]string{"C-1": "NW-5001", "C-2": "NW-6001"}[to]
		equal(t, "ok", code(a.call("get_order", fmt.Sprintf(`{"order_id":%q}`, own))))
	}
	equal(t, "ok", code(a.anew("another").call("get_order", `{"order_id":"NW-5001"}`))) // which hasn't worked for anybody
}

// A request is of the customer whose case was open when it was filed; a switch
// while its call waits for a human ends the wait.
func TestCaseSwitchAndRequests(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"))
	a := s.freed("agent")
	s.openCase("C-1", "agent", 8*time.Hour)
	equal(t, "C-1", a.serves())
	equal(t, "pending RQ-0001", pick(t, a.ask(nil), "status request_id"))

	s.openCase("C-2", "agent", 8*time.Hour)
	equal(t, changed, pick(t, a.check("RQ-0001", 0), "message"))
	equal(t, changed, pick(t, a.ask(nil), "message"))
	equal(t, "C-2", a.serves())
	equal(t, "not_found", a.checked("RQ-0001"))
	equal(t, "denied not_found", s.logged())
	equal(t, "pending RQ-0002", pick(t, a.ask(nil), "status request_id"))
	s.openCase("C-1", "agent", 8*time.Hour)
	equal(t, "C-1", a.serves())
	equal(t, "pending", a.checked("RQ-0001"))
	s.answers("RQ-0001", code6)
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0001"))

	for _, c := range []struct{ tool, arguments, want string }{
		{"request_human", form(fields{"title": "Another", "timeout_seconds": 40}), "pending RQ-0003"},
		{"check_request", `{"request_id":"RQ-0003","wait_seconds":40}`, changed},
	} {
		answer := a.waits(t.Context(), c.tool, c.arguments)
		s.openCase("C-2", "agent", 8*time.Hour)
		equal(t, c.want, pick(t, <-answer, "status request_id message"))
		equal(t, "denied no_customer", s.logged())
		s.openCase("C-1", "agent", 8*time.Hour)
		equal(t, "C-1", a.serves())
	}
}

// A case ends at its time, or when it is closed; whatever comes next has to be
// looked at.
func TestCaseEnds(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"), order("NW-5001", "C-1", "20.00", nil))
	a := s.freed("agent")
	get := func() string { return pick(t, a.call("get_order", `{"order_id":"NW-5001"}`), "order_id message") }
	ended := "get_order works for one customer, and this session has none. No argument can set it: its case was closed or has expired; an operator opens the next one."

	s.openCase("C-1", "agent", time.Hour)
	equal(t, "NW-5001", get())
	s.clock.Advance(time.Hour - time.Microsecond)
	equal(t, "NW-5001", get())
	s.clock.Advance(time.Microsecond)
	equal(t, ended, get())
	equal(t, "no_customer", a.serves())
	s.openCase("C-1", "agent", time.Hour)
	equal(t, changed, get())
	equal(t, "C-1", a.serves())
	equal(t, "NW-5001", get())

	if err := s.operator.CloseCase(t.Context(), "agent"); err != nil {
		t.Fatal(err)
	}
	equal(t, ended, get())
	s.openCase("NW-5001", "agent", time.Hour)
	equal(t, changed, get())
	equal(t, "C-1", a.serves())
	equal(t, "NW-5001", get())
}

// What says the customer more firmly wins: the token's own, then the session's.
// A claim that fits nobody isn't filled by a case.
func TestCaseComesLast(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"), customer("C-3"))
	a := s.freed("agent")
	s.openCase("C-1", "agent", time.Hour)
	equal(t, "C-2", a.as("C-2").serves())
	equal(t, "no_customer", a.as("C-404").serves())
	equal(t, "C-1", a.serves())
	s.openCase("C-2", "agent", time.Hour)
	equal(t, "C-3", a.as("C-3").serves())
	equal(t, "no_customer", code(a.call("get_order", `{"order_id":"NW-5001"}`)))

	made, token, err := s.operator.CreateToken(t.Context(), settle.TokenRequest{Name: "pinned", Kind: policy.Agent, Role: policy.Staff, Customer: "C-3"})
	if err != nil {
		t.Fatal(err)
	}
	s.tx(func(tx *store.Tx) error { // which the office refuses
		c, err := tx.CustomerByID("C-1")
		if err != nil {
			return err
		}
		_, err = tx.AddCase(store.Case{Principal: made.ID, Customer: c.Key, OpenedBy: made.ID, Expires: tx.Now.Add(time.Hour)})
		return err
	})
	pinned := agent{s, tools.Caller{Token: token, Door: "mcp", Session: "of pinned"}}
	equal(t, "C-3", pinned.serves())

	if _, err := s.operator.RevokeToken(t.Context(), "agent"); err != nil {
		t.Fatal(err)
	}
	equal(t, "no_customer", a.serves())
}

// Calls in flight while an operator switches act for the customer that their
// session was shown before they arrived, or for nobody: a ticket about one
// customer's order never lands at another.
func TestCaseSwitchWithCallsInFlight(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"))
	a := s.freed("agent")
	s.openCase("C-1", "agent", time.Hour)
	equal(t, "C-1", a.serves())
	s.openCase("C-2", "agent", time.Hour)

	// The writer is held while all of them arrive: each was sent by somebody who
	// knew of C-1 alone, whichever of them is served first.
	const calls = 12
	results := make([]tools.Result, calls)
	var wg sync.WaitGroup
	release, held := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		err := s.db.Tx(context.Background(), func(*store.Tx) error {
			close(held)
			<-release
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	arrived := make(chan struct{}, calls)
	for i := range results {
		wg.Go(func() {
			tool, arguments := "escalate_to_human", fmt.Sprintf(`{"summary":"About the parcel number %d of C-1","category":"order"}`, i)
			if i%3 == 0 {
				tool, arguments = "lookup_customer", ""
			}
			tell := sync.OnceFunc(func() { arrived <- struct{}{} })
			ctx := caller{context.Background(), func() error { tell(); return nil }}
			results[i] = a.desk.Call(ctx, a.caller, tool, []byte(arguments))
		})
	}
	for range calls {
		<-arrived
	}
	close(release)
	wg.Wait()
	for i, res := range results {
		if i%3 == 0 {
			equal(t, "C-2", pick(t, res, "customer_id error"))
		} else {
			equal(t, changed, pick(t, res, "message"))
		}
	}
	equal(t, "", s.dump("tickets"))
	equal(t, "ok", code(a.call("escalate_to_human", `{"summary":"About the parcel of C-2","category":"order"}`)))
}

// caller is the context of one who may have gone. A call asks for that once it
// has arrived, and again when it has an answer.
type caller struct {
	context.Context
	gone func() error
}

func (c caller) Err() error { return c.gone() }

// A customer whom nobody was shown isn't known: not where the log can't be
// written, and not where the caller has gone.
func TestCaseIsKnownOnceItWasShown(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"), order("NW-6001", "C-2", "20.00", nil))
	a := s.freed("agent")
	s.openCase("C-1", "agent", time.Hour)
	equal(t, "C-1", a.serves())
	s.openCase("C-2", "agent", time.Hour)

	s.sql("create trigger broken before insert on audit begin select raise(abort, 'full'); end")
	equal(t, "audit_unavailable", a.serves())
	s.sql("drop trigger broken")
	equal(t, changed, pick(t, a.call("get_order", `{"order_id":"NW-6001"}`), "message"))

	asked := 0
	leaving := caller{context.Background(), func() error {
		if asked++; asked > 1 {
			return context.Canceled
		}
		return nil
	}}
	equal(t, "C-2", pick(t, a.desk.Call(leaving, a.caller, "lookup_customer", nil), "customer_id error"))
	equal(t, changed, pick(t, a.call("get_order", `{"order_id":"NW-6001"}`), "message"))
	equal(t, "C-2", a.serves())
	equal(t, "ok", code(a.call("get_order", `{"order_id":"NW-6001"}`)))
}
