package settle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign/approvals"
	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

// decisions is the audit rows of operators with what each was about: the order,
// the customer's key, and how much.
func (s *shop) decisions() (rows []string) {
	s.t.Helper()
	err := s.db.View(context.Background(), func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{}, func(r store.AuditRow) error {
			amount := "none"
			if r.Amount != nil {
				amount = fmt.Sprint(*r.Amount)
			}
			if r.Door == string(audit.CLI) {
				rows = append(rows, fmt.Sprint(r.Actor, " ", r.Action, " ", r.OrderID, " ", r.Customer, " ", amount, r.Currency, " ", r.Outcome, " ", r.Code))
			}
			return nil
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// The log says of every decision which order and customer it was about and how
// much was decided: what was approved where it was done, else what was asked for.
func TestDecisionsSayHowMuch(t *testing.T) {
	s := open(t)
	less, none := s.parked("A-1", "144.00"), s.parked("A-2", "50.00")
	refused(t, s.approve("dora", less, "150.00"), settle.Invalid, policy.InvalidArguments,
		"amount: AP-0001 asks for 144.00 USD; approve that or less, above zero")
	if err := s.approve("dora", less, "80.00"); err != nil {
		t.Fatal(err)
	}
	if err := s.approve("emil", less, ""); err == nil {
		t.Error("decided twice")
	}
	if err := s.reject("emil", none); err != nil {
		t.Fatal(err)
	}
	if err := s.reject("dora", "AP-0009"); err == nil {
		t.Error("decided what there isn't")
	}
	equal(t, []string{
		"dora approvals approve A-1 cu_0001 14400USD invalid invalid_arguments",
		"dora approvals approve A-1 cu_0001 8000USD ok ",
		"emil approvals approve A-1 cu_0001 14400USD denied already_decided",
		"emil approvals reject A-2 cu_0001 5000USD ok ",
		"dora approvals reject   none error not_found",
	}, s.decisions())
}

// What rejecting returns is the request as it is stored from then on, with the
// operator's note, which agents read.
func TestRejectReturnsTheDecision(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	s.clock.Advance(time.Hour)
	a, err := office(s.db, "dora").Reject(t.Context(), id, "worn for weeks")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "AP-0001 rejected dora worn for weeks 0 "+s.clock.Now().String(),
		fmt.Sprint(a.ID, " ", a.State, " ", a.DecidedByName, " ", a.Note, " ", a.ApprovedAmount, " ", a.Decided))
	equal(t, a, s.approval(id))
}

func (s *shop) approval(id string) (a store.Approval) {
	s.t.Helper()
	err := s.db.View(context.Background(), func(v *store.View) (err error) {
		a, err = v.Approval(id)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// A decision that can't be written or read back is a fault, however far it
// came: nothing of it is kept and the request waits on.
func TestFaultDecidesNothing(t *testing.T) {
	const broken = "begin select raise(abort, 'broken'); end"
	approve := func(s *shop, id string) error { return s.approve("dora", id, "") }
	reject := func(s *shop, id string) error { return s.reject("dora", id) }
	end := func(s *shop, id string) error { // it can only become stale
		s.sql("update orders set status = 'cancelled' where id = 'A-1'")
		return s.approve("dora", id, "")
	}
	for name, c := range map[string]struct {
		decide  func(s *shop, id string) error
		trigger string
	}{
		"approving, its state":  {approve, "before update of state on approvals " + broken},
		"approving, its result": {approve, "before update of result on approvals " + broken},
		"approving, reading it": {approve, "after update of result on approvals begin update approvals set reasons = '{'; end"},
		"rejecting, its state":  {reject, "before update of state on approvals " + broken},
		"rejecting, reading it": {reject, "after update of state on approvals begin update approvals set reasons = '{'; end"},
		"ending it, its state":  {end, "before update of state on approvals " + broken},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			id := s.parked("A-1", "144.00")
			before := s.approval(id)
			s.sql("create trigger broken " + c.trigger)
			var e *settle.Error
			if err := c.decide(s, id); err == nil || errors.As(err, &e) {
				t.Errorf("%v, want a fault", err)
			}
			equal(t, before, s.approval(id))
			equal(t, 0, len(s.refunds("A-1"))+len(s.log()))
		})
	}
}

// A request that can't be read is decided by nobody.
func TestUnreadableRequest(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	s.sql("update approvals set reasons = '{'")
	var e *settle.Error
	for _, err := range []error{s.approve("dora", id, ""), s.reject("dora", id)} {
		if err == nil || errors.As(err, &e) {
			t.Errorf("%v, want a fault", err)
		}
	}
	s.sql("update approvals set reasons = '[]'")
	equal(t, "pending  0", s.state(id))
	equal(t, 0, len(s.refunds("A-1"))+len(s.log()))
}

// What was decided stays so, whatever it would come to now.
func TestDecidedComesFirst(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "200.00")
	if err := s.approve("dora", id, ""); err != nil {
		t.Fatal(err)
	}
	_, blank := office(s.db, "emil").Reject(t.Context(), id, "")
	for _, err := range []error{s.approve("emil", id, ""), s.approve("emil", id, "999.00"), blank} {
		refused(t, err, settle.Conflict, settle.AlreadyDecided, "AP-0001 was approved by dora at 2026-05-01T12:00:00Z")
	}
	equal(t, []int64{20000}, s.refunds("A-1"))
}

// What a newer program parked can be rejected here, and not approved.
func TestRequestOfANewerProgram(t *testing.T) {
	s := open(t)
	first := s.approval(s.parked("A-1", "144.00"))
	for tool, arguments := range map[string]string{"send_gift": `{"order_id":"A-1"}`, "issue_refund": `{"order_id":"A-1","reason":"does not fit","gift":true}`} {
		a := first
		a.Tool, a.Arguments, a.RequestKey, a.Amount = tool, json.RawMessage(arguments), "k-"+tool, 1000
		s.tx(func(tx *store.Tx) (err error) {
			a, err = approvals.Park(tx, a)
			return err
		})
		var e *settle.Error
		if err := s.approve("dora", a.ID, ""); err == nil || errors.As(err, &e) {
			t.Errorf("%s: %v, want a fault", tool, err)
		}
		equal(t, "pending  0", s.state(a.ID))
		if err := s.reject("dora", a.ID); err != nil {
			t.Error(err)
		}
	}
	equal(t, 0, len(s.refunds("A-1")))
}
