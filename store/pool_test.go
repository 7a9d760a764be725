package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"countersign/store"
	"countersign/store/storetest"
)

// A statement is prepared once, whatever values it is given later.
func TestStatementsLast(t *testing.T) {
	db := storetest.New(t)
	storetest.Shop(t, db, `{"type":"customer","id":"C-1","name":"Ava","created_at":"-90d"}
{"type":"order","id":"NW-5001","customer_id":"C-1","status":"shipped","currency":"USD","placed_at":"-9d","items":[{"sku":"A","title":"Mug","quantity":1,"unit_price":"5.00"}],"total":"5.00"}
{"type":"shipment","order_id":"NW-5001","carrier":"UPS","tracking_number":"1Z999AA10123456784","status":"in_transit"}
`)
	reads := func(tx *store.Tx) error {
		c, err := tx.CustomerByID("C-1")
		if err != nil {
			return err
		}
		o, err := tx.Order(c.Key, "NW-5001")
		if err != nil {
			return err
		}
		_, _, orders := tx.Orders(c.Key, 3)
		_, _, scans := tx.Scans(o.Parcels[0].ID, 3)
		_, refunds := tx.Refunds(o.ID)
		_, approvals := tx.ApprovalsOfCustomer(c.Key, time.Time{}, 3)
		_, tickets := tx.TicketsOfCustomer(c.Key, time.Time{}, 3)
		_, cases := tx.CloseCase("PR-1", "PR-1")
		return errors.Join(orders, scans, refunds, approvals, tickets, cases)
	}
	read := func() {
		t.Helper()
		if err := db.Tx(context.Background(), reads); err != nil {
			t.Fatal(err)
		}
	}
	prepared := 0
	if err := db.Preparing(func() { prepared++ }); err != nil {
		t.Fatal(err)
	}
	read()
	if prepared == 0 {
		t.Fatal("nothing was seen to be prepared")
	}
	prepared = 0
	read()
	if prepared != 0 {
		t.Errorf("SQLite asked %d times about statements that it prepared anew", prepared)
	}
}

// A connection costs a start as much as several reads: another one opens for who
// reads at the same time alone.
func TestConnectionsAreOpenedWhenNeeded(t *testing.T) {
	db := storetest.New(t)
	ctx := context.Background()
	view := func(then func() error) error {
		return db.View(ctx, func(*store.View) error { return then() })
	}
	none := func() error { return nil }
	for range 5 {
		if err := view(none); err != nil {
			t.Fatal(err)
		}
	}
	if got := db.Readers(); got != 1 {
		t.Errorf("%d connections are open after reads one by one", got)
	}
	if err := view(func() error { return view(func() error { return view(none) }) }); err != nil {
		t.Fatal(err)
	}
	if got := db.Readers(); got != 3 {
		t.Errorf("%d connections are open after three reads at once", got)
	}
}
