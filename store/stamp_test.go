package store_test

import (
	"context"
	"testing"
	"time"

	"countersign/store"
	"countersign/store/storetest"
)

// Times are kept as texts that sort as the times do.
func TestFormatTime(t *testing.T) {
	zone := time.FixedZone("", -7*3600)
	texts := []string{}
	for _, at := range []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC),
		time.Date(1999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		time.Date(2026, 5, 1, 4, 59, 59, 999_999_000, zone),
		time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		time.Date(2026, 5, 1, 12, 0, 0, 1_000, time.UTC),
		time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	} {
		text := store.FormatTime(at)
		if len(text) != len("2026-05-01T12:00:00.000000Z") {
			t.Errorf("%v: %q is of another width", at, text)
		}
		if back, err := time.Parse(time.RFC3339, text); err != nil || !back.Equal(at.Truncate(time.Microsecond)) {
			t.Errorf("%v: %q reads as %v, %v", at, text, back, err)
		}
		texts = append(texts, text)
	}
	for i := 1; i < len(texts); i++ {
		if texts[i-1] >= texts[i] {
			t.Errorf("%q doesn't sort before %q", texts[i-1], texts[i])
		}
	}
}

// A time comes back from a row as it was, in UTC, and none as none.
func TestTimesInRows(t *testing.T) {
	db := storetest.New(t)
	placed := time.Date(2026, 3, 29, 2, 30, 0, 123_456_000, time.FixedZone("", 3600))
	put(t, db, func(tx *store.Tx) error {
		if _, err := tx.PutCustomer(store.Customer{ID: "C-1", Created: tx.Now}, "a"); err != nil {
			return err
		}
		_, err := tx.PutOrder(store.Order{ID: "A-1", Customer: "cu_0001", Status: "shipped", Currency: "USD", Placed: placed}, "a")
		return err
	})
	err := db.View(context.Background(), func(v *store.View) error {
		o, err := v.OrderByID("A-1")
		if !o.Placed.Equal(placed) || o.Placed.Location() != time.UTC || !o.Delivered.IsZero() {
			t.Errorf("placed %v, delivered %v", o.Placed, o.Delivered)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
