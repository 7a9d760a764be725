package ingest_test

import (
	"bytes"
	"database/sql"
	"strings"
	"testing"

	"countersign/store"
	"countersign/store/ingest"
	"countersign/store/storetest"
)

// A new key of the installation doesn't bring anybody back.
func TestErasedStaySoWhenTheKeyIsRotated(t *testing.T) {
	db := storetest.New(t)
	imported(t, db, fileOf(customerLine, orderLine, parcelLine))
	write(t, db, func(tx *store.Tx) error {
		c, err := tx.CustomerByID("C-1")
		check(t, err)
		_, err = tx.EraseCustomer(c)
		return err
	})
	imported(t, db, fileOf(spoil(orderLine, `"A-1"`, `"A-2"`))) // and one by its number
	write(t, db, func(tx *store.Tx) error { return tx.RotateKey(bytes.Repeat([]byte{7}, 32)) })
	write(t, db, func(tx *store.Tx) error { return tx.PlaceKey() })
	again, err := store.Open(db.Path(), store.Options{})
	check(t, err)
	defer again.Close()
	for _, db := range []*store.DB{db, again} {
		same(t, ingest.Count{Skipped: 1}, imported(t, db, fileOf(customerLine)).Customers)
		same(t, ingest.Count{Skipped: 1}, imported(t, db, fileOf(spoil(parcelLine, `"A-1"`, `"A-2"`, `"T-1"`, `"T-2"`))).Shipments)
	}
}

// What is kept of an erased id differs from database to database.
func TestErasedIDsAreSalted(t *testing.T) {
	kept := map[string]bool{}
	for range 2 {
		db := storetest.New(t)
		imported(t, db, fileOf(customerLine))
		write(t, db, func(tx *store.Tx) error {
			c, err := tx.CustomerByID("C-1")
			check(t, err)
			_, err = tx.EraseCustomer(c)
			return err
		})
		raw, err := sql.Open("sqlite3", db.Path())
		check(t, err)
		defer raw.Close()
		var name string
		check(t, raw.QueryRow("select name from erased").Scan(&name))
		kept[name] = true
	}
	same(t, 2, len(kept))
}

// Who was erased stays so: later files skip the customer, old and new orders,
// and their parcels, also where the order's line is in another file.
func TestErasedCustomersAreSkipped(t *testing.T) {
	db := storetest.New(t)
	other := spoil(customerLine, `"C-1"`, `"C-2"`)
	imported(t, db, fileOf(customerLine, orderLine, parcelLine, other))
	write(t, db, func(tx *store.Tx) error {
		c, err := tx.CustomerByID("C-1")
		check(t, err)
		_, err = tx.EraseCustomer(c)
		return err
	})

	report := imported(t, db, fileOf(customerLine, orderLine, parcelLine, other))
	same(t, ingest.Report{Customers: ingest.Count{Unchanged: 1, Skipped: 1}, Orders: ingest.Count{Skipped: 1},
		Shipments: ingest.Count{Skipped: 1}, Erased: 3, Problems: []ingest.Problem{}}, report)
	newOrder, newParcel := spoil(orderLine, `"A-1"`, `"A-2"`), spoil(parcelLine, `"A-1"`, `"a-2"`, `"T-1"`, `"T-2"`)
	same(t, ingest.Count{Skipped: 1}, imported(t, db, fileOf(newOrder)).Orders)
	same(t, ingest.Count{Skipped: 1}, imported(t, db, fileOf(newParcel)).Shipments)

	view(t, db, func(v *store.View) {
		for _, id := range []string{"A-2", "C-1"} {
			if _, err := v.OrderByID(id); err == nil {
				t.Errorf("%s was stored", id)
			}
		}
		if o := order(t, v, "A-1"); o.Address.Line1 != "" || len(o.Items) != 1 || o.Total != 1000 {
			t.Errorf("%+v", o)
		}
	})

	// Others' lines with problems still keep the whole file out, and a number
	// that came to be somebody else's is theirs.
	refused(t, db, fileOf(customerLine, spoil(other, `"Ada"`, `1`)))
	mine := spoil(newOrder, `"C-1"`, `"C-2"`)
	same(t, 1, imported(t, db, fileOf(mine)).Orders.New)
	same(t, 1, imported(t, db, fileOf(newParcel)).Shipments.New)
	imported(t, db, fileOf(newOrder)) // the erased customer's claim to it
	same(t, 1, imported(t, db, fileOf(strings.Replace(newParcel, "in_transit", "delivered", 1))).Shipments.Changed)
}
