package policy_test

import (
	"math"
	"testing"
	"time"

	"countersign/policy"

	"github.com/google/go-cmp/cmp"
)

const saidNo = "a human has rejected a refund on this order before, or approved less than was asked"

func TestDecideRefundAsks(t *testing.T) {
	customer := func(minor int64) func(*policy.Order) { return func(o *policy.Order) { o.CustomerAuto24h = minor } }
	currency := func(code string) func(*policy.Order) { return func(o *policy.Order) { o.Currency = code } }
	no := func(o *policy.Order) { o.HumanSaidNo = true }
	for _, c := range []struct {
		name    string
		order   policy.Order
		asked   int64
		reasons []string // none: allowed
	}{
		{"at the limit", order(14400), 10000, nil},
		{"above the limit", order(14400), 14400,
			[]string{"144.00 USD is above the limit of 100.00 USD for one order without a human"}},
		{"first half of 144", order(14400), 7200, nil},
		{"second half of 144", order(14400, charged(auto(7200))), 7200,
			[]string{"144.00 USD is above the limit of 100.00 USD for one order without a human (72.00 USD refunded earlier, 72.00 USD now)"}},
		{"what a human decided doesn't count", order(30000, charged(human(20000))), 10000, nil},
		{"what the shop refunded doesn't count", order(30000, charged(imported(20000))), 10000, nil},
		{"what waits doesn't count", order(30000, charged(pending(20000))), 10000, nil},
		{"no limit for the currency", order(100, currency("EUR")), 100,
			[]string{"no limit is set for EUR, so a human decides on every refund in EUR"}},
		{"customer's 24 hours, at the limit", order(5000, customer(15000)), 5000, nil},
		{"customer's 24 hours, above", order(5000, customer(15001)), 5000,
			[]string{"200.01 USD is above the limit of 200.00 USD for one customer in 24 hours without a human (150.01 USD refunded earlier, 50.00 USD now)"}},
		{"customer's 24 hours can't overflow", order(5000, customer(math.MaxInt64)), 5000,
			[]string{"92233720368547758.07 USD is above the limit of 200.00 USD for one customer in 24 hours without a human (92233720368547758.07 USD refunded earlier, 50.00 USD now)"}},
		{"a human's no", order(5000, no), 1, []string{saidNo}},
		{"all at once", order(30000, no, customer(20000), func(o *policy.Order) { o.DeliveredAt = time.Time{} }), 14400, []string{
			saidNo,
			"144.00 USD of it is for goods that have not been delivered",
			"144.00 USD is above the limit of 100.00 USD for one order without a human",
			"344.00 USD is above the limit of 200.00 USD for one customer in 24 hours without a human (200.00 USD refunded earlier, 144.00 USD now)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decide(policy.Default(), c.order, c.asked)
			if diff := cmp.Diff(c.reasons, d.Reasons); diff != "" {
				t.Error(diff)
			}
			want := policy.Allow
			if len(c.reasons) > 0 {
				want = policy.Ask
			}
			if d.Outcome != want || d.Amount != c.asked || d.Code != "" || d.Message != "" {
				t.Errorf("%+v, want %s", d, want)
			}
			approved := policy.RefundRequest{Order: c.order, Asked: &c.asked, AskedAt: now, Approved: true}
			if d := policy.Default().DecideRefund(approved); d.Outcome != policy.Allow || d.Reasons != nil {
				t.Errorf("approved: %+v", d)
			}
		})
	}
}

func TestCustomerLimitNotNamed(t *testing.T) {
	r := generous()
	r.Refund.CustomerLimit24h = map[string]int64{"USD": 0}
	o := order(5000, func(o *policy.Order) { o.Currency, o.CustomerAuto24h = "EUR", 1_000_000 })
	if d := decideAll(r, o); d.Outcome != policy.Allow {
		t.Errorf("%+v", d)
	}
	o.Currency = "USD"
	if d := decide(r, o, 1); d.Outcome != policy.Ask {
		t.Errorf("%+v", d)
	}
}

// Approving can't do what has become impossible; the decision says how much would fit.
func TestApprovedStillRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		order policy.Order
		code  policy.Code
		fits  int64
	}{
		{"cancelled meanwhile", order(6000, func(o *policy.Order) { o.Status = policy.Cancelled }), policy.OrderCancelled, 0},
		{"case 63: refunded meanwhile", order(6000, charged(imported(3000))), policy.AmountExceedsRefundable, 3000},
		{"nothing left", order(6000, charged(auto(6000))), policy.NothingToRefund, 0},
	} {
		asked := int64(5000)
		d := policy.Default().DecideRefund(policy.RefundRequest{Order: c.order, Asked: &asked, AskedAt: now, Approved: true})
		if d.Outcome != policy.Refuse || d.Code != c.code || d.State.Refundable != c.fits {
			t.Errorf("%s: %s %q, %d fits", c.name, d.Outcome, d.Code, d.State.Refundable)
		}
	}
}

func TestUndelivered(t *testing.T) {
	nothing := order(10000, func(o *policy.Order) { o.Status, o.DeliveredAt = policy.Shipped, time.Time{} })
	partly := twoParcels(ago(5), time.Time{}) // 40.00 delivered, 60.00 not
	const all = 0
	for _, c := range []struct {
		name    string
		setting policy.Undelivered
		order   policy.Order
		asked   int64
		outcome policy.Outcome
		code    policy.Code
		amount  int64
	}{
		{"ask: nothing delivered", policy.AskUndelivered, nothing, all, policy.Ask, "", 10000},
		{"ask: delivered part", policy.AskUndelivered, partly, 4000, policy.Allow, "", 4000},
		{"ask: a cent beyond", policy.AskUndelivered, partly, 4001, policy.Ask, "", 4001},
		{"ask: all", policy.AskUndelivered, partly, all, policy.Ask, "", 10000},
		{"ask: too much", policy.AskUndelivered, partly, 10001, policy.Refuse, policy.AmountExceedsRefundable, 10001},
		{"refuse: nothing delivered", policy.RefuseUndelivered, nothing, all, policy.Refuse, policy.OrderNotDelivered, 0},
		{"refuse: delivered part", policy.RefuseUndelivered, partly, 4000, policy.Allow, "", 4000},
		{"refuse: a cent beyond", policy.RefuseUndelivered, partly, 4001, policy.Refuse, policy.OrderNotDelivered, 4001},
		{"refuse: all means the delivered part", policy.RefuseUndelivered, partly, all, policy.Allow, "", 4000},
		{"allow: nothing delivered", policy.AllowUndelivered, nothing, all, policy.Allow, "", 10000},
		{"allow: all", policy.AllowUndelivered, partly, all, policy.Allow, "", 10000},
		{"allow: too much", policy.AllowUndelivered, partly, 10001, policy.Refuse, policy.AmountExceedsRefundable, 10001},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := generous()
			rules.Refund.Undelivered = c.setting
			d := decideAll(rules, c.order)
			if c.asked != all {
				d = decide(rules, c.order, c.asked)
			}
			if d.Outcome != c.outcome || d.Code != c.code || d.Amount != c.amount {
				t.Errorf("%s %q %d, want %s %q %d", d.Outcome, d.Code, d.Amount, c.outcome, c.code, c.amount)
			}
		})
	}
}
