package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/policy"
)

func TestWordsOfTheDefault(t *testing.T) {
	want := []string{
		"What was delivered can be refunded until the end of the 30th day after its parcel's first delivery, and each parcel of an order has its own such window. " +
			"Days are calendar days in the shop's time zone, UTC.",
		"Without a human, at most 100.00 USD is refunded on one order, everything counted that was refunded on it without one before. " +
			"A human decides on more, and on every refund in a currency that isn't named here.",
		"Without a human, one customer gets at most 200.00 USD within 24 hours, over all orders. A human decides on more. " +
			"In other currencies there is no limit for one customer.",
		"What has not been delivered yet, or was delivered on a day that isn't known, is refunded only if a human says so.",
		"After a human has rejected a refund on an order, or approved less than was asked, a human decides on every further refund on that order.",
		"A request that waits for a human expires after 3 days. Until it is decided or expires, the money that it asks for is reserved.",
		"No refund exceeds what was paid, less what was refunded already and what waits for a human. " +
			"An order that is cancelled or that nothing was paid on can't be refunded here: the shop refunds cancelled orders by itself.",
		"The shipping address of an order can be changed while the order is processing, not later.",
	}
	if diff := cmp.Diff(want, policy.Default().Words()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Each setting changes what is said of it. Rows are a policy file and a part of
// the words that it must have.
func TestWords(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{`timezone: Europe/Amsterdam`, "the shop's time zone, Europe/Amsterdam."},
		{`refund: {window_days: 0}`, "refunded on the day of its parcel's first delivery"},
		{`refund: {window_days: 1}`, "until the end of the 1st day after"},
		{`refund: {window_days: 2}`, "until the end of the 2nd day after"},
		{`refund: {window_days: 111}`, "until the end of the 111th day after"},
		{`refund: {window_days: 123}`, "until the end of the 123rd day after"},
		{`refund: {auto_limit: {JPY: "5000", KWD: "1.500"}}`, "at most 5000 JPY, 1.500 KWD or 100.00 USD is refunded on one order"},
		{`refund: {auto_limit: {EUR: "0.00", CHF: "0.00"}}`, "on every refund in CHF or EUR or in a currency that isn't named here."},
		{`refund: {auto_limit: {USD: "0.00"}}`, "A human decides on every refund."},
		{`refund: {customer_limit_24h: {EUR: "70.00"}}`, "one customer gets at most 70.00 EUR or 200.00 USD within 24 hours"},
		{`refund: {customer_limit_24h: {USD: "0.00"}}`, "A human decides on every refund to a customer in USD. In other currencies there is no limit"},
		{`refund: {undelivered: refuse}`, "isn't known, can't be refunded before its delivery."},
		{`refund: {undelivered: allow}`, "isn't known, can be refunded like what was."},
		{`refund: {approval_expires: 1m}`, "expires after 1 minute."},
		{`refund: {approval_expires: 24h}`, "expires after 1 day."},
		{`refund: {approval_expires: 49h30m15s}`, "expires after 2 days and 1 hour and 30 minutes and 15 seconds."},
		{`address: {refuse_po_boxes: true}`, "A post office box is refused as a shipping address."},
	} {
		rules, err := policy.Parse([]byte(c.file))
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		if said := strings.Join(rules.Words(), "\n"); !strings.Contains(said, c.want) {
			t.Errorf("%s doesn't say %q:\n%s", c.file, c.want, said)
		}
		if said := strings.Join(policy.Default().Words(), "\n"); strings.Contains(said, c.want) {
			t.Errorf("the built-in rules say %q too", c.want)
		}
	}
	none := policy.Default()
	none.Refund.AutoLimit, none.Refund.CustomerLimit24h = nil, nil
	said := strings.Join(none.Words(), "\n")
	for _, want := range []string{"A human decides on every refund.", "There is no limit for one customer within 24 hours."} {
		if !strings.Contains(said, want) {
			t.Errorf("no limits: %q isn't said:\n%s", want, said)
		}
	}
}
