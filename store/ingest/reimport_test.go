package ingest_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/store/ingest"
	"countersign/store/storetest"
)

// refund makes a refund here, in minor units.
func refund(t *testing.T, db *store.DB, orderID string, amount int64) {
	t.Helper()
	write(t, db, func(tx *store.Tx) error {
		o, err := tx.OrderByID(orderID)
		check(t, err)
		_, err = tx.AddRefund(store.Refund{OrderID: orderID, Customer: o.Customer, Amount: amount, Currency: o.Currency,
			Reason: "test", MadeBy: agent(t, tx), Judged: tx.Now})
		return err
	})
}

// agent is the id of a principal that acts here.
func agent(t *testing.T, tx *store.Tx) string {
	t.Helper()
	p, err := tx.PrincipalNamed("test")
	if err != nil {
		p, err = tx.AddPrincipal(store.Principal{Name: "test", Kind: policy.Agent, Role: policy.Staff}, "token")
	}
	check(t, err)
	return p.ID
}

func withRefunded(figure string) string {
	return spoil(orderLine, `"total":"10.00"`, `"total":"10.00","refunded":"`+figure+`"`)
}

func TestRefundedNeverFallsAndCountsBothSides(t *testing.T) {
	for _, row := range []struct {
		name   string
		before string // the shop's figure at the first import
		ours   int64  // refunded here, in cents
		after  string // the shop's figure at the next import
		want   int64
	}{
		{"the shop doesn't know ours yet", "0.00", 400, "0", 400},
		{"the shop knows a part of ours", "0.00", 400, "1.00", 400},
		{"the shop knows ours", "0.00", 400, "4.00", 400},
		{"the shop refunded more", "0.00", 400, "6.50", 650},
		{"both refunded, the shop doesn't know ours", "3.00", 400, "3.00", 700},
		{"both refunded, the shop knows ours", "3.00", 400, "7.00", 700},
		{"the shop's figure falls", "3.00", 0, "1.00", 300},
		{"the shop refunded all", "3.00", 400, "10.00", 1000},
	} {
		t.Run(row.name, func(t *testing.T) {
			db := storetest.New(t)
			imported(t, db, fileOf(customerLine, withRefunded(row.before)))
			if row.ours > 0 {
				refund(t, db, "A-1", row.ours)
			}
			imported(t, db, spoil(withRefunded(row.after), `"T"`, `"changed"`))
			view(t, db, func(v *store.View) { same(t, row.want, order(t, v, "A-1").Refunded) })
		})
	}
}

func TestWhenTheShopsRefundsRose(t *testing.T) {
	var clock storetest.Clock
	db := storetest.New(t, storetest.WithClock(&clock))
	rose := func() (at time.Time) {
		view(t, db, func(v *store.View) { at = order(t, v, "A-1").SourceRefunded })
		return at
	}
	day := func(n int) time.Time { return storetest.Start.AddDate(0, 0, n) }
	for i, row := range []struct {
		figure string
		want   time.Time
	}{
		{"0.00", time.Time{}},
		{"2.00", day(1)},
		{"1.00", day(1)},
		{"3.00", day(3)},
		{"3.000", day(3)},
	} {
		clock.Set(day(i))
		if row.figure == "3.000" { // the same figure on a line that changed otherwise
			imported(t, db, spoil(withRefunded("3.00"), `"T"`, `"changed"`))
		} else {
			imported(t, db, fileOf(customerLine, withRefunded(row.figure)))
		}
		same(t, row.want, rose())
	}

	imported(t, db, spoil(withRefunded("2.00"), "A-1", "A-2"))
	view(t, db, func(v *store.View) { same(t, day(4), order(t, v, "A-2").SourceRefunded) })
}

func TestAddressChangedHereStays(t *testing.T) {
	db := storetest.New(t)
	text := spoil(goodLines, "shipped", "processing")
	imported(t, db, text)
	imported(t, db, spoil(text, "1 Elm St", "2 Elm St"))
	view(t, db, func(v *store.View) { same(t, "2 Elm St", order(t, v, "A-1").Address.Line1) })

	write(t, db, func(tx *store.Tx) error { return tx.SetAddress("A-1", policy.Address{Line1: "9 Oak St"}, agent(t, tx)) })
	imported(t, db, spoil(goodLines, "1 Elm St", "3 Elm St"))
	view(t, db, func(v *store.View) {
		o := order(t, v, "A-1")
		same(t, []string{"9 Oak St", policy.Shipped}, []string{o.Address.Line1, o.Status})
	})
}

func TestEarliestDeliveryStays(t *testing.T) {
	delivered := func(at string) string { // of the order and of its parcel
		if at == "" {
			return goodLines
		}
		return spoil(goodLines, `"placed_at"`, `"delivered_at":"`+at+`","placed_at"`,
			`"scans":[`, `"scans":[{"at":"`+at+`","status":"Delivered"},`)
	}
	const early, late = "2026-04-20T08:00:00Z", "2026-04-22T08:00:00Z"
	for _, row := range []struct{ name, before, after, want string }{
		{"later", early, late, early},
		{"earlier", late, early, early},
		{"gone", early, "", early},
		{"first", "", late, late},
	} {
		t.Run(row.name, func(t *testing.T) {
			db := storetest.New(t)
			imported(t, db, delivered(row.before))
			imported(t, db, delivered(row.after))
			want, err := time.Parse(time.RFC3339, row.want)
			check(t, err)
			view(t, db, func(v *store.View) {
				stored, err := v.OrderByID("A-1")
				parcels := stored.Parcels
				check(t, err)
				same(t, []time.Time{want, want}, []time.Time{order(t, v, "A-1").Delivered, parcels[0].Delivered})
			})
		})
	}
}

func TestContradictionsAreProblemsByLine(t *testing.T) {
	const paid = "paid: is less than what was refunded, by the shop or here"
	for _, row := range []struct {
		name, first, second, want string
		ours                      int64
	}{
		{"owner", orderLine, spoil(orderLine, `"C-1"`, `"C-2"`),
			"customer_id: the order belongs to another customer; an order's owner can't change", 0},
		{"currency", orderLine, spoil(orderLine, "USD", "EUR"),
			"currency: the order is stored in another one; an order's currency can't change", 0},
		{"leaving cancelled", spoil(orderLine, "shipped", "cancelled"), orderLine,
			"status: the order is cancelled; that can't be taken back", 0},
		{"paid below ours", orderLine, spoil(orderLine, `"10.00"`, `"3.99"`), paid, 400},
		{"paid below the shop's earlier figure", withRefunded("5.00"), spoil(orderLine, `"10.00"`, `"3.99"`), paid, 0},
		{"another way to write the number", orderLine, spoil(orderLine, "A-1", "#a-1"),
			"id: an order is stored whose number reads the same; case, blanks, kinds of hyphen and # make no difference", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			db := storetest.New(t)
			second := spoil(customerLine, "C-1", "C-2")
			imported(t, db, fileOf(customerLine, second, row.first))
			if row.ours > 0 {
				refund(t, db, "A-1", row.ours)
			}
			var before store.Order
			view(t, db, func(v *store.View) { before = order(t, v, "A-1") })
			same(t, fmt.Sprintf("line 2: %s\n", row.want), refused(t, db, fileOf(customerLine, row.second)))
			_, err := run(t, db, fileOf(customerLine, row.second), ingest.Options{SkipBad: true})
			check(t, err)
			view(t, db, func(v *store.View) { same(t, before, order(t, v, "A-1")) })
		})
	}
}

func TestPaidMayFallToWhatWasRefunded(t *testing.T) {
	db := storetest.New(t)
	imported(t, db, goodLines)
	refund(t, db, "A-1", 400)
	imported(t, db, spoil(orderLine, `"10.00"`, `"4.00"`))
	view(t, db, func(v *store.View) { same(t, int64(400), order(t, v, "A-1").Paid) })
}

func TestSameLineKeepsTheMeaningOfItsTimes(t *testing.T) {
	var clock storetest.Clock
	db := storetest.New(t, storetest.WithClock(&clock))
	imported(t, db, goodLines)
	clock.Advance(24 * time.Hour)
	report := imported(t, db, "\ufeff\r\n "+spoil(goodLines, "\n", "\r\n\t\r\n")) // only around the lines
	same(t, ingest.Count{Unchanged: 4}, report.Total())
	placed := func() (at time.Time) {
		view(t, db, func(v *store.View) { at = order(t, v, "A-1").Placed })
		return at
	}
	same(t, storetest.Start.AddDate(0, 0, -9), placed())

	imported(t, db, spoil(orderLine, `"T"`, `"changed"`))
	same(t, storetest.Start.AddDate(0, 0, -8), placed())
}

func TestChangedLinesUpdate(t *testing.T) {
	db := storetest.New(t)
	imported(t, db, goodLines)
	var key string
	view(t, db, func(v *store.View) { key = order(t, v, "A-1").Customer })
	report := imported(t, db, spoil(goodLines, `"Ada"`, `"Ada L"`, `"title":"T","quantity":2`, `"title":"U","quantity":3`,
		`"tracking_number":"T-1","status":"in_transit"`, `"tracking_number":"T-1","status":"exception","eta":"+1d"`,
		`"sku":"S","quantity":1`, `"sku":"R","quantity":4`, "Thirty days.", "Fourteen nights."))
	same(t, ingest.Count{Changed: 4}, report.Total())
	view(t, db, func(v *store.View) {
		c, err := v.CustomerByID("C-1")
		check(t, err)
		same(t, []string{key, "Ada L"}, []string{c.Key, c.Name})
		same(t, []store.Item{{SKU: "S", Title: "U", Quantity: 3, UnitPrice: 500}}, order(t, v, "A-1").Items)
		stored, err := v.OrderByID("A-1")
		parcels := stored.Parcels
		check(t, err)
		same(t, []store.Shipment{{ID: parcels[0].ID, TrackingNumber: "T-1", Status: "exception",
			ETA: "2026-05-02", Items: []store.ShipmentItem{{SKU: "R", Quantity: 4}}}}, parcels)
		for term, want := range map[string]int{"thirti": 0, "fourteen": 1} {
			_, found, err := v.SearchArticles([]string{term}, 1)
			check(t, err)
			same(t, want, found)
		}
	})

	imported(t, db, spoil(articleLine, "Thirty days.", "Fourteen nights.", "public", "internal"))
	view(t, db, func(v *store.View) {
		_, found, err := v.SearchArticles([]string{"fourteen"}, 1)
		check(t, err)
		same(t, 0, found)
	})
}
