package storetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
	"countersign/store/storetest"
)

func TestClockAndIDs(t *testing.T) {
	var clock storetest.Clock
	db := storetest.New(t, storetest.WithClock(&clock))
	var got []any
	see := func() {
		err := db.Tx(context.Background(), func(tx *store.Tx) error {
			got = append(got, tx.Now, tx.NewID("RF-"))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	see()
	clock.Advance(-time.Hour)
	see()
	clock.Set(storetest.Start.AddDate(0, 0, 2))
	see()
	want := []any{storetest.Start, "RF-0001", storetest.Start.Add(-time.Hour), "RF-0002",
		storetest.Start.AddDate(0, 0, 2), "RF-0003"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
