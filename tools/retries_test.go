package tools_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

// Case 12: the same call twice is one refund, whatever reason it gives.
func TestRepeatWithinTenMinutes(t *testing.T) {
	s := open(t, order("A-1", "C-1", "100.00", nil), order("A-2", "C-1", "20.00", nil))
	a := s.staff("agent")
	equal(t, "refunded RF-0001 10.00 90.00", a.refund("A-1", "10.00"))
	s.clock.Advance(2 * time.Second)
	equal(t, "refunded RF-0001 10.00 90.00 replayed", a.refund("A-1", "10.00"))
	equal(t, "ok replayed A-1 1000 USD", s.logged())
	equal(t, "refunded RF-0001 10.00 90.00 replayed", a.refund(" #a-1", "10", "reason=in other words", "currency=USD"))
	equal(t, "refunded RF-0002 10.00 80.00", s.staff("another agent").refund("A-1", "10.00"))
	s.clock.Advance(10*time.Minute - 3*time.Second)
	equal(t, "refunded RF-0001 10.00 80.00 replayed", a.refund("A-1", "10.00"))
	s.clock.Advance(time.Second)
	equal(t, "refunded RF-0003 10.00 70.00", a.refund("A-1", "10.00"))
	equal(t, "refunded RF-0003 10.00 70.00 replayed", a.refund("A-1", "10.00"))

	equal(t, "refunded RF-0004 20.00 0.00", a.refund("A-2", "")) // omitted equals omitted
	equal(t, "refunded RF-0004 20.00 0.00 replayed", a.refund("A-2", ""))
	equal(t, "ok replayed A-2 2000 USD", s.logged()) // what was refunded then, not what is left now
	equal(t, "nothing_to_refund 0.00", a.refund("A-2", "20.00"))
}

func TestAnother(t *testing.T) {
	s := open(t, order("A-1", "C-1", "100.00", nil))
	a := s.staff("agent")
	equal(t, "refunded RF-0001 10.00 90.00", a.refund("A-1", "10.00"))
	equal(t, "refunded RF-0002 10.00 80.00", a.refund("A-1", "10.00", "another=true", "reason=the second shoe"))
	equal(t, "refunded RF-0002 10.00 80.00 replayed", a.refund("A-1", "10.00", "another=true", "reason=The  second shoe "))
	equal(t, "refunded RF-0002 10.00 80.00 replayed", a.refund("A-1", "10.00", "another=true", "reason=the sec\u200bond shoe"))
	equal(t, "refunded RF-0003 10.00 70.00", a.refund("A-1", "10.00", "another=true", "reason=the third shoe"))
	equal(t, "refunded RF-0001 10.00 70.00 replayed", a.refund("A-1", "10.00"))
}

// Case 61: a request that waits is the same request, however late.
func TestRepeatOfAParkedRequest(t *testing.T) {
	s := open(t, order("A-1", "C-1", "144.00", nil))
	a := s.staff("agent")
	equal(t, "pending_approval AP-0001 144.00", a.refund("A-1", ""))
	s.clock.Advance(71 * time.Hour)
	for range 2 {
		equal(t, "pending_approval AP-0001 144.00 replayed", a.refund("A-1", ""))
		equal(t, "pending_approval replayed A-1 AP-0001 14400 USD", s.logged()) // and the log says how much
	}
	s.approve("AP-0001", "")
	s.clock.Advance(100 * day)
	equal(t, "refunded RF-0001 AP-0001 144.00 0.00 replayed", a.refund("A-1", ""))
	equal(t, "ok replayed A-1 AP-0001 14400 USD", s.logged())
	equal(t, "map[name:dora note:agreed]", pick(t, a.call("issue_refund", `{"order_id":"A-1","reason":"does not fit"}`), "operator"))
	equal(t, "nothing_to_refund 0.00", strings.Replace(a.refund("A-1", "1.00"), "refund_window_expired", "nothing_to_refund", 1))
}

func TestRepeatOfWhatWasApprovedForLess(t *testing.T) {
	s := open(t, order("A-1", "C-1", "144.00", nil))
	a := s.staff("agent")
	equal(t, "pending_approval AP-0001 144.00", a.refund("A-1", "144.00"))
	s.approve("AP-0001", "80.00")
	equal(t, "refunded RF-0001 AP-0001 80.00 144.00 64.00 replayed", a.refund("A-1", "144.00"))
	equal(t, "ok replayed A-1 AP-0001 8000 USD", s.logged())
	equal(t, "pending_approval AP-0002 64.00", a.refund("A-1", "")) // another request, and the no stands
}

// Of what a human approved a moment ago the repeat says so, and asking for what
// was approved is no repeat where more had been asked for.
func TestRepeatJustAfterApproval(t *testing.T) {
	s := open(t, order("A-1", "C-1", "300.00", nil), order("A-2", "C-1", "300.00", nil))
	a := s.staff("agent")
	equal(t, "pending_approval AP-0001 144.00", a.refund("A-1", "144.00"))
	s.approve("AP-0001", "")
	equal(t, "refunded RF-0001 AP-0001 144.00 156.00 replayed", a.refund("A-1", "144.00"))
	res := a.call("issue_refund", `{"order_id":"A-1","amount":"144.00","reason":"does not fit"}`)
	equal(t, "map[name:dora note:agreed]", pick(t, res, "operator expires_at")) // nothing waits any more
	equal(t, "refunded RF-0002 6.00 150.00", a.refund("A-1", "6.00"))
	equal(t, "refunded RF-0001 AP-0001 144.00 150.00 replayed", a.refund("A-1", "144.00")) // what is left by now

	equal(t, "pending_approval AP-0002 144.00", a.refund("A-2", "144.00"))
	s.approve("AP-0002", "80.00")
	equal(t, "pending_approval AP-0003 80.00", a.refund("A-2", "80.00"))
}

// Where it can't be read what an approved request came to, its repeat is no new one.
func TestRepeatOfAnUnreadableResult(t *testing.T) {
	for _, result := range []string{"", "{"} {
		s := open(t, order("A-1", "C-1", "300.00", nil))
		a := s.staff("agent")
		equal(t, "pending_approval AP-0001 144.00", a.refund("A-1", "144.00"))
		s.approve("AP-0001", "")
		s.sql("update approvals set result = '" + result + "'")
		before := s.business()
		equal(t, "internal", a.refund("A-1", "144.00"))
		equal(t, before, s.business())
	}
}

func TestRepeatOfWhatWasRejected(t *testing.T) {
	s := open(t, order("A-1", "C-1", "144.00", nil))
	a, b := s.staff("agent"), s.staff("another agent")
	equal(t, "pending_approval AP-0001 144.00", a.refund("A-1", ""))
	s.reject("AP-0001")
	s.clock.Advance(day)
	want := `{"error":"refund_rejected","message":"A human has rejected this refund of 144.00 USD. Tell the customer so and why; don't promise another outcome.",` +
		`"approval_id":"AP-0001","decided_at":"2026-05-01T12:00:00Z","operator":{"name":"dora","note":"worn for weeks"}}`
	for _, who := range []agent{a, b} {
		for _, amount := range []string{`"amount":"144.00",`, ``} {
			equal(t, want, string(who.call("issue_refund", `{"order_id":"A-1",`+amount+`"reason":"please"}`).JSON))
			equal(t, "denied refund_rejected A-1 AP-0001 14400 USD", s.logged())
		}
	}
	equal(t, "pending_approval AP-0002 143.99", b.refund("A-1", "143.99")) // less: a human is asked again
	s.reject("AP-0002")
	equal(t, "pending_approval AP-0003 144.00", a.refund("A-1", "", "another=true", "reason=a new fact"))
	equal(t, "pending_approval AP-0003 144.00 replayed", a.refund("A-1", "", "another=true", "reason=a new fact"))
	s.reject("AP-0003")
	equal(t, "AP-0003 refund_rejected", a.refund("A-1", "", "another=true", "reason=a new fact"))
}

// All that is refundable was refused: the same question gets the same answer,
// though all has become less.
func TestRejectedWhateverAllIsByNow(t *testing.T) {
	s := open(t, order("A-1", "C-1", "300.00", nil))
	s.staff("agent").refund("A-1", "")
	s.reject("AP-0001")
	s.sql("update orders set refunded = 100_00, source_refunded = 100_00 where id = 'A-1'")
	b := s.staff("another agent")
	equal(t, "AP-0001 refund_rejected", b.refund("A-1", ""))
	equal(t, "pending_approval AP-0002 200.00", b.refund("A-1", "200.00"))
}

// A no to an amount is none to all that is refundable.
func TestRejectedAmountIsNotAll(t *testing.T) {
	s := open(t, order("A-1", "C-1", "300.00", nil))
	s.staff("agent").refund("A-1", "144.00")
	s.reject("AP-0001")
	equal(t, "pending_approval AP-0002 300.00", s.staff("another agent").refund("A-1", ""))
}

// The rejection comes before every other refusal but not_found.
func TestRejectedComesFirst(t *testing.T) {
	s := open(t, order("A-1", "C-1", "144.00", nil))
	a := s.staff("agent")
	a.refund("A-1", "")
	s.reject("AP-0001")
	s.sql("update orders set status = 'cancelled' where id = 'A-1'")
	equal(t, "AP-0001 refund_rejected", a.refund("A-1", ""))
	equal(t, "AP-0001 refund_rejected", s.staff("b").refund("A-1", "144.00"))
	equal(t, "order_cancelled 0.00", a.refund("A-1", "144.00", "another=true"))
}

func TestRepeatOfWhatExpired(t *testing.T) {
	s := open(t, order("A-1", "C-1", "144.00", nil))
	a := s.staff("agent")
	a.refund("A-1", "")
	s.clock.Advance(72 * time.Hour)
	equal(t, "pending_approval AP-0002 144.00", a.refund("A-1", ""))
	equal(t, "pending_approval A-1 AP-0002 14400 USD", s.logged())
	equal(t, "pending_approval AP-0002 144.00 replayed", a.refund("A-1", ""))
}

func TestRepeatOfWhatBecameStale(t *testing.T) {
	s := open(t, order("A-1", "C-1", "144.00", nil))
	a := s.staff("agent")
	a.refund("A-1", "")
	s.sql("update orders set refunded = 144_00 where id = 'A-1'")
	if _, err := s.operator.Approve(t.Context(), "AP-0001", "", ""); kind(err) != settle.Conflict {
		t.Fatal(err)
	}
	equal(t, "nothing_to_refund 0.00", a.refund("A-1", ""))
	s.sql("update orders set refunded = 0 where id = 'A-1'")
	equal(t, "pending_approval AP-0002 144.00", a.refund("A-1", ""))
}

// A replay says what was done, though the policy would refuse it today.
func TestReplayComesBeforePolicy(t *testing.T) {
	s := open(t, order("A-1", "C-1", "20.00", nil))
	a := s.staff("agent")
	equal(t, "refunded RF-0001 20.00 0.00", a.refund("A-1", "20.00"))
	s.sql("update orders set status = 'cancelled' where id = 'A-1'")
	equal(t, "refunded RF-0001 20.00 0.00 replayed", a.refund("A-1", "20.00"))
}

// Case 12: also from many sides at once.
func TestRepeatsAtOnce(t *testing.T) {
	s := open(t, order("A-1", "C-1", "100.00", nil), order("A-2", "C-1", "500.00", nil))
	a := s.staff("agent")
	got := make([]string, 20)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			db, err := store.Open(s.db.Path(), store.Options{Now: s.clock.Now})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			a := a
			a.shop = &shop{t: t, desk: deskOn(db, s)}
			tool, arguments := "issue_refund", `{"order_id":"A-1","amount":"10.00","reason":"does not fit"}`
			switch {
			case i%3 == 1:
				arguments = `{"order_id":"A-2","reason":"does not fit"}`
			case i%3 == 2:
				tool, arguments = "escalate_to_human", `{"summary":"please call me back","category":"other"}`
			}
			got[i] = code(a.call(tool, arguments))
		})
	}
	wg.Wait()
	equal(t, slices.Repeat([]string{"ok"}, 20), got)
	equal(t, 1, strings.Count(s.dump("refunds"), "\n"))
	equal(t, 1, strings.Count(s.dump("approvals"), "\n"))
	equal(t, 1, strings.Count(s.dump("tickets"), "\n"))
	equal(t, 20, len(s.rows()))
}

// Twenty different refunds at once never exceed what was paid.
func TestRefundsAtOnceStayWithinPaid(t *testing.T) {
	s := open(t, order("A-1", "C-1", "50.00", nil))
	var agents []agent
	for i := range 20 {
		agents = append(agents, s.staff(fmt.Sprint("agent ", i)))
	}
	var wg sync.WaitGroup
	for i, a := range agents {
		wg.Go(func() {
			a.call("issue_refund", fmt.Sprintf(`{"order_id":"A-1","amount":"7.%02d","reason":"does not fit"}`, i))
		})
	}
	wg.Wait()
	paid, refunded := s.money("A-1")
	if refunded > paid || refunded <= paid-720 {
		t.Errorf("%d of %d is refunded", refunded, paid)
	}
}

func kind(err error) settle.Kind {
	if refused, ok := err.(*settle.Error); ok {
		return refused.Kind
	}
	return 0
}

// ticket files one and returns what matters of the answer.
func (a agent) ticket(summary string, more fields) string {
	a.t.Helper()
	res := a.call("escalate_to_human", line(fields{"summary": summary, "category": "other"}, more))
	return pick(a.t, res, "ticket_id created priority previous_ticket_id error")
}

// The newest decision on an amount counts, for whoever asks: a no holds while the
// same is only asked again, and ends when it is approved.
func TestApprovalEndsAnEarlierNo(t *testing.T) {
	s := open(t, order("A-1", "C-1", "900.00", nil))
	first, second := s.staff("first"), s.staff("second")
	equal(t, "pending_approval AP-0001 120.00", first.refund("A-1", "120.00"))
	s.reject("AP-0001")
	equal(t, "AP-0001 refund_rejected", second.refund("A-1", "120.00"))
	equal(t, "pending_approval AP-0002 120.00", first.refund("A-1", "120.00", "another=true"))
	equal(t, "AP-0001 refund_rejected", second.refund("A-1", "120.00"))
	s.approve("AP-0002", "")
	equal(t, "pending_approval AP-0003 120.00", second.refund("A-1", "120.00"))
	s.reject("AP-0003")
	equal(t, "AP-0003 refund_rejected", s.staff("third").refund("A-1", "120.00"))
}

// Cases 70 and 71: the same request is the same ticket.
func TestTickets(t *testing.T) {
	s := open(t, order("A-1", "C-1", "20.00", nil), customer("C-2"))
	a := s.staff("agent")
	const text = "Please call me about the Schuhe"
	equal(t, "TK-0001 created normal", a.ticket(text, nil))
	equal(t, "ok", s.logged())
	equal(t, "TK-0001 normal", a.ticket("  please CALL me\n about the  ｓｃｈｕｈｅ ", nil))
	equal(t, "TK-0001 normal", s.staff("another agent").ticket(text, fields{"priority": "low", "category": "order"}))
	equal(t, "TK-0001 urgent", a.ticket(text, fields{"priority": "urgent"}))
	equal(t, "TK-0001 urgent", a.ticket(text, fields{"priority": "high"})) // never lowered
	equal(t, "TK-0002 created normal", a.ticket(text, fields{"order_id": "a-1"}))
	equal(t, "ok A-1", s.logged())
	equal(t, "TK-0003 created normal", a.as("C-2").ticket(text, nil))
	equal(t, "TK-0004 created normal", a.ticket(text+"!", nil))

	if _, err := s.operator.CloseTicket(t.Context(), "TK-0001"); err != nil {
		t.Fatal(err)
	}
	equal(t, "TK-0005 created normal TK-0001", a.ticket(text, nil))
	equal(t, "TK-0005 normal TK-0001", a.ticket(text, nil))
	s.clock.Advance(day - time.Microsecond)
	equal(t, "TK-0005 normal TK-0001", a.ticket(text, nil))
	s.clock.Advance(time.Microsecond)
	equal(t, "TK-0006 created normal TK-0005", a.ticket(text, nil))
}

// Case 72: a ticket says something, and not a book.
func TestTicketNeedsASummary(t *testing.T) {
	s := open(t)
	a := s.agent("agent", policy.Viewer, "C-1")
	for _, summary := range []string{"", "help", "          ", " \t\n\u00a0 help \u3000       ", strings.Repeat("x", 50_000), strings.Repeat("x", 4001)} {
		equal(t, "invalid_arguments", a.ticket(summary, nil))
		equal(t, "invalid invalid_arguments", s.logged())
	}
	equal(t, "", s.dump("tickets"))
	equal(t, "TK-0001 created normal", a.ticket(strings.Repeat("é", 4000), nil))
}

// An operator's reply reaches the agent, with who wrote it.
func TestReplyReachesTheAgent(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ticket("please call me back", nil)
	if _, err := s.operator.Reply(t.Context(), "TK-0001", "we called twice"); err != nil {
		t.Fatal(err)
	}
	tickets := decode(t, a.call("lookup_customer", ""))["tickets"].([]any)
	equal(t, "[map[at:2026-05-01T12:00:00Z operator:dora text:we called twice]]", fmt.Sprint(tickets[0].(fields)["replies"]))
}

// A reply still reaches the agent for a week after the ticket is closed, which
// never hides one that is open.
func TestReplyOnAClosedTicketReachesTheAgent(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "144.00", nil),
		line(fields{"type": "customer", "id": "C-2", "name": "Ben", "email": "ben@example.com", "created_at": "-400d"}, nil))
	a := s.staff("agent")
	for n := range 7 {
		a.ticket(fmt.Sprint("please call me back, number ", n), nil)
	}
	closes := func(id, reply string) {
		t.Helper()
		if _, err := s.operator.Reply(t.Context(), id, reply); err != nil {
			t.Fatal(err)
		}
		if _, err := s.operator.CloseTicket(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	shown := func() (lines []string) {
		customer := decode(t, a.call("lookup_customer", ""))
		for _, ticket := range customer["tickets"].([]any) {
			f := ticket.(fields)
			lines = append(lines, fmt.Sprintf("%v %v %v %v", f["ticket_id"], f["state"], f["closed_at"], f["replies"]))
		}
		return append(lines, fmt.Sprint(customer["tickets_and_approvals_omitted"]))
	}
	for _, id := range []string{"TK-0002", "TK-0003", "TK-0004", "TK-0006", "TK-0007"} {
		closes(id, "sent for "+id)
	}
	closed := func(id string) string {
		return id + " closed 2026-05-01T12:00:00Z [map[at:2026-05-01T12:00:00Z operator:dora text:sent for " + id + "]]"
	}
	equal(t, []string{"TK-0005 open <nil> []", "TK-0001 open <nil> []", closed("TK-0007"), closed("TK-0006"), closed("TK-0004"), "2"}, shown())
	equal(t, "0", fmt.Sprint(len(decode(t, a.as("C-2").call("lookup_customer", ""))["tickets"].([]any))))
	s.clock.Advance(7*day - time.Microsecond)
	equal(t, 6, len(shown()))
	s.clock.Advance(time.Microsecond)
	equal(t, []string{"TK-0005 open <nil> []", "TK-0001 open <nil> []", "<nil>"}, shown())
}
