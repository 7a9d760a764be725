package ingest_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/store/ingest"
	"countersign/store/storetest"
)

func TestDefaultsAndEdgesOfMoney(t *testing.T) {
	db := storetest.New(t)
	imported(t, db, fileOf(customerLine,
		spoil(orderLine, `"5.00"`, `"0.00"`, `"quantity":2`, `"quantity":0`),
		spoil(orderLine, "A-1", "A-2", "USD", "JPY", `"5.00"`, `"2500"`, `"10.00"`, `"5000","paid":"0"`),
		spoil(orderLine, "A-1", "A-3", "USD", "KWD", `"5.00"`, `"1.234"`, `"10.00"`, `"2.5","shipping":"0.032","tax":null`),
	))
	type amounts struct{ unit, shipping, total, paid int64 }
	for id, want := range map[string]amounts{
		"A-1": {0, 0, 1000, 1000},
		"A-2": {2500, 0, 5000, 0},
		"A-3": {1234, 32, 2500, 2500},
	} {
		view(t, db, func(v *store.View) {
			o := order(t, v, id)
			if got := (amounts{o.Items[0].UnitPrice, o.Shipping, o.Total, o.Paid}); got != want {
				t.Errorf("%s: %+v, want %+v", id, got, want)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]time.Time{
		"-12d":                             storetest.Start.AddDate(0, 0, -12),
		"+3d":                              storetest.Start.AddDate(0, 0, 3),
		"-3h":                              storetest.Start.Add(-3 * time.Hour),
		"-30m":                             storetest.Start.Add(-30 * time.Minute),
		"-3650d":                           storetest.Start.AddDate(0, 0, -3650),
		"+87600h":                          storetest.Start.AddDate(0, 0, 3650),
		"2026-03-29T02:30:00+02:00":        time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC),
		"1970-01-01T00:00:00Z":             time.Unix(0, 0).UTC(),
		"2999-12-31T23:59:59.9999999Z":     time.Date(2999, 12, 31, 23, 59, 59, 999999000, time.UTC),
		"1969-12-31T23:30:00.000001-01:00": time.Date(1970, 1, 1, 0, 30, 0, 1000, time.UTC),
	} {
		db := storetest.New(t)
		imported(t, db, spoil(customerLine, "-9d", text))
		view(t, db, func(v *store.View) {
			c, err := v.CustomerByID("C-1")
			check(t, err)
			if !c.Created.Equal(want) {
				t.Errorf("%s: %v, want %v", text, c.Created, want)
			}
		})
	}
}

func TestTextsAreKeptLetterForLetter(t *testing.T) {
	db := storetest.New(t)
	imported(t, db, fileOf(
		spoil(customerLine, "Ada", `\ud83c\udfd6 \ufffd � Ñandú`, "ada@", "  ADA@"),
		spoil(orderLine, `{"line1":"1 Elm St"}`,
			`{"recipient":"서울특 ﷼","line1":"Große Straße 5 🏖","postal_code":"02138","country":"Deutschland"}`)))
	view(t, db, func(v *store.View) {
		c, err := v.CustomerByID("C-1")
		check(t, err)
		same(t, []string{"🏖 \ufffd � Ñandú", "ADA@example.com"}, []string{c.Name, c.Email})
		same(t, policy.Address{Recipient: "서울특 ﷼", Line1: "Große Straße 5 🏖", PostalCode: "02138", Country: "Deutschland"},
			order(t, v, "A-1").Address)
	})
}

func TestLinesMayComeInAnyOrder(t *testing.T) {
	db := storetest.New(t)
	report := imported(t, db, fileOf(spoil(parcelLine, `"A-1"`, `" #a‑1 "`), orderLine, customerLine, orderLine))
	same(t, ingest.Count{New: 3, Unchanged: 1}, report.Total())
	view(t, db, func(v *store.View) {
		stored, err := v.OrderByID("A-1")
		parcels := stored.Parcels
		check(t, err)
		same(t, 1, len(parcels))
	})
}

func TestParcelsWithoutTrackingNumberGoByPlace(t *testing.T) {
	db := storetest.New(t)
	bare := spoil(parcelLine, `"tracking_number":"T-1",`, ``)
	text := fileOf(customerLine, orderLine, bare, parcelLine, bare, spoil(parcelLine, "T-1", "2"), spoil(bare, "-3d", "-2d"))
	same(t, ingest.Count{New: 5}, imported(t, db, text).Shipments)
	same(t, ingest.Count{Unchanged: 4, Changed: 1}, imported(t, db, spoil(text, "-2d", "-1d")).Shipments)
	view(t, db, func(v *store.View) {
		stored, err := v.OrderByID("A-1")
		parcels := stored.Parcels
		check(t, err)
		var numbers []string
		for _, p := range parcels {
			numbers = append(numbers, p.TrackingNumber)
		}
		same(t, []string{"", "T-1", "", "2", ""}, numbers)
		scans, _, err := v.Scans(parcels[4].ID, 10)
		check(t, err)
		same(t, []store.Scan{{At: storetest.Start.AddDate(0, 0, -1), Status: "in_transit"}}, scans)
	})
}

func TestScansAreSortedAndRepeatsDropped(t *testing.T) {
	db := storetest.New(t)
	imported(t, db, fileOf(customerLine, orderLine, spoil(parcelLine, `{"at":"-3d","status":"in_transit"}`,
		`{"at":"2026-04-20T03:15:00+02:00","status":"DELIVERED"},`+
			`{"at":"2026-04-21T00:00:00Z","status":"delivered"},`+
			`{"at":"2026-04-20T00:30:00Z","status":"not delivered"},`+
			`{"at":"2026-04-20T00:30:00Z","status":"in_transit"},`+
			`{"at":"2026-04-20T02:30:00+02:00","status":"not delivered"}`)))
	first := time.Date(2026, 4, 20, 0, 30, 0, 0, time.UTC)
	delivered := first.Add(45 * time.Minute)
	view(t, db, func(v *store.View) {
		stored, err := v.OrderByID("A-1")
		parcels := stored.Parcels
		check(t, err)
		same(t, delivered, parcels[0].Delivered)
		scans, _, err := v.Scans(parcels[0].ID, 10)
		check(t, err)
		same(t, []store.Scan{
			{At: first, Status: "not delivered"},
			{At: first, Status: "in_transit"},
			{At: delivered, Status: "DELIVERED"},
			{At: time.Date(2026, 4, 21, 0, 0, 0, 0, time.UTC), Status: "delivered"},
		}, scans)
	})
}

func TestProgressReachesTheEnd(t *testing.T) {
	db := storetest.New(t)
	var calls, last int
	_, err := run(t, db, retail(t), ingest.Options{Progress: func(done, total int) {
		if total != 2077 || done <= last {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		calls, last = calls+1, done
	}})
	check(t, err)
	same(t, 2077, last)
	if calls < 3 || calls > 20 {
		t.Errorf("%d calls", calls)
	}
}

func TestReadingErrorIsReturned(t *testing.T) {
	failure := errors.New("the disk is gone")
	_, err := ingest.Read(iotest.ErrReader(failure), storetest.Start)
	if !errors.Is(err, failure) {
		t.Errorf("err = %v", err)
	}
}

func TestLineOfOneMebibyteIsRead(t *testing.T) {
	db := storetest.New(t)
	line := spoil(customerLine, `{"type"`, "{"+strings.Repeat(" ", 1<<20-len(customerLine))+`"type"`)
	imported(t, db, line+"\r\n"+orderLine) // the longest line, and one after it
	same(t, "line 1: is longer than 1 MiB\n", refused(t, db, " "+line+"\n"+orderLine))
}
