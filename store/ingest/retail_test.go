package ingest_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
	"countersign/store/ingest"
	"countersign/store/storetest"
)

func retail(tb testing.TB) string    { return file(tb, "../../evals/testdata/shop.jsonl") }
func northwind(tb testing.TB) string { return file(tb, "../../fixtures/northwind.jsonl") }

func file(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestRetailShop(t *testing.T) {
	db := storetest.New(t)
	want := ingest.Report{
		Customers: ingest.Count{New: 500},
		Orders:    ingest.Count{New: 1000},
		Shipments: ingest.Count{New: 577},
		Problems:  []ingest.Problem{},
	}
	same(t, want, imported(t, db, retail(t)))

	view(t, db, func(v *store.View) {
		o := order(t, v, "#W2378156")
		var pieces int64
		for _, i := range o.Items {
			pieces += i.Quantity
		}
		same(t, []any{"delivered", "USD", int64(181992), int64(181992), int64(5)},
			[]any{o.Status, o.Currency, o.Total, o.Paid, pieces})
	})
}

func TestImportingAgainChangesNothing(t *testing.T) {
	for name, text := range map[string]string{"retail": retail(t), "northwind": northwind(t)} {
		t.Run(name, func(t *testing.T) {
			db := storetest.New(t)
			first := imported(t, db, text).Total()
			again := imported(t, db, text).Total()
			same(t, ingest.Count{Unchanged: first.New}, again)
		})
	}
}

func TestNorthwind(t *testing.T) {
	db := storetest.New(t)
	storetest.Shop(t, db, northwind(t))
	view(t, db, func(v *store.View) {
		o := order(t, v, "NW-5102")
		same(t, []any{"JPY", int64(9800), int64(3900)}, []any{o.Currency, o.Total, o.Items[0].UnitPrice})

		o = order(t, v, "NW-5001")
		same(t, storetest.Start.AddDate(0, 0, -12), o.Delivered)
		stored, err := v.OrderByID(o.ID)
		parcels := stored.Parcels
		check(t, err)
		same(t, storetest.Start.AddDate(0, 0, -12), parcels[0].Delivered)
		_, scans, err := v.Scans(parcels[0].ID, 1)
		check(t, err)
		same(t, 5, scans)

		stored, err = v.OrderByID("NW-5006")
		parcels = stored.Parcels
		check(t, err)
		same(t, "2026-05-04", parcels[0].ETA)

		internal, _, err := v.SearchArticles([]string{"larch"}, 10)
		check(t, err)
		same(t, 0, len(internal))
		_, found, err := v.SearchArticles([]string{"refund"}, 10)
		check(t, err)
		if found < 5 {
			t.Errorf("%d articles about refunds", found)
		}
	})
}

func BenchmarkRetailShop(b *testing.B) {
	text := retail(b)
	for b.Loop() {
		b.StopTimer()
		db := storetest.New(b)
		b.StartTimer()
		storetest.Shop(b, db, text)
	}
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
