package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"countersign/store"
	"countersign/store/storetest"
)

func TestAnyOrder(t *testing.T) {
	db := storetest.New(t)
	lines := `{"type":"customer","id":"C-1","name":"Ava","created_at":"-90d"}` + "\n" + `{"type":"customer","id":"C-2","name":"Ben","created_at":"-90d"}` + "\n"
	for id, customer := range map[string]string{"NW-5001": "C-1", "NW-5002": "C-1", "XY-5002": "C-2", "W9502": "C-2", "7001": "C-2", "Z-7001": "C-1"} {
		lines += fmt.Sprintf(`{"type":"order","id":%q,"customer_id":%q,"status":"shipped","currency":"USD","placed_at":"-9d","items":[],"total":"5.00"}`+"\n", id, customer)
	}
	storetest.Shop(t, db, lines)
	for number, want := range map[string]string{
		"NW-5001": "NW-5001", " #nw-5001": "NW-5001", "NW–5001": "NW-5001", "5001": "NW-5001", "XY-5002": "XY-5002", "7001": "7001", "w9502": "W9502",
		"5002": "", "9502": "", "": "", "#": "", "%": "", "*": "", "NW_5001": "", "5": "",
	} {
		err := db.View(context.Background(), func(v *store.View) error {
			o, err := v.AnyOrder(number)
			if o.ID != want || (want == "") != errors.Is(err, store.ErrNotFound) {
				t.Errorf("%q: %q, %v; want %q", number, o.ID, err, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
