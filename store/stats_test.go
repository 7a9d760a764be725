package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
)

// inbox is a database in which things are asked and decided at known moments.
type inbox struct {
	t               *testing.T
	db              *store.DB
	clock           storetest.Clock
	customer        string
	agent, operator store.Principal
	last            string // the id of what was asked last
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	b := &inbox{t: t}
	b.db = storetest.New(t, storetest.WithClock(&b.clock))
	storetest.Shop(t, b.db, `{"type":"customer","id":"C-1","name":"Ava","created_at":"-90d"}`)
	put(t, b.db, func(tx *store.Tx) (err error) {
		c, err := tx.CustomerByID("C-1")
		if err != nil {
			return err
		}
		b.customer = c.Key
		if b.agent, err = tx.AddPrincipal(store.Principal{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, "a"); err != nil {
			return err
		}
		b.operator, err = tx.AddPrincipal(store.Principal{Name: "ann", Kind: policy.Operator, Role: policy.Manager}, "o")
		return err
	})
	return b
}

// asks parks something that expires in an hour.
func (b *inbox) asks(tool, arguments string) {
	b.t.Helper()
	put(b.t, b.db, func(tx *store.Tx) error {
		a, err := tx.AddApproval(store.Approval{Tool: tool, Arguments: json.RawMessage(arguments), Customer: b.customer,
			AskedBy: b.agent.ID, Expires: tx.Now.Add(time.Hour)})
		b.last = a.ID
		return err
	})
}

// decides what was asked last, so long after it was.
func (b *inbox) decides(after time.Duration, state string) {
	b.t.Helper()
	b.clock.Advance(after)
	a := store.Approval{ID: b.last, State: state}
	if state != store.Stale {
		a.DecidedBy = b.operator.ID
	}
	put(b.t, b.db, func(tx *store.Tx) error {
		done, err := tx.Decide(a)
		if err == nil && !done {
			err = fmt.Errorf("%s didn't wait", a.ID)
		}
		return err
	})
}

func (b *inbox) files(category string) {
	b.t.Helper()
	put(b.t, b.db, func(tx *store.Tx) error {
		ticket, err := tx.AddTicket(store.Ticket{Customer: b.customer, Category: category, Priority: "normal", Summary: "s", FiledBy: "agent"})
		b.last = ticket.ID
		return err
	})
}

func (b *inbox) replies(after time.Duration) {
	b.t.Helper()
	b.clock.Advance(after)
	put(b.t, b.db, func(tx *store.Tx) error { return tx.AddReply(b.last, b.operator.ID, "hello") })
}

func (b *inbox) closes(after time.Duration) {
	b.t.Helper()
	b.clock.Advance(after)
	put(b.t, b.db, func(tx *store.Tx) error {
		_, err := tx.CloseTicket(b.last)
		return err
	})
}

func (b *inbox) counts(since time.Time) (byCategory, byTool []store.Stat) {
	b.t.Helper()
	err := b.db.View(context.Background(), func(v *store.View) (err error) {
		if byCategory, err = v.StatsByCategory(since); err != nil {
			return err
		}
		byTool, err = v.StatsByTool(since)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return byCategory, byTool
}

func (b *inbox) form(category string) string { return fmt.Sprintf(`{"category":%q}`, category) }

func TestStats(t *testing.T) {
	b := newInbox(t)
	if byCategory, byTool := b.counts(time.Time{}); len(byCategory) > 0 || len(byTool) > 0 {
		t.Errorf("of nothing: %v %v", byCategory, byTool)
	}
	const refund = "issue_refund"
	b.asks(refund, "{}") // expires
	b.clock.Advance(2 * time.Hour)
	for minutes := 1; minutes <= 10; minutes++ { // 1 to 10 minutes: the 5th of 10, the 9th of 10
		b.asks(refund, "{}")
		b.decides(time.Duration(minutes)*time.Minute, map[bool]string{true: store.Approved, false: store.Rejected}[minutes > 4])
	}
	b.asks(refund, "{}")
	b.decides(time.Second, store.Stale)
	b.asks(store.RequestTool, b.form("code"))
	b.decides(3*time.Second, store.Approved)
	b.asks(store.RequestTool, b.form("code"))
	b.decides(1500*time.Millisecond, store.Rejected)
	b.asks(store.RequestTool, b.form(" code "))
	b.decides(9*time.Second, store.Approved)
	b.asks(store.RequestTool, b.form("key"))
	b.files("order")
	b.replies(time.Minute)
	b.closes(time.Hour)
	b.files("order")
	b.closes(3 * time.Minute)
	b.files("order")
	b.replies(2 * time.Minute)
	b.files("other")
	half := b.db.Now()
	b.asks(refund, "{}")

	refunds := store.Stat{Tool: refund, Asked: 13, Open: 1, Decided: 10, Approved: 6, Expired: 1, Stale: 1, Timed: 10, Median: 5 * time.Minute, P90: 9 * time.Minute}
	byCategory, byTool := b.counts(time.Time{})
	same := func(want, got []store.Stat) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	same([]store.Stat{
		{Tool: store.TicketTool, Category: "order", Asked: 3, Open: 1, Decided: 2, Timed: 3, Median: 2 * time.Minute, P90: 3 * time.Minute},
		{Tool: store.TicketTool, Category: "other", Asked: 1, Open: 1},
		refunds,
		{Tool: store.RequestTool, Category: "code", Asked: 3, Decided: 3, Approved: 2, Timed: 3, Median: 3 * time.Second, P90: 9 * time.Second},
		{Tool: store.RequestTool, Category: "key", Asked: 1, Expired: 1}, // an hour of tickets has passed
	}, byCategory)
	same([]store.Stat{
		{Tool: store.TicketTool, Asked: 4, Open: 2, Decided: 2, Timed: 3, Median: 2 * time.Minute, P90: 3 * time.Minute},
		refunds,
		{Tool: store.RequestTool, Asked: 4, Decided: 3, Approved: 2, Expired: 1, Timed: 3, Median: 3 * time.Second, P90: 9 * time.Second},
	}, byTool)
	_, since := b.counts(half)
	same([]store.Stat{{Tool: store.TicketTool, Asked: 1, Open: 1}, {Tool: refund, Asked: 1, Open: 1}}, since)
}

// However many categories a model thinks of, a bounded number is told apart, and
// what an erased person's request was about isn't.
func TestStatsTellFewCategoriesApart(t *testing.T) {
	b := newInbox(t)
	b.files("order")
	b.files("order")
	for i := range 60 {
		b.asks(store.RequestTool, b.form(fmt.Sprintf("c%02d", i)))
		b.decides(time.Duration(i+1)*time.Second, store.Approved)
	}
	for range 3 {
		b.asks(store.RequestTool, "{}")
	}
	byCategory, byTool := b.counts(time.Time{})
	if n := len(byCategory); n != 50 {
		t.Fatalf("%d categories", n)
	}
	rest := byCategory[len(byCategory)-1] // c48 to c59 beside the three
	want := store.Stat{Tool: store.RequestTool, Asked: 15, Open: 3, Decided: 12, Approved: 12, Timed: 12, Median: 54 * time.Second, P90: 59 * time.Second}
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(int64(63), byTool[1].Asked); diff != "" {
		t.Error(diff)
	}
}
