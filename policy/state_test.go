package policy_test

import (
	"testing"
	"time"

	"countersign/policy"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestState(t *testing.T) {
	refuse, allow := policy.Default(), policy.Default()
	refuse.Refund.Undelivered, allow.Refund.Undelivered = policy.RefuseUndelivered, policy.AllowUndelivered
	ends := time.Date(2026, 6, 9, 23, 59, 59, 0, time.UTC)
	closed := time.Date(2026, 5, 10, 23, 59, 59, 0, time.UTC)
	partly := time.Date(2026, 6, 14, 23, 59, 59, 0, time.UTC)
	const paid = "100.00 USD paid, shipping and tax included"
	for _, c := range []struct {
		name  string
		rules policy.Rules
		order policy.Order
		want  policy.State
	}{
		{"untouched", policy.Default(), order(10000),
			policy.State{Paid: 10000, Refundable: 10000, Ready: 10000, WindowEnds: ends, Reason: paid}},
		{"refunded and waiting", policy.Default(), order(10000, charged(auto(3000), pending(1500))),
			policy.State{Paid: 10000, Refunded: 3000, Awaiting: 1500, Refundable: 5500, Ready: 5500, WindowEnds: ends,
				Reason: paid + ", less 30.00 USD refunded, less 15.00 USD waiting for approval"}},
		{"one parcel closed", policy.Default(), twoParcels(ago(40), ago(5)),
			policy.State{Paid: 10000, Refundable: 6000, Ready: 6000, Closed: 4000, WindowEnds: partly,
				Reason: paid + ", less 40.00 USD in parcels whose refund window has ended"}},
		{"partly delivered: a human decides", policy.Default(), twoParcels(ago(5), time.Time{}),
			policy.State{Paid: 10000, Refundable: 10000, Ready: 4000, Undelivered: 6000, WindowEnds: partly,
				Reason: paid + "; 60.00 USD of it is not delivered yet, so a human decides on that"}},
		{"partly delivered: refused", refuse, twoParcels(ago(5), time.Time{}),
			policy.State{Paid: 10000, Refundable: 4000, Ready: 4000, Undelivered: 6000, WindowEnds: partly,
				Reason: paid + ", less 60.00 USD not delivered yet"}},
		{"partly delivered: allowed", allow, twoParcels(ago(5), time.Time{}),
			policy.State{Paid: 10000, Refundable: 10000, Ready: 4000, Undelivered: 6000, WindowEnds: partly, Reason: paid}},
		{"not delivered: refused", refuse, twoParcels(time.Time{}, time.Time{}),
			policy.State{Paid: 10000, Undelivered: 10000, Code: policy.OrderNotDelivered,
				Reason: "what is left to refund has not been delivered yet"}},
		{"cancelled", policy.Default(), order(10000, func(o *policy.Order) { o.Status = policy.Cancelled }),
			policy.State{Paid: 10000, Ready: 10000, WindowEnds: ends, Code: policy.OrderCancelled,
				Reason: "the order is cancelled; the shop refunds a cancelled order by itself"}},
		{"not paid", policy.Default(), order(0),
			policy.State{WindowEnds: ends, Code: policy.OrderNotPaid, Reason: "nothing has been captured on this order"}},
		{"case 29: window closed", policy.Default(), order(10000, func(o *policy.Order) { o.DeliveredAt = ago(40) }),
			policy.State{Paid: 10000, Closed: 10000, WindowEnds: closed, Code: policy.RefundWindowExpired,
				Reason: "the refund window ended on 2026-05-10"}},
		{"nothing left", policy.Default(), order(10000, charged(auto(10000))),
			policy.State{Paid: 10000, Refunded: 10000, WindowEnds: ends, Code: policy.NothingToRefund,
				Reason: paid + ", less 100.00 USD refunded"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.rules.State(c.order, now)
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(policy.State{})); diff != "" {
				t.Error(diff)
			}
			if d := decideAll(c.rules, c.order); d.Code != c.want.Code || d.Amount != c.want.Refundable {
				t.Errorf("DecideRefund disagrees: %q, %d", d.Code, d.Amount)
			}
		})
	}
}

// Rules without settings decide as strictly as settings can be, and don't fail.
func TestRulesWithoutSettings(t *testing.T) {
	var rules policy.Rules
	o := order(100, func(o *policy.Order) { o.DeliveredAt = now })
	if d := decideAll(rules, o); d.Outcome != policy.Ask {
		t.Errorf("%+v", d)
	}
}

var drawTime = rapid.Custom(func(t *rapid.T) time.Time {
	if rapid.IntRange(0, 4).Draw(t, "known") == 0 {
		return time.Time{}
	}
	return now.Add(-time.Duration(rapid.IntRange(-48, 24*70).Draw(t, "hours ago")) * time.Hour)
})

var drawOrder = rapid.Custom(func(t *rapid.T) policy.Order {
	sku := rapid.SampledFrom([]string{"A", "B", "C"})
	quantity := rapid.Int64Range(-1, 5)
	amount := rapid.OneOf(rapid.Int64Range(0, 500), rapid.Int64Range(-100, 1<<40))
	item := rapid.Custom(func(t *rapid.T) policy.ParcelItem {
		return policy.ParcelItem{SKU: sku.Draw(t, "sku"), Quantity: quantity.Draw(t, "quantity")}
	})
	line := rapid.Custom(func(t *rapid.T) policy.Line {
		return policy.Line{SKU: sku.Draw(t, "sku"), Quantity: quantity.Draw(t, "quantity"), UnitPrice: amount.Draw(t, "price")}
	})
	parcel := rapid.Custom(func(t *rapid.T) policy.Parcel {
		return policy.Parcel{Delivered: drawTime.Draw(t, "delivered"), Items: rapid.SliceOfN(item, 0, 3).Draw(t, "items")}
	})
	charge := rapid.Custom(func(t *rapid.T) policy.Charge {
		return policy.Charge{
			Minor: amount.Draw(t, "minor"), JudgedAt: drawTime.Draw(t, "judged"), Pending: rapid.Bool().Draw(t, "pending"),
			Human: rapid.Bool().Draw(t, "human"), Imported: rapid.Bool().Draw(t, "imported"),
		}
	})
	o := policy.Order{
		Status:   rapid.SampledFrom([]string{"processing", "shipped", "delivered", "delivered", "cancelled"}).Draw(t, "status"),
		Currency: "USD", Paid: amount.Draw(t, "paid"),
		Lines:       rapid.SliceOfN(line, 0, 4).Draw(t, "lines"),
		Parcels:     rapid.SliceOfN(parcel, 0, 3).Draw(t, "parcels"),
		DeliveredAt: drawTime.Draw(t, "order delivered"),
		HumanSaidNo: rapid.Bool().Draw(t, "human said no"),
	}
	if o.Charges = rapid.SliceOfN(charge, 0, 4).Draw(t, "charges"); rapid.Bool().Draw(t, "refunded is known") {
		for _, c := range o.Charges {
			if !c.Pending {
				o.Refunded += max(c.Minor, 0)
			}
		}
	} else {
		o.Refunded = amount.Draw(t, "refunded")
	}
	return o
})

func drawRules(t *rapid.T) policy.Rules {
	r := policy.Default()
	r.Refund.WindowDays = rapid.IntRange(0, 40).Draw(t, "window")
	r.Refund.Undelivered = rapid.SampledFrom([]policy.Undelivered{"ask", "refuse", "allow"}).Draw(t, "undelivered")
	zone, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "America/New_York", "Pacific/Kiritimati"}).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	r.Zone = zone
	return r
}

func TestRefundProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, o := drawRules(t), drawOrder.Draw(t, "order")
		s := rules.State(o, now)
		if s.Refundable < 0 || s.Refundable > max(0, s.Paid-s.Refunded-s.Awaiting) {
			t.Fatalf("refundable %d of paid %d − refunded %d − awaiting %d", s.Refundable, s.Paid, s.Refunded, s.Awaiting)
		}
		if s.Ready < 0 || s.Undelivered < 0 || s.Closed < 0 {
			t.Fatalf("a share is below zero: %+v", s)
		}
		if (s.Code == "") != (s.Refundable > 0) || s.Reason == "" {
			t.Fatalf("code %q, reason %q with %d refundable", s.Code, s.Reason, s.Refundable)
		}
		all := decideAll(rules, o)
		if all.Code != s.Code || all.Amount > s.Refundable || (all.Outcome == policy.Refuse) != (s.Code != "") {
			t.Fatalf("State says %q and %d, asking for everything %q and %d", s.Code, s.Refundable, all.Code, all.Amount)
		}
		if d := decide(rules, o, s.Refundable+1); d.Outcome != policy.Refuse {
			t.Fatalf("one more than refundable: %s", d.Outcome)
		}
		if s.Refundable == 0 {
			return
		}
		asked := rapid.Int64Range(1, s.Refundable).Draw(t, "asked")
		if d := decide(rules, o, asked); d.Outcome == policy.Refuse || d.Amount != asked {
			t.Fatalf("%d of %d: %s %q", asked, s.Refundable, d.Outcome, d.Code)
		}
		approved := rules.DecideRefund(policy.RefundRequest{Order: o, Asked: &asked, AskedAt: now, Approved: true})
		if approved.Outcome != policy.Allow {
			t.Fatalf("approved: %s", approved.Outcome)
		}
	})
}

// Without charges, the shares of all parcels add up to what was paid.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, o := drawRules(t), drawOrder.Draw(t, "order")
		o.Charges, o.Refunded = nil, 0
		s := rules.State(o, now)
		if s.Ready+s.Undelivered+s.Closed != s.Paid {
			t.Fatalf("%d + %d + %d is not %d", s.Ready, s.Undelivered, s.Closed, s.Paid)
		}
	})
}

// A refund made takes exactly its amount off what is refundable at that moment, and one that waits does the same.
func TestChargeTakesItsAmount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, o := drawRules(t), drawOrder.Draw(t, "order")
		for i := range o.Charges { // nothing is judged after now
			if o.Charges[i].JudgedAt.After(now) {
				o.Charges[i].JudgedAt = now
			}
		}
		before := rules.State(o, now)
		if before.Refundable == 0 {
			return
		}
		minor := rapid.Int64Range(0, before.Refundable).Draw(t, "minor")
		c := policy.Charge{Minor: minor, JudgedAt: now, Pending: rapid.Bool().Draw(t, "pending")}
		known := int64(0)
		for _, c := range o.Charges {
			if !c.Pending {
				known += max(c.Minor, 0)
			}
		}
		if o.Charges = append(o.Charges, c); !c.Pending {
			o.Refunded = max(o.Refunded, known) + minor
		}
		if after := rules.State(o, now); after.Refundable != before.Refundable-minor {
			t.Fatalf("refundable %d, after a charge of %d it is %d", before.Refundable, minor, after.Refundable)
		}
	})
}

func BenchmarkState(b *testing.B) {
	rules, o := policy.Default(), twoParcels(ago(40), ago(5), charged(auto(100), pending(200)))
	for b.Loop() {
		rules.State(o, now)
	}
}
