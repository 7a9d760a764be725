package approvals_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approvals"
	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
)

// request is one that could be parked; the database holds what it refers to.
func request(t *testing.T, db *store.DB) store.Approval {
	t.Helper()
	storetest.Shop(t, db, `{"type":"customer","id":"C-1","name":"Ava","created_at":"-400d"}
{"type":"order","id":"A-1","customer_id":"C-1","status":"delivered","currency":"USD","placed_at":"-9d","items":[],"total":"144.00"}`)
	a := store.Approval{
		Tool: "issue_refund", Arguments: json.RawMessage(`{"order_id":"A-1"}`), OrderID: "A-1", Amount: 14400, Currency: "USD",
		RequestKey: "k", Reasons: []string{"144.00 USD is above the limit"}, Policy: "p-1", Expires: storetest.Start.Add(72 * time.Hour),
	}
	tx(t, db, func(tx *store.Tx) error {
		p, err := tx.AddPrincipal(store.Principal{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, "cs_agent")
		a.AskedBy = p.ID
		if err != nil {
			return err
		}
		c, err := tx.CustomerByID("C-1")
		a.Customer = c.Key
		return err
	})
	return a
}

func tx(t *testing.T, db *store.DB, act func(*store.Tx) error) {
	t.Helper()
	if err := db.Tx(context.Background(), act); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, db *store.DB, id string) (a store.Approval) {
	t.Helper()
	err := db.View(context.Background(), func(v *store.View) (err error) {
		a, err = v.Approval(id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A parked request is kept as it was asked, across a restart, and passes Check.
func TestParkKeepsTheRequest(t *testing.T) {
	clock := new(storetest.Clock)
	db := storetest.New(t, storetest.WithClock(clock))
	asked := request(t, db)
	var parked store.Approval
	tx(t, db, func(tx *store.Tx) (err error) {
		parked, err = approvals.Park(tx, asked)
		return err
	})
	again, err := store.Open(db.Path(), store.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	got := load(t, again, parked.ID)

	want := asked
	want.Seq, want.ID, want.State, want.Created, want.AskedByName = 1, "AP-0001", store.Pending, storetest.Start, "agent"
	want.Digest, want.Result = parked.Digest, json.RawMessage{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := approvals.Check(got); err != nil || len(got.Digest) != 64 {
		t.Errorf("digest %q: %v", got.Digest, err)
	}
	clock.Advance(72*time.Hour - time.Microsecond)
	if state := load(t, again, parked.ID).State; state != store.Pending {
		t.Errorf("%s a moment before its time is over", state)
	}
	clock.Advance(time.Microsecond)
	if got := load(t, again, parked.ID); got.State != store.Expired || got.DecidedByName != "" || !got.Decided.IsZero() {
		t.Errorf("expired: %+v", got)
	}
}

// Check finds a change of anything that says what would be done, for whom, who
// asked, and until when.
func TestCheckFindsChanges(t *testing.T) {
	db := storetest.New(t)
	asked := request(t, db)
	var parked store.Approval
	tx(t, db, func(tx *store.Tx) (err error) {
		parked, err = approvals.Park(tx, asked)
		return err
	})
	for name, change := range map[string]func(a *store.Approval){
		"tool":      func(a *store.Approval) { a.Tool = "issue_refunds" },
		"arguments": func(a *store.Approval) { a.Arguments = json.RawMessage(`{"order_id":"A-2"}`) },
		"customer":  func(a *store.Approval) { a.Customer += "x" },
		"order":     func(a *store.Approval) { a.OrderID = "A-2" },
		"amount":    func(a *store.Approval) { a.Amount++ },
		"currency":  func(a *store.Approval) { a.Currency = "EUR" },
		"asker":     func(a *store.Approval) { a.AskedBy += "x" },
		"key":       func(a *store.Approval) { a.RequestKey = "" },
		"policy":    func(a *store.Approval) { a.Policy = "p-2" },
		"expiry":    func(a *store.Approval) { a.Expires = a.Expires.Add(time.Microsecond) },
		"digest":    func(a *store.Approval) { a.Digest = "" },
		"a shift between neighbours": func(a *store.Approval) {
			a.OrderID, a.Customer = a.OrderID[1:], a.Customer+a.OrderID[:1]
		},
	} {
		changed := parked
		change(&changed)
		err := approvals.Check(changed)
		if want := fmt.Sprintf("%s: %v", parked.ID, approvals.ErrAltered); !errors.Is(err, approvals.ErrAltered) || err.Error() != want {
			t.Errorf("%s changed: %v", name, err)
		}
	}
	decided := parked
	decided.State, decided.DecidedBy, decided.Note, decided.ApprovedAmount = store.Approved, "PR-0002", "fine", 8000
	if err := approvals.Check(decided); err != nil {
		t.Errorf("deciding isn't a change of what was asked: %v", err)
	}
}
