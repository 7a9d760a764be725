package policy_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"countersign/policy"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 5, 20, 15, 0, 0, 0, time.UTC)

func ago(days int) time.Time { return now.AddDate(0, 0, -days) }

// order returns an order in USD, delivered 10 days ago, of one line worth what was paid.
func order(paid int64, changes ...func(*policy.Order)) policy.Order {
	o := policy.Order{
		Status: policy.Delivered, Currency: "USD", Paid: paid,
		Lines:       []policy.Line{{SKU: "A", Quantity: 1, UnitPrice: paid}},
		DeliveredAt: ago(10),
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

// charged adds refunds that were made and counts them as refunded.
func charged(charges ...policy.Charge) func(*policy.Order) {
	return func(o *policy.Order) {
		for _, c := range charges {
			o.Charges = append(o.Charges, c)
			if !c.Pending {
				o.Refunded += c.Minor
			}
		}
	}
}

func auto(minor int64) policy.Charge { return policy.Charge{Minor: minor, JudgedAt: ago(1)} }
func human(minor int64) policy.Charge {
	return policy.Charge{Minor: minor, JudgedAt: ago(1), Human: true}
}
func pending(minor int64) policy.Charge {
	return policy.Charge{Minor: minor, JudgedAt: ago(1), Pending: true}
}
func imported(minor int64) policy.Charge {
	return policy.Charge{Minor: minor, JudgedAt: ago(1), Imported: true}
}

func decide(r policy.Rules, o policy.Order, asked int64) policy.RefundDecision {
	return r.DecideRefund(policy.RefundRequest{Order: o, Asked: &asked, AskedAt: now})
}

func decideAll(r policy.Rules, o policy.Order) policy.RefundDecision {
	return r.DecideRefund(policy.RefundRequest{Order: o, AskedAt: now})
}

// generous lets everything through without a human.
func generous() policy.Rules {
	r := policy.Default()
	for _, currency := range []string{"USD", "JPY", "KWD", "EUR", "INR"} {
		r.Refund.AutoLimit[currency] = math.MaxInt64
	}
	r.Refund.CustomerLimit24h = nil
	return r
}

func TestDecideRefundAmounts(t *testing.T) {
	inCurrency := func(currency string) func(*policy.Order) { return func(o *policy.Order) { o.Currency = currency } }
	for _, c := range []struct {
		name  string
		order policy.Order
		asked int64 // 0: everything
		want  int64 // refunded; or, when refused, the most that would fit
		code  policy.Code
	}{
		{"case 13: all of it once", order(8400), 8400, 8400, ""},
		{"case 13: not twice", order(8400, charged(auto(8400))), 8400, 0, policy.NothingToRefund},
		{"case 14: third of three lines", order(1000, charged(auto(334), auto(334))), 334, 332, policy.AmountExceedsRefundable},
		{"case 14: what is left of it", order(1000, charged(auto(334), auto(334))), 332, 332, ""},
		{"case 15: item and tax", order(100), 100, 100, ""},
		{"case 15: a cent more", order(100), 101, 100, policy.AmountExceedsRefundable},
		{"case 16: a cent is left", order(10000, charged(auto(3333), auto(3333), auto(3333))), 0, 1, ""},
		{"case 16: nothing is left", order(10000, charged(auto(3333), auto(3333), auto(3334))), 0, 0, policy.NothingToRefund},
		{"case 17: yen", order(9899, inCurrency("JPY")), 0, 9899, ""},
		{"case 18: yen, partly refunded by the shop", order(6400, inCurrency("JPY"), charged(imported(1000))), 5400, 5400, ""},
		{"case 18: a yen more", order(6400, inCurrency("JPY"), charged(imported(1000))), 5401, 5400, policy.AmountExceedsRefundable},
		{"three decimals", order(12345, inCurrency("KWD")), 12345, 12345, ""},
		{"case 20: items", order(2495), 2000, 2000, ""},
		{"case 20: everything, with shipping", order(2495), 0, 2495, ""},
		{"case 20: more than everything", order(2495), 2496, 2495, policy.AmountExceedsRefundable},
		{"case 21: shipping alone", order(2495), 495, 495, ""},
		{"case 22: two partial refunds on one line", order(7350, charged(auto(1000), auto(1000))), 0, 5350, ""},
		{"case 23: the rest", order(10000, charged(auto(3000))), 0, 7000, ""},
		{"case 25: nothing captured", order(0), 0, 0, policy.OrderNotPaid},
		{"partly paid", order(14400, func(o *policy.Order) { o.Paid = 5000 }), 5001, 5000, policy.AmountExceedsRefundable},
		{"paid below zero counts as nothing", order(-5), 0, 0, policy.OrderNotPaid},
		{"refunded more than paid", order(5000, charged(imported(6000))), 0, 0, policy.NothingToRefund},
		{"refunded without a charge", order(5000, func(o *policy.Order) { o.Refunded = 2000 }), 0, 3000, ""},
		{"waiting requests are reserved", order(5000, charged(pending(2000))), 3001, 3000, policy.AmountExceedsRefundable},
		{"all of it is waiting", order(5000, charged(pending(5000))), 0, 0, policy.NothingToRefund},
		{"huge amount asked", order(5000), math.MaxInt64, 5000, policy.AmountExceedsRefundable},
		{"largest order", order(math.MaxInt64, charged(auto(1))), 0, math.MaxInt64 - 1, ""},
		{"charges beyond all numbers", order(5000, charged(pending(math.MaxInt64), pending(math.MaxInt64))), 0, 0, policy.NothingToRefund},
		{"no lines", order(5000, func(o *policy.Order) { o.Lines = nil }), 0, 5000, ""},
		{"case 11: lines worth nothing", order(5000, func(o *policy.Order) {
			o.Lines = append(o.Lines, policy.Line{SKU: "free", Quantity: 1}, policy.Line{SKU: "none"})
		}), 0, 5000, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decideAll(generous(), c.order)
			if c.asked != 0 {
				d = decide(generous(), c.order, c.asked)
			}
			if d.Code != c.code || d.State.Refundable < 0 {
				t.Fatalf("code %q (%s), want %q", d.Code, d.Message, c.code)
			}
			if c.code != "" && d.State.Refundable != c.want || c.code == "" && (d.Amount != c.want || d.Outcome != policy.Allow) {
				t.Errorf("%s: amount %d, refundable %d; want %d", d.Outcome, d.Amount, d.State.Refundable, c.want)
			}
		})
	}
}

func TestDecideRefundRefusesAmountsBelowOne(t *testing.T) {
	for _, asked := range []int64{0, -1, math.MinInt64} {
		for _, approved := range []bool{false, true} {
			d := generous().DecideRefund(policy.RefundRequest{Order: order(5000), Asked: &asked, AskedAt: now, Approved: approved})
			if d.Outcome != policy.Refuse || d.Code != policy.InvalidArguments {
				t.Errorf("asked %d: %+v", asked, d.Decision)
			}
		}
	}
}

func TestDecideRefundCurrency(t *testing.T) {
	rupees := order(9863300, func(o *policy.Order) { o.Currency = "INR" })
	for currency, want := range map[string]policy.Code{"": "", "INR": "", "inr": "", "GBP": policy.CurrencyMismatch, "?": policy.CurrencyMismatch} {
		d := generous().DecideRefund(policy.RefundRequest{Order: rupees, Currency: currency, AskedAt: now})
		if d.Code != want {
			t.Errorf("%q: code %q, want %q", currency, d.Code, want)
		}
		if want != "" && (!strings.Contains(d.Message, "INR") || strings.Contains(d.Message, currency+" ")) {
			t.Errorf("%q: message %q", currency, d.Message)
		}
	}
}

// One order violates everything at once; each refusal in turn is cured, and the next one shows.
func TestRefusalOrder(t *testing.T) {
	rules := generous()
	rules.Refund.Undelivered = policy.RefuseUndelivered
	asked := int64(20000)
	q := policy.RefundRequest{
		Order: order(0, func(o *policy.Order) {
			o.Status, o.DeliveredAt = policy.Cancelled, time.Time{}
		}),
		Currency: "EUR", Asked: &asked, AskedAt: now,
	}
	for _, step := range []struct {
		code policy.Code
		cure func()
	}{
		{policy.OrderCancelled, func() { q.Order.Status = policy.Delivered }},
		{policy.CurrencyMismatch, func() { q.Currency = "USD" }},
		{policy.OrderNotPaid, func() { q.Order.Paid = 10000 }},
		{policy.OrderNotDelivered, func() { q.Order.DeliveredAt = ago(45); charged(pending(10000))(&q.Order) }},
		{policy.RefundWindowExpired, func() { q.Order.DeliveredAt = ago(5) }},
		{policy.NothingToRefund, func() { q.Order.Charges = nil }},
		{policy.AmountExceedsRefundable, func() { asked = 10000 }},
		{"", func() {}},
	} {
		if d := rules.DecideRefund(q); d.Code != step.code {
			t.Fatalf("code %q (%s), want %q", d.Code, d.Message, step.code)
		}
		step.cure()
	}
}

func TestRefusalMessages(t *testing.T) {
	rules := generous()
	refuse := generous()
	refuse.Refund.Undelivered = policy.RefuseUndelivered
	undelivered := func(o *policy.Order) { o.DeliveredAt = time.Time{} }
	for _, c := range []struct {
		name string
		d    policy.RefundDecision
		want string
	}{
		{"cancelled", decideAll(rules, order(5000, func(o *policy.Order) { o.Status = policy.Cancelled })),
			"the order is cancelled: the shop refunds a cancelled order by itself, so there is nothing to do here; use escalate_to_human if the customer has waited too long for the money"},
		{"not paid", decideAll(rules, order(0)),
			"nothing has been captured on this order (paid 0.00 USD), so nothing can be refunded; use escalate_to_human if the customer was charged"},
		{"not delivered", decideAll(refuse, order(5000, undelivered)),
			"50.00 USD of this order is not delivered yet and can be refunded after delivery, not before; use escalate_to_human if the parcel is lost"},
		{"partly delivered", decide(refuse, twoParcels(ago(5), time.Time{}), 9000),
			"40.00 USD can be refunded now: ask for that or less; another 60.00 USD is not delivered yet and can be refunded after delivery"},
		{"expired", decideAll(rules, order(5000, func(o *policy.Order) { o.DeliveredAt = ago(31) })),
			"the refund window ended on 2026-05-19, 30 days after delivery (days in UTC); use escalate_to_human if the customer asks for an exception"},
		{"nothing left", decideAll(rules, order(8400, charged(auto(8000), pending(400)))),
			"0.00 USD is left to refund: 84.00 USD paid, less 80.00 USD refunded, less 4.00 USD waiting for approval; use escalate_to_human if the customer disagrees"},
		{"too much", decide(rules, order(7350, charged(auto(2000))), 5351),
			"at most 53.50 USD can be refunded now (73.50 USD paid, shipping and tax included, less 20.00 USD refunded): ask for that or less, or leave the amount out for all of it"},
		{"below one", decide(rules, order(5000), 0),
			"the amount must be more than zero: ask for up to 50.00 USD, or leave the amount out for all that is refundable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.d.Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}
