package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
	"countersign/store/storetest"
)

func TestFindCustomers(t *testing.T) {
	db := storetest.New(t)
	order := `{"type":"order","id":"%s","customer_id":"%s","status":"shipped","currency":"USD","placed_at":"-9d","items":[],"total":"5.00"}` + "\n"
	storetest.Shop(t, db, `{"type":"customer","id":"C-1","name":"Ava  Lindqvist","email":" Ava@Example.com","phone":"+1 218-555-0114","created_at":"-90d"}
{"type":"customer","id":"C-2","name":"JÜRGEN Müller","email":"jm@example.com","phone":"+49 (171) 5550137","created_at":"-90d"}
{"type":"customer","id":"C-3","name":"50% Off_Ltd * \\ 'x'","email":"AVA@example.com","created_at":"-90d"}
{"type":"customer","id":"c-44","name":"Ana C-1","email":"","phone":"","created_at":"-90d"}
`+fmt.Sprintf(order, "NW-5001", "C-2")+fmt.Sprintf(order, "XY-5001", "C-3")+fmt.Sprintf(order, "W77", "C-1"))
	statement(t, db, "insert into customers (key, id, name, email, phone, created_at, source) values ('cu_gone', null, '', '', '', '2026-01-01T00:00:00.000000Z', '')")
	for text, want := range map[string]string{
		"C-1": "C-1 c-44", " c-1 ": "C-1 c-44", "C-44": "c-44", "C-": "c-44", "C-5": "",
		"AVA@EXAMPLE.COM ": "C-1 C-3", "ava@": "", "@example.com": "",
		"lindq": "C-1", "ava lind": "C-1", "LINDQVIST": "C-1", "jurgen": "C-2", "müller": "C-2", "MÜLL": "C-2", "a": "C-1 c-44",
		"5550114": "C-1", "(218) 555-0114": "C-1", "+1 218": "C-1", "555": "C-1 C-2", "0171 555 0137": "C-2", "0049 171": "C-2", "14": "", "55": "",
		"#nw-5001": "C-2", "5001": "C-2 C-3", "w77": "C-1", "77": "",
		"%": "C-3", "_": "C-3", "*": "C-3", "\\": "C-3", "'": "C-3", "50%": "C-3", "5%": "", "l_d": "", "' or '1'='1": "",
		"": "", " \u200b ": "",
	} {
		got, more := find(t, db, text, 20)
		if diff := cmp.Diff(want, got); diff != "" || more != 0 {
			t.Errorf("%q: %d more, -want +got:\n%s", text, more, diff)
		}
	}
}

// Who is named exactly comes first, and what is left out is counted.
func TestFindCustomersBounds(t *testing.T) {
	db := storetest.New(t)
	manyCustomers(t, db, 50)
	for _, row := range []struct {
		text, want string
		more       int
	}{
		{"customer", "N-1 N-2 N-3", 47},
		{"number 50", "N-50", 0},
		{"n-50", "N-50", 0},
		{"number 5", "N-5 N-50", 0},
		{"nobody", "", 0},
	} {
		got, more := find(t, db, row.text, 3)
		if got != row.want || more != row.more {
			t.Errorf("%q: %q and %d more, want %q and %d", row.text, got, more, row.want, row.more)
		}
	}
	statement(t, db, "update customers set name = 'N-50' where id in ('N-1', 'N-2', 'N-3')")
	if got, more := find(t, db, "N-50", 3); got != "N-50 N-1 N-2" || more != 1 {
		t.Errorf("%q and %d more", got, more)
	}
}

func BenchmarkFindCustomers(b *testing.B) {
	db := storetest.New(b)
	manyCustomers(b, db, 100_000)
	for _, text := range []string{"N-99999", "number 4711", "jürgen", "customer"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				find(b, db, text, 20)
			}
		})
	}
}

func manyCustomers(t testing.TB, db *store.DB, n int) {
	t.Helper()
	err := db.Tx(context.Background(), func(tx *store.Tx) error {
		for i := range n {
			c := store.Customer{ID: fmt.Sprintf("N-%d", i+1), Name: fmt.Sprintf("Customer number %d", i+1),
				Email: fmt.Sprintf("c%d@example.com", i+1), Phone: "+1 218-555-0114", Created: tx.Now}
			if _, err := tx.PutCustomer(c, "a"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, db *store.DB, text string, limit int) (ids string, more int) {
	t.Helper()
	err := db.View(context.Background(), func(v *store.View) error {
		found, left, err := v.FindCustomers(text, limit)
		var all []string
		for _, c := range found {
			all = append(all, c.ID)
		}
		ids, more = strings.Join(all, " "), left
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, more
}
