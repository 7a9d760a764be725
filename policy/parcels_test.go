package policy_test

import (
	"testing"
	"time"

	"countersign/policy"

	"github.com/google/go-cmp/cmp"
)

// twoParcels returns an order over 100.00 USD: A for 40.00 in the first parcel, B for 60.00 in the second.
func twoParcels(first, second time.Time, changes ...func(*policy.Order)) policy.Order {
	o := policy.Order{
		Status: policy.Shipped, Currency: "USD", Paid: 10000,
		Lines: []policy.Line{{SKU: "A", Quantity: 1, UnitPrice: 4000}, {SKU: "B", Quantity: 1, UnitPrice: 6000}},
		Parcels: []policy.Parcel{
			{Delivered: first, Items: []policy.ParcelItem{{SKU: "A", Quantity: 1}}},
			{Delivered: second, Items: []policy.ParcelItem{{SKU: "B", Quantity: 1}}},
		},
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

// split is what is left of an order: delivered and open, not delivered, closed.
type split struct{ Ready, Undelivered, Closed int64 }

func TestShares(t *testing.T) {
	none := time.Time{}
	item := func(sku string, n int64) policy.ParcelItem { return policy.ParcelItem{SKU: sku, Quantity: n} }
	line := func(sku string, n, price int64) policy.Line {
		return policy.Line{SKU: sku, Quantity: n, UnitPrice: price}
	}
	parcel := func(at time.Time, items ...policy.ParcelItem) policy.Parcel {
		return policy.Parcel{Delivered: at, Items: items}
	}
	of := func(paid int64, lines []policy.Line, parcels ...policy.Parcel) policy.Order {
		return policy.Order{Status: policy.Shipped, Currency: "USD", Paid: paid, Lines: lines, Parcels: parcels}
	}
	two := []policy.Line{line("A", 1, 4000), line("B", 1, 6000)}
	for _, c := range []struct {
		name  string
		order policy.Order
		want  split
	}{
		{"case 30: one closed, one open", twoParcels(ago(40), ago(10)), split{Ready: 6000, Closed: 4000}},
		{"both closed", twoParcels(ago(40), ago(31)), split{Closed: 10000}},
		{"last day is open", twoParcels(ago(31), ago(30)), split{Ready: 6000, Closed: 4000}},
		{"one on its way", twoParcels(ago(40), none), split{Undelivered: 6000, Closed: 4000}},
		{"shipping goes with the lines", of(12000, two, parcel(ago(40), item("A", 1)), parcel(ago(10), item("B", 1))),
			split{Ready: 7200, Closed: 4800}},
		{"largest remainder", of(1000, []policy.Line{line("A", 1, 100), line("B", 1, 100), line("C", 1, 100)},
			parcel(ago(40), item("A", 1)), parcel(ago(10), item("B", 1), item("C", 1))), split{Ready: 666, Closed: 334}},
		{"a line in two parcels", of(9000, []policy.Line{line("A", 3, 3000)},
			parcel(ago(40), item("A", 1)), parcel(ago(10), item("A", 2))), split{Ready: 6000, Closed: 3000}},
		{"a line that can't be divided evenly", of(100, []policy.Line{line("A", 3, 33)},
			parcel(ago(40), item("A", 1)), parcel(ago(10), item("A", 2))), split{Ready: 67, Closed: 33}},
		{"a unit in two parcels is the later one's", of(5000, []policy.Line{line("A", 1, 5000)},
			parcel(ago(40), item("A", 1)), parcel(ago(10), item("A", 1))), split{Ready: 5000}},
		{"undelivered closes last of all", of(5000, []policy.Line{line("A", 1, 5000)},
			parcel(none, item("A", 1)), parcel(ago(10), item("A", 1))), split{Undelivered: 5000}},
		{"an article on two lines", of(6000, []policy.Line{line("A", 1, 1000), line("A", 1, 5000)},
			parcel(ago(40), item("A", 1)), parcel(ago(10), item("A", 1))), split{Ready: 1000, Closed: 5000}},
		{"a parcel names an article twice", of(6000, []policy.Line{line("A", 2, 3000)},
			parcel(ago(10), item("A", 1), item("A", 1))), split{Ready: 6000}},
		{"a parcel without items carries all", of(10000, two, parcel(ago(10))), split{Ready: 10000}},
		{"of two such, the later", of(10000, two, parcel(ago(10)), parcel(ago(40))), split{Ready: 10000}},
		{"such a parcel on its way", of(10000, two, parcel(ago(10), item("A", 1)), parcel(none)), split{Undelivered: 10000}},
		{"a closed one leaves later units", of(10000, two, parcel(ago(40)), parcel(ago(10), item("A", 1))),
			split{Ready: 4000, Closed: 6000}},
		{"units in no parcel have not come", of(10000, two, parcel(ago(40), item("A", 1))), split{Undelivered: 6000, Closed: 4000}},
		{"no parcels, no date", of(10000, two), split{Undelivered: 10000}},
		{"unknown articles carry nothing", of(10000, two, parcel(ago(10), item("X", 9))), split{Undelivered: 10000}},
		{"no lines: the parcel has all", of(10000, nil, parcel(ago(10), item("X", 1))), split{Ready: 10000}},
		{"lines worth nothing share evenly", of(1000, []policy.Line{line("A", 1, 0), line("B", 1, 0), line("C", 0, 9)},
			parcel(ago(40), item("A", 1)), parcel(ago(10), item("B", 1))), split{Ready: 500, Closed: 500}},
		{"nothing and less count as nothing", of(1000, []policy.Line{line("A", -1, 500), line("B", 1, -500), line("C", 1, 1)},
			parcel(ago(10), item("C", 1), item("B", -1)), parcel(ago(40), item("B", 1))), split{Ready: 1000}},
		{"values beyond all numbers", of(1000, []policy.Line{line("A", 1<<62, 1<<62), line("B", 1<<62, 1<<62)},
			parcel(ago(40), item("A", 1<<62)), parcel(ago(10), item("B", 1<<62))), split{Ready: 500, Closed: 500}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := policy.Default().State(c.order, now)
			if diff := cmp.Diff(c.want, split{s.Ready, s.Undelivered, s.Closed}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOrderDateCountsForParcelsWithoutOne(t *testing.T) {
	o := twoParcels(ago(40), time.Time{}, func(o *policy.Order) { o.DeliveredAt = ago(10) })
	s := policy.Default().State(o, now)
	if diff := cmp.Diff(split{Ready: 6000, Closed: 4000}, split{s.Ready, s.Undelivered, s.Closed}); diff != "" {
		t.Error(diff)
	}
	// Line C is in no parcel, so it came with the order.
	o.Lines = append(o.Lines, policy.Line{SKU: "C", Quantity: 1, UnitPrice: 10000})
	o.Parcels[1].Delivered, o.DeliveredAt = ago(5), ago(31)
	s = policy.Default().State(o, now)
	if diff := cmp.Diff(split{Ready: 3000, Closed: 7000}, split{s.Ready, s.Undelivered, s.Closed}); diff != "" {
		t.Error(diff)
	}
	if want := time.Date(2026, 6, 14, 23, 59, 59, 0, time.UTC); !s.WindowEnds.Equal(want) {
		t.Errorf("window ends %s, want %s", s.WindowEnds, want)
	}
}

func TestCharges(t *testing.T) {
	then := func(days int, minor int64) policy.Charge { return policy.Charge{Minor: minor, JudgedAt: ago(days)} }
	waits := func(days int, minor int64) policy.Charge {
		return policy.Charge{Minor: minor, JudgedAt: ago(days), Pending: true}
	}
	closing := func(changes ...func(*policy.Order)) policy.Order { return twoParcels(ago(40), ago(10), changes...) }
	for _, c := range []struct {
		name  string
		order policy.Order
		want  split
	}{
		{"made while the first was open", closing(charged(then(20, 3000))), split{Ready: 6000, Closed: 1000}},
		{"made on its last day", closing(charged(then(10, 3000))), split{Ready: 6000, Closed: 1000}},
		{"made after it closed", closing(charged(then(9, 3000))), split{Ready: 3000, Closed: 4000}},
		{"more than the first holds", closing(charged(then(20, 5000))), split{Ready: 5000}},
		{"a waiting request likewise", closing(charged(waits(20, 3000))), split{Ready: 6000, Closed: 1000}},
		{"one of each", closing(charged(waits(20, 3000), then(5, 3000))), split{Ready: 3000, Closed: 1000}},
		{"oldest first, however listed", closing(charged(then(5, 6000), then(20, 4000))), split{}},
		{"more than the open one holds goes to the closed one", closing(charged(then(5, 7000))), split{Closed: 3000}},
		{"both closed", twoParcels(ago(50), ago(40), charged(then(1, 7000))), split{Closed: 3000}},
		{"earliest-closing first, however listed", twoParcels(ago(10), ago(40), charged(then(20, 3000))), split{Ready: 4000, Closed: 3000}},
		{"undelivered last", twoParcels(ago(5), time.Time{}, charged(then(1, 5000))), split{Undelivered: 5000}},
		{"what no charge explains was early", closing(func(o *policy.Order) { o.Refunded = 3000 }), split{Ready: 6000, Closed: 1000}},
		{"part of it is explained", closing(charged(then(5, 1000)), func(o *policy.Order) { o.Refunded = 3000 }),
			split{Ready: 5000, Closed: 2000}},
		{"more than was paid", closing(charged(then(5, 20000))), split{}},
		{"below zero counts as nothing", closing(func(o *policy.Order) { o.Charges = []policy.Charge{then(5, -500)} }),
			split{Ready: 6000, Closed: 4000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := policy.Default().State(c.order, now)
			if diff := cmp.Diff(c.want, split{s.Ready, s.Undelivered, s.Closed}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A request that is decided late sees what was refunded since: of closed parcels, the latest-closed first.
func TestChargesAfterTheRequest(t *testing.T) {
	o := twoParcels(ago(50), ago(40), charged(policy.Charge{Minor: 5000, JudgedAt: ago(1)}))
	s := policy.Default().State(o, ago(15))
	if diff := cmp.Diff(split{Ready: 1000, Closed: 4000}, split{s.Ready, s.Undelivered, s.Closed}); diff != "" {
		t.Error(diff)
	}
}

// A parcel that carries nothing of the order keeps no window open.
func TestParcelWithoutUnits(t *testing.T) {
	o := twoParcels(ago(40), ago(35))
	o.Parcels = append(o.Parcels, policy.Parcel{Delivered: ago(5), Items: []policy.ParcelItem{{SKU: "X", Quantity: 1}}})
	s := policy.Default().State(o, now)
	if want := time.Date(2026, 5, 15, 23, 59, 59, 0, time.UTC); s.Code != policy.RefundWindowExpired || !s.WindowEnds.Equal(want) {
		t.Errorf("code %q, window ends %s", s.Code, s.WindowEnds)
	}
}

// Approving a waiting request later leaves everybody else's money where it was.
func TestApprovalMovesNoShares(t *testing.T) {
	waiting := policy.Charge{Minor: 3000, JudgedAt: ago(20), Pending: true}
	made := policy.Charge{Minor: 3000, JudgedAt: ago(20), Human: true}
	before := policy.Default().State(twoParcels(ago(40), ago(10), charged(waiting)), now)
	after := policy.Default().State(twoParcels(ago(40), ago(10), charged(made)), now)
	if before.Refundable != 6000 || after.Refundable != 6000 || before.Closed != after.Closed {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestNothingOpenLeftBesideClosed(t *testing.T) {
	o := twoParcels(ago(40), ago(10), charged(policy.Charge{Minor: 6000, JudgedAt: ago(1)}))
	d := decide(generous(), o, 1)
	want := "0.00 USD is left to refund: 100.00 USD paid, less 60.00 USD refunded, " +
		"less 40.00 USD in parcels whose refund window has ended; use escalate_to_human if the customer disagrees"
	if d.Code != policy.NothingToRefund || d.Message != want {
		t.Errorf("%q: %s", d.Code, d.Message)
	}
}
