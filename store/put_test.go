package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
	"countersign/store/storetest"
)

// put runs act in a transaction and fails the test on an error.
func put(t *testing.T, db *store.DB, act func(*store.Tx) error) {
	t.Helper()
	if err := db.Tx(context.Background(), act); err != nil {
		t.Fatal(err)
	}
}

func TestPutsByDigestOfTheSource(t *testing.T) {
	db := storetest.New(t)
	var got []store.Change
	note := func(change store.Change, err error) error {
		got = append(got, change)
		return err
	}
	for _, source := range []string{"a", "a", "b"} {
		put(t, db, func(tx *store.Tx) error {
			return errors.Join(
				note(tx.PutCustomer(store.Customer{ID: "C-1", Created: tx.Now}, source)),
				note(tx.PutOrder(store.Order{ID: "A-1", Customer: "cu_0001", Status: "shipped", Currency: "USD",
					Placed: tx.Now}, source)),
				note(tx.PutShipment(store.Shipment{OrderID: "A-1", Status: "in_transit"}, 1, source)),
				note(tx.PutArticle(store.Article{ID: "H-1", WrittenBy: "official", Updated: tx.Now}, source)),
			)
		})
	}
	want := []store.Change{
		store.Added, store.Added, store.Added, store.Added,
		store.Unchanged, store.Unchanged, store.Unchanged, store.Unchanged,
		store.Changed, store.Changed, store.Changed, store.Changed,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPutOrderRefusesWhatItCannotKeep(t *testing.T) {
	db := storetest.New(t)
	put(t, db, func(tx *store.Tx) error {
		_, err := tx.PutCustomer(store.Customer{ID: "C-1", Created: tx.Now}, "a")
		return err
	})
	put(t, db, func(tx *store.Tx) error {
		_, err := tx.PutOrder(store.Order{ID: "B-1", Customer: "cu_0001", Status: "shipped", Currency: "USD", Placed: tx.Now}, "a")
		return err
	})
	for _, o := range []store.Order{
		{ID: "#"},
		{ID: "A-1", Paid: 100, Refunded: 101},
		{ID: "#b-1"}, // of the same source, and reads as B-1
	} {
		put(t, db, func(tx *store.Tx) error {
			o.Customer, o.Status, o.Currency, o.Placed = "cu_0001", "shipped", "USD", tx.Now
			var refused store.Refused
			if _, err := tx.PutOrder(o, "a"); !errors.As(err, &refused) {
				t.Errorf("%s: %v, want Refused", o.ID, err)
			}
			if _, err := tx.OrderByID(o.ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s was stored (%v)", o.ID, err)
			}
			return nil
		})
	}
}
