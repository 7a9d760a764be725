package tools_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/audit"
	"countersign/store"
)

// faults makes the desk keep the faults that it is told of.
func (s *shop) faults() *[]string {
	heard := new([]string)
	s.desk.Faulted = func(action string, fault error) { *heard = append(*heard, fmt.Sprint(action, ": ", fault)) }
	return heard
}

// Where the database gives up the whole transaction, as it does on a full disk,
// nothing is written outside of it: no effect, and no row that tells of one.
func TestLostTransaction(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "20.00", nil), order("NW-5002", "C-1", "900.00", nil), processing("NW-5003", "C-1"))
	a := s.staff("agent")
	equal(t, "refunded RF-0001 1.00 19.00", a.refund("NW-5001", "1.00"))
	s.sql(`create trigger r before insert on refunds begin select raise(rollback, 'lost'); end;
		create trigger a before insert on approvals begin select raise(rollback, 'lost'); end;
		create trigger t before insert on tickets begin select raise(rollback, 'lost'); end;
		create trigger o before update on orders when old.id = 'NW-5003' begin select raise(rollback, 'lost'); end`)
	business, rows := s.business(), s.rows()
	for _, c := range []struct{ tool, arguments string }{
		{"issue_refund", `{"order_id":"NW-5001","amount":"2.00","reason":"does not fit"}`},
		{"issue_refund", `{"order_id":"NW-5002","reason":"does not fit"}`},
		{"escalate_to_human", `{"summary":"please call me back","category":"other"}`},
		{"update_shipping_address", valid(t, find(t, "update_shipping_address"), fields{"order_id": "NW-5003"})},
		{"request_human", form(nil)},
	} {
		heard := s.faults()
		equal(t, "audit_unavailable", code(a.call(c.tool, c.arguments)))
		if len(*heard) != 2 || !strings.HasSuffix((*heard)[0], ": lost") || !strings.Contains((*heard)[1], "savepoint") {
			t.Errorf("%s: the faults aren't what failed and that the transaction is lost: %q", c.tool, *heard)
		}
		equal(t, business, s.business())
		equal(t, rows, s.rows())
	}

	s.sql("drop trigger r; drop trigger a; drop trigger t; drop trigger o")
	heard := s.faults()
	equal(t, "pending_approval 900.00", strings.Replace(a.refund("NW-5002", ""), " AP-0002", "", 1))
	equal(t, "refunded 2.00 17.00", strings.Replace(a.refund("NW-5001", "2.00"), " RF-0003", "", 1))
	equal(t, len(rows)+2, len(s.rows()))
	if _, err := audit.Verify(t.Context(), s.db, nil); err != nil {
		t.Error(err)
	}
	equal(t, 0, len(*heard))
}

// Whoever runs the server hears why a row couldn't be written, whether the call
// only read or not.
func TestUnwrittenRowIsAFault(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "20.00", nil))
	a := s.staff("agent")
	s.sql("create trigger broken before insert on audit begin select raise(abort, 'full'); end")
	for _, tool := range everyTool {
		heard := s.faults()
		equal(t, "audit_unavailable", code(a.call(tool.Name, valid(t, tool, nil))))
		equal(t, []string{tool.Name + ": audit row: full"}, *heard)
	}
}

// For a caller who is gone before the call begins nothing is done, read or
// recorded; and that is nobody's fault.
func TestCallerIsGone(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "20.00", nil))
	a := s.staff("agent")
	heard := s.faults()
	gone, leave := context.WithCancel(t.Context())
	leave()
	everything, rows := s.everything(), len(s.rows())
	for _, tool := range everyTool {
		res := a.desk.Call(gone, a.caller, tool.Name, []byte(valid(t, tool, nil)))
		equal(t, "audit_unavailable", code(res))
	}
	res, _ := a.desk.Read(gone, a.caller, "countersign://policy")
	equal(t, "audit_unavailable", code(res))
	equal(t, "audit_unavailable", code(a.desk.Prompt(gone, a.caller, "support", nil)))
	equal(t, everything, s.everything())
	equal(t, rows, len(s.rows()))
	equal(t, 0, len(*heard))
}

// So it is for one who leaves while the call waits for its turn to write.
func TestCallerLeavesTheQueue(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "20.00", nil))
	a := s.staff("agent")
	heard := s.faults()
	everything, rows := s.everything(), len(s.rows())
	for _, tool := range everyTool {
		if !tool.ReadOnly {
			res := a.desk.Call(&leaving{Context: t.Context(), looks: 1}, a.caller, tool.Name, []byte(valid(t, tool, nil)))
			equal(t, "audit_unavailable", code(res))
		}
	}
	equal(t, everything, s.everything())
	equal(t, rows, len(s.rows()))
	equal(t, 0, len(*heard))
}

// leaving is a context that is done once it was looked at so often.
type leaving struct {
	context.Context
	looks int
}

func (c *leaving) Err() error {
	if c.looks--; c.looks >= 0 {
		return nil
	}
	return context.Canceled
}

// A request that is filed is answered with its id, whatever comes in the way of
// the look at it that follows: the agent could ask for nothing later without it.
func TestFiledRequestIsTold(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	filed := func(title string) string {
		return pick(t, a.ask(fields{"title": title}), "status request_id error")
	}
	heard := s.faults()
	s.sql("create trigger broken before insert on audit when new.action = 'check_request' begin select raise(abort, 'full'); end")
	equal(t, "pending RQ-0001", filed("The look isn't recorded"))
	equal(t, "pending_approval RQ-0001", s.logged())
	equal(t, []string{"check_request: audit row: full"}, *heard)
	s.sql("drop trigger broken")

	// A form that isn't filed is looked at no further.
	rows := len(s.rows())
	equal(t, "invalid_arguments", filed(""))
	equal(t, rows+1, len(s.rows()))

	// Nor is it lost where the look fails: "nothing was changed" would be wrong.
	s.answers("RQ-0001", code6)
	s.sql("create trigger broken before update on approvals begin select raise(abort, 'full'); end")
	equal(t, "pending RQ-0001", filed("The look isn't recorded"))
	equal(t, "error internal RQ-0001", s.logged())
	equal(t, "internal", a.checked("RQ-0001"))
	s.sql("drop trigger broken")

	// What the look itself has to say is told.
	s.sql("update approvals set result = 'sealed1:00:AA' where id = 'RQ-0001'")
	equal(t, "answer_unreadable", filed("The look isn't recorded"))
}

// A case that ends while its call waits for a human ends the wait; the request
// stays filed.
func TestCaseIsClosedWhileItsCallWaits(t *testing.T) {
	s := open(t)
	a := s.freed("agent")
	s.openCase("C-1", "agent", 8*time.Hour)
	equal(t, "C-1", a.serves())
	answer := a.waits(t.Context(), "request_human", form(fields{"timeout_seconds": 40}))
	if err := s.operator.CloseCase(t.Context(), "agent"); err != nil {
		t.Fatal(err)
	}
	equal(t, "pending RQ-0001", pick(t, <-answer, "status request_id error"))
	equal(t, "denied not_found", s.logged())
}

// What follows a call is for the case that its session knew of when the call
// arrived, though the session is shown another one before it follows.
func TestWhatFollowsIsForTheSameCase(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"))
	a := s.freed("agent")
	s.openCase("C-1", "agent", 8*time.Hour)
	equal(t, "C-1", a.serves())
	s.db.Audited = func(r store.AuditRow) {
		if r.Action == "request_human" {
			go func() { // what follows waits until this lets it go on
				defer s.desk.StopWaiting()
				s.openCase("C-2", "agent", 8*time.Hour)
				equal(t, "C-2", a.serves())
			}()
		}
	}
	equal(t, "pending RQ-0001", pick(t, a.ask(map[string]any{"timeout_seconds": 45}), "status request_id error"))
	equal(t, "denied no_customer", s.logged())
	equal(t, "C-2", a.serves())
}
