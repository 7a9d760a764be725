package store_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
)

// shopOf has the customer C-1 with an order A-1 that is processing, and the
// principal ann.
func shopOf(t *testing.T, clock *storetest.Clock) (db *store.DB, ann string) {
	t.Helper()
	db = storetest.New(t, storetest.WithClock(clock))
	storetest.Shop(t, db, `{"type":"customer","id":"C-1","name":"Ava","created_at":"-90d"}
{"type":"order","id":"A-1","customer_id":"C-1","status":"processing","currency":"USD","placed_at":"-1d","items":[{"sku":"S","title":"Lamp","quantity":1,"unit_price":"20.00"}],"total":"20.00","address":{"recipient":"Ava","line1":"1 Elm St","city":"Reno","country":"US"}}`)
	put(t, db, func(tx *store.Tx) error {
		p, err := tx.AddPrincipal(store.Principal{Name: "ann", Kind: policy.Agent, Role: policy.Staff}, "secret")
		ann = p.ID
		return err
	})
	return db, ann
}

func elm(line1 string) policy.Address {
	return policy.Address{Recipient: "Ava", Line1: line1, City: "Reno", Country: "US"}
}

// Each change is kept with what it replaced; the same again is none.
func TestAddressChanges(t *testing.T) {
	var clock storetest.Clock
	db, ann := shopOf(t, &clock)
	for _, line1 := range []string{"1 Elm St", "1 Elm St", "2 Elm St", "2 Elm St", "1 Elm St"} {
		clock.Advance(time.Minute)
		put(t, db, func(tx *store.Tx) error { return tx.SetAddress("A-1", elm(line1), ann) })
	}
	change := func(seq int64, before, after string, minutes int) store.AddressChange {
		return store.AddressChange{Seq: seq, OrderID: "A-1", Customer: "cu_0001", Old: elm(before), New: elm(after), By: "ann",
			Created: storetest.Start.Add(time.Duration(minutes) * time.Minute)}
	}
	all := []store.AddressChange{ // the first keeps imports from changing the address
		change(1, "1 Elm St", "1 Elm St", 1), change(2, "1 Elm St", "2 Elm St", 3), change(3, "2 Elm St", "1 Elm St", 5),
	}
	for _, row := range []struct {
		since store.Since
		want  []store.AddressChange
	}{
		{store.Since{}, all},
		{store.Since{Seq: 1}, all[1:]},
		{store.Since{Seq: 3}, nil},
		{store.Since{Time: storetest.Start.Add(3 * time.Minute)}, all[1:]},
		{store.Since{Time: storetest.Start.Add(3*time.Minute + time.Microsecond)}, all[2:]},
	} {
		put(t, db, func(tx *store.Tx) error {
			got, err := tx.AddressChangesSince(row.since)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%+v: -want +got:\n%s", row.since, diff)
			}
			return err
		})
	}
}

// A change that isn't made isn't recorded.
func TestAddressOfAShippedOrderStays(t *testing.T) {
	var clock storetest.Clock
	db, ann := shopOf(t, &clock)
	statement(t, db, "update orders set status = 'shipped'")
	put(t, db, func(tx *store.Tx) error {
		for _, id := range []string{"A-1", "A-9"} {
			if err := tx.SetAddress(id, elm("2 Elm St"), ann); err == nil {
				t.Errorf("the address of %s was changed", id)
			}
		}
		changes, err := tx.AddressChangesSince(store.Since{})
		if len(changes) != 0 {
			t.Errorf("recorded: %v", changes)
		}
		return err
	})
}

// The list only grows, and of a row only the addresses can go.
func TestAddressChangesAreKept(t *testing.T) {
	var clock storetest.Clock
	db, ann := shopOf(t, &clock)
	put(t, db, func(tx *store.Tx) error { return tx.SetAddress("A-1", elm("2 Elm St"), ann) })
	for _, forbidden := range []string{
		"delete from address_changes", "update address_changes set seq = 7", "update address_changes set order_id = order_id",
		"update address_changes set customer = customer", "update address_changes set changed_by = changed_by",
		"update address_changes set created_at = ''", "update address_changes set new_address = '{}'",
		"update address_changes set old_address = new_address", "update address_changes set old_address = '', new_address = 'x'",
	} {
		if err := tryStatement(t, db, forbidden); err == nil {
			t.Errorf("%s: was done", forbidden)
		}
	}
	statement(t, db, "update address_changes set old_address = '', new_address = ''")
	put(t, db, func(tx *store.Tx) error {
		got, err := tx.AddressChangesSince(store.Since{})
		want := []store.AddressChange{{Seq: 1, OrderID: "A-1", Customer: "cu_0001", By: "ann", Created: storetest.Start}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		return err
	})
}

// statement runs SQL beside the program.
func statement(t *testing.T, db *store.DB, text string) {
	t.Helper()
	if err := tryStatement(t, db, text); err != nil {
		t.Fatal(err)
	}
}

func tryStatement(t *testing.T, db *store.DB, text string) error {
	t.Helper()
	raw, err := sql.Open("sqlite3", db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	_, err = raw.Exec(text)
	return err
}
