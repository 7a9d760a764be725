package settle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

func (s *shop) issue(name string, in settle.Refunding) error {
	if in.Note == "" {
		in.Note = "goodwill"
	}
	_, err := office(s.db, name).IssueRefund(context.Background(), in)
	return err
}

// money is the audit rows of refunds that were issued: who, which order, how
// much, with what outcome.
func (s *shop) money() (rows []string) {
	s.t.Helper()
	err := s.db.View(context.Background(), func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{Action: "refunds issue"}, func(r store.AuditRow) error {
			var amount int64
			if r.Amount != nil {
				amount = *r.Amount
			}
			rows = append(rows, fmt.Sprintln(r.Actor, r.OrderID, r.Customer, amount, r.Currency, r.Outcome, r.Code))
			return nil
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// A manager refunds past the window, the limits and a human's no; the row says
// that a human did, and why.
func TestIssueRefundOutsideThePolicy(t *testing.T) {
	s := open(t)
	if err := s.reject("emil", s.parked("A-1", "144.00")); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(60 * 24 * time.Hour)
	made, err := office(s.db, "dora").IssueRefund(t.Context(), settle.Refunding{Order: "#a-1 ", Amount: "250", Currency: "usd", Note: " sole came off "})
	if err != nil {
		t.Fatal(err)
	}
	now := s.clock.Now()
	equal(t, store.Refund{
		Seq: 1, ID: "RF-0001", OrderID: "A-1", Customer: "cu_0001", Amount: 25000, Currency: "USD", Reason: "sole came off", Human: true,
		MadeBy: s.ids["dora"], MadeByName: "dora", DecidedByName: "dora", Judged: now, Created: now,
	}, made)
	equal(t, []int64{25000}, s.refunds("A-1"))
	equal(t, []string{"dora A-1 cu_0001 25000 USD ok \n"}, s.money())
}

// It counts nowhere as made without a human: what the policy gives by itself
// stays as it was.
func TestIssuedRefundIsAHumans(t *testing.T) {
	s := open(t)
	s.tx(func(tx *store.Tx) error {
		return tx.SetSetting(store.SettingPolicy, `refund: {auto_limit: {USD: "40.00"}, customer_limit_24h: {USD: "40.00"}}`)
	})
	if err := s.issue("dora", settle.Refunding{Order: "A-1", Amount: "100.00"}); err != nil {
		t.Fatal(err)
	}
	equal(t, "refunded", s.ask("agent", "A-1", "40.00").Status)
	equal(t, "pending_approval", s.ask("agent", "A-2", "0.01").Status)
}

func TestIssueRefundRefusesWhatMakesNoSense(t *testing.T) {
	s := open(t)
	in := settle.Refunding{Order: "A-1", Amount: "5.00", Note: "goodwill"}
	change := func(edit func(*settle.Refunding)) error {
		changed := in
		edit(&changed)
		_, err := office(s.db, "dora").IssueRefund(t.Context(), changed)
		return err
	}
	for amount, words := range map[string]string{
		"":                    `not an amount: send plain decimal digits such as "12.50" for USD`,
		"0.00":                "must be more than zero",
		"-5":                  `not an amount: send plain decimal digits such as "12.50" for USD`,
		"5.001":               `too many decimals: send at most 2 for USD, such as "12.50"`,
		"9999999999999999999": "amount too large: send at most 92233720368547758.07 for USD",
	} {
		refused(t, change(func(in *settle.Refunding) { in.Amount = amount }), settle.Invalid, policy.InvalidArguments, "amount: "+words)
	}
	for _, note := range []string{"", " \n", strings.Repeat("é", 501), "\xff"} {
		refused(t, change(func(in *settle.Refunding) { in.Note = note }), settle.Invalid, policy.InvalidArguments,
			"a refund needs a note of 1 to 500 characters: it says why, to the shop and to agents")
	}
	refused(t, change(func(in *settle.Refunding) { in.Currency = "EUR" }), settle.Invalid, policy.CurrencyMismatch, "currency: A-1 is in USD")
	for _, order := range []string{"", "#", "%", "A-9", "A_1"} {
		refused(t, change(func(in *settle.Refunding) { in.Order = order }), settle.NotFound, policy.NotFound,
			"there is no order of this number, or digits alone fit several; see countersign customers find")
	}
	equal(t, 0, len(s.refunds("A-1")))
	equal(t, 15, len(s.money()))
	if err := change(func(in *settle.Refunding) { in.Note = strings.Repeat("é", 500) }); err != nil {
		t.Error(err)
	}
}

// Never above what was paid and isn't refunded, nor what waiting requests hold.
func TestIssueRefundStaysWithinWhatWasPaid(t *testing.T) {
	s := open(t)
	issue := func(amount string) error { return s.issue("dora", settle.Refunding{Order: "A-1", Amount: amount}) }
	id := s.parked("A-1", "144.00")
	refused(t, issue("300.01"), settle.Conflict, policy.AmountExceedsRefundable,
		"at most 156.00 USD can be refunded on A-1 (300.00 USD paid, 0.00 USD refunded, 144.00 USD awaiting approval)")
	refused(t, issue("156.01"), settle.Conflict, settle.AmountHeld,
		"requests that wait for approval hold 144.00 USD on A-1, so 156.00 USD can be refunded beside them (300.00 USD paid, 0.00 USD refunded); decide those first")
	if err := issue("156.00"); err != nil {
		t.Fatal(err)
	}
	if err := s.approve("emil", id, ""); err != nil {
		t.Error("what was held isn't there:", err)
	}
	refused(t, issue("0.01"), settle.Conflict, policy.NothingToRefund, "nothing is left to refund on A-1 (300.00 USD paid, 300.00 USD refunded)")
	equal(t, []int64{15600, 14400}, s.refunds("A-1"))

	s.sql("update orders set paid = 0 where id = 'A-2'")
	refused(t, s.issue("dora", settle.Refunding{Order: "A-2", Amount: "1.00"}), settle.Conflict, policy.OrderNotPaid, "nothing has been captured on A-2")
}

// Where requests hold more than is left, nothing can be refunded beside them, and
// the figures say so without going below zero.
func TestIssueRefundWhereMoreIsHeldThanLeft(t *testing.T) {
	s := open(t)
	s.parked("A-1", "200.00")
	s.sql("update orders set refunded = 18000, source_refunded = 18000, source_refunded_at = '2026-05-01T12:00:00.000000Z' where id = 'A-1'")
	for _, amount := range []string{"0.01", "120.00"} {
		refused(t, s.issue("dora", settle.Refunding{Order: "A-1", Amount: amount}), settle.Conflict, settle.AmountHeld,
			"requests that wait for approval hold 200.00 USD on A-1, so 0.00 USD can be refunded beside them (300.00 USD paid, 180.00 USD refunded); decide those first")
	}
	refused(t, s.issue("dora", settle.Refunding{Order: "A-1", Amount: "120.01"}), settle.Conflict, policy.AmountExceedsRefundable,
		"at most 0.00 USD can be refunded on A-1 (300.00 USD paid, 180.00 USD refunded, 200.00 USD awaiting approval)")
}

// An expired request holds nothing.
func TestIssueRefundBesideAnExpiredRequest(t *testing.T) {
	s := open(t)
	s.parked("A-1", "300.00")
	refused(t, s.issue("dora", settle.Refunding{Order: "A-1", Amount: "1.00"}), settle.Conflict, settle.AmountHeld,
		"requests that wait for approval hold 300.00 USD on A-1, so 0.00 USD can be refunded beside them (300.00 USD paid, 0.00 USD refunded); decide those first")
	s.clock.Advance(73 * time.Hour)
	if err := s.issue("dora", settle.Refunding{Order: "A-1", Amount: "300.00"}); err != nil {
		t.Error(err)
	}
}

// The shop refunds a cancelled order by itself; where it didn't, a manager may.
func TestIssueRefundOnACancelledOrder(t *testing.T) {
	s := open(t)
	s.sql("update orders set status = 'cancelled', refunded = 1000, source_refunded = 1000 where id = 'A-2'")
	refused(t, s.issue("dora", settle.Refunding{Order: "A-2", Amount: "50.01"}), settle.Conflict, policy.AmountExceedsRefundable,
		"at most 50.00 USD can be refunded on A-2 (60.00 USD paid, 10.00 USD refunded)")
	if err := s.issue("dora", settle.Refunding{Order: "A-2", Amount: "50.00"}); err != nil {
		t.Error(err)
	}
}

// The same again within ten minutes has to be meant.
func TestIssueRefundAgain(t *testing.T) {
	s := open(t)
	in := settle.Refunding{Order: "A-1", Amount: "5.00"}
	another := in
	another.Another = true
	steps := []struct {
		later time.Duration
		who   string
		in    settle.Refunding
		again string // the refund that it repeats
	}{
		{0, "dora", in, ""},
		{0, "dora", in, "RF-0001 12:00:00"},
		{0, "dora", settle.Refunding{Order: "a-1", Amount: "5", Note: "another reason"}, "RF-0001 12:00:00"},
		{-time.Minute, "dora", in, "RF-0001 12:00:00"},
		{0, "emil", in, ""},
		{0, "dora", settle.Refunding{Order: "A-2", Amount: "5.00"}, ""},
		{0, "dora", settle.Refunding{Order: "A-1", Amount: "5.01"}, ""},
		{time.Minute, "dora", another, ""},
		{9 * time.Minute, "dora", in, "RF-0005 12:00:00"},
		{time.Minute, "dora", in, ""},
	}
	for i, step := range steps {
		s.clock.Advance(step.later)
		err := s.issue(step.who, step.in)
		if id, at, repeated := strings.Cut(step.again, " "); repeated {
			refused(t, err, settle.Conflict, settle.RepeatedRefund,
				"the same was refunded at 2026-05-01T"+at+"Z as "+id+"; if a second one is meant, say --another")
		} else if err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
	equal(t, []int64{500, 500, 501, 500, 500}, s.refunds("A-1"))
}

// An agent's retry isn't answered with what an operator issued, nor the other
// way round.
func TestIssuedRefundIsNobodysRepeat(t *testing.T) {
	s := open(t)
	if err := s.issue("dora", settle.Refunding{Order: "A-1", Amount: "5.00"}); err != nil {
		t.Fatal(err)
	}
	answer := s.ask("agent", "A-1", "5.00")
	equal(t, "refunded RF-0002", answer.Status+" "+answer.RefundID)
	equal(t, "RF-0003", s.ask("dora", "A-1", "5.00").RefundID)
	equal(t, "RF-0003", s.ask("dora", "A-1", "5.00").RefundID)
}

func TestWhoMayIssueRefunds(t *testing.T) {
	s := open(t)
	for name, words := range map[string]string{
		"agent": `"refunds issue" needs an operator of role manager; this token is for agent "agent" of role staff`,
		"robot": `"refunds issue" needs an operator of role manager; this token is for agent "robot" of role manager`,
		"sam":   `"refunds issue" needs an operator of role manager; this token is for operator "sam" of role staff`,
	} {
		refused(t, s.issue(name, settle.Refunding{Order: "A-1", Amount: "5.00"}), settle.NotPermitted, policy.PermissionDenied, words)
	}
	shell := office(s.db, "dora")
	shell.AgentShell = true
	_, err := shell.IssueRefund(t.Context(), settle.Refunding{Order: "A-1", Amount: "5.00", Note: "goodwill"})
	refused(t, err, settle.NotPermitted, settle.AgentShell,
		`"refunds issue" is for people: this shell seems to be an agent's; run it in a terminal of your own`)
	equal(t, 0, len(s.refunds("A-1")))
	equal(t, 4, len(s.money()))
}

// Without its refund or its row in the log nothing has happened.
func TestIssuingAllOrNothing(t *testing.T) {
	for _, table := range []string{"refunds", "audit"} {
		s := open(t)
		s.sql("create trigger broken before insert on " + table + " begin select raise(abort, 'broken'); end")
		var e *settle.Error
		if err := s.issue("dora", settle.Refunding{Order: "A-1", Amount: "5.00"}); err == nil || errors.As(err, &e) {
			t.Errorf("%s: %v, want a fault", table, err)
		}
		s.sql("drop trigger broken")
		equal(t, 0, len(s.refunds("A-1"))+len(s.money()))
		if err := s.issue("dora", settle.Refunding{Order: "A-1", Amount: "300.00"}); err != nil {
			t.Error("something was kept:", err)
		}
	}
}

// Where it can't be read what was refunded or what waits, nothing is issued.
func TestUnreadableHistoryIssuesNothing(t *testing.T) {
	for broken, mended := range map[string]string{
		"drop trigger refunds_final; update refunds set judged_at = 'never'": "update refunds set judged_at = created_at",
		"update customers set created_at = 'never'":                          "update customers set created_at = '2025-05-01T12:00:00.000000Z'",
		"update approvals set reasons = '{'":                                 "update approvals set reasons = '[]'",
		"update orders set placed_at = 'never'":                              "update orders set placed_at = '2026-04-22T12:00:00.000000Z'",
	} {
		s := open(t)
		s.ask("agent", "A-1", "40.00")
		s.parked("A-1", "144.00")
		s.sql(broken)
		for _, another := range []bool{false, true} {
			var e *settle.Error
			if err := s.issue("dora", settle.Refunding{Order: "A-1", Amount: "5.00", Another: another}); err == nil || errors.As(err, &e) {
				t.Errorf("%s: %v, want a fault", broken, err)
			}
		}
		s.sql(mended)
		equal(t, []int64{4000}, s.refunds("A-1"))
		equal(t, 0, len(s.money()))
	}
}

// However many are meant at once, what was paid bounds them.
func TestManyIssueAtOnce(t *testing.T) {
	s := open(t)
	errs := make([]error, 20)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = s.issue([]string{"dora", "emil"}[i%2], settle.Refunding{Order: "A-1", Amount: "50.00", Another: true})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			refused(t, err, settle.Conflict, policy.NothingToRefund, "nothing is left to refund on A-1 (300.00 USD paid, 300.00 USD refunded)")
		}
	}
	equal(t, slices.Repeat([]int64{5000}, 6), s.refunds("A-1"))
}

// From several processes the same is refunded once for each operator.
func TestManyProcessesIssueOnce(t *testing.T) {
	s := open(t)
	said := make([]string, 8)
	var wg sync.WaitGroup
	for i := range said {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), shopFile+"="+s.db.Path(), "WHO="+[]string{"dora", "emil"}[i%2], "ORDER=A-1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
			said[i], _, _ = strings.Cut(string(out), " as ")
		})
	}
	wg.Wait()
	slices.Sort(said)
	equal(t, append([]string{"done", "done"}, slices.Repeat([]string{"the same was refunded at 2026-05-01T12:00:00Z"}, 6)...), said)
	equal(t, []int64{1000, 1000}, s.refunds("A-1"))
	equal(t, 8, len(s.money()))
}

// Nothing new is written about a customer who was erased.
func TestIssueRefundForTheErased(t *testing.T) {
	s := withPerson(t)
	if _, err := office(s.db, "dora").Erase(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	_, err := office(s.db, "dora").IssueRefund(t.Context(), settle.Refunding{Order: "E-1", Amount: "1.00", Note: "rang again"})
	refused(t, err, settle.Conflict, settle.CustomerErased, "the customer of E-1 was erased; nothing new is written about them")
}
