package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"countersign/policy/money"
)

// Words returns the rules in plain words, one sentence or two of each, for whoever has to explain them.
func (r Rules) Words() []string {
	words := []string{
		r.windowWords(),
		r.autoLimitWords(),
		r.customerLimitWords(),
		r.undeliveredWords(),
		"After a human has rejected a refund on an order, or approved less than was asked, a human decides on every further refund on that order.",
		fmt.Sprintf("A request that waits for a human expires after %s. Until it is decided or expires, the money that it asks for is reserved.", durationWords(r.Refund.ApprovalExpires)),
		"No refund exceeds what was paid, less what was refunded already and what waits for a human. " +
			"An order that is cancelled or that nothing was paid on can't be refunded here: the shop refunds cancelled orders by itself.",
		"The shipping address of an order can be changed while the order is processing, not later.",
	}
	if r.Address.RefusePOBoxes {
		words = append(words, "A post office box is refused as a shipping address.")
	}
	return words
}

func (r Rules) windowWords() string {
	days := fmt.Sprintf("until the end of the %s day after", ordinal(r.Refund.WindowDays))
	if r.Refund.WindowDays == 0 {
		days = "on the day of"
	}
	return fmt.Sprintf("What was delivered can be refunded %s its parcel's first delivery, and each parcel of an order has its own such window. "+
		"Days are calendar days in the shop's time zone, %s.", days, r.zone())
}

func (r Rules) autoLimitWords() string {
	limits, none := split(r.Refund.AutoLimit)
	switch {
	case len(limits) == 0:
		return "A human decides on every refund."
	case len(none) > 0:
		return fmt.Sprintf("Without a human, at most %s is refunded on one order, everything counted that was refunded on it without one before. "+
			"A human decides on more, and on every refund in %s or in a currency that isn't named here.", either(limits), either(none))
	}
	return fmt.Sprintf("Without a human, at most %s is refunded on one order, everything counted that was refunded on it without one before. "+
		"A human decides on more, and on every refund in a currency that isn't named here.", either(limits))
}

func (r Rules) customerLimitWords() string {
	limits, none := split(r.Refund.CustomerLimit24h)
	var b strings.Builder
	if len(limits) > 0 {
		fmt.Fprintf(&b, "Without a human, one customer gets at most %s within 24 hours, over all orders. A human decides on more. ", either(limits))
	}
	if len(none) > 0 {
		fmt.Fprintf(&b, "A human decides on every refund to a customer in %s. ", either(none))
	}
	if b.Len() == 0 {
		return "There is no limit for one customer within 24 hours."
	}
	return b.String() + "In other currencies there is no limit for one customer."
}

func (r Rules) undeliveredWords() string {
	const what = "What has not been delivered yet, or was delivered on a day that isn't known, "
	switch r.Refund.Undelivered {
	case RefuseUndelivered:
		return what + "can't be refunded before its delivery."
	case AllowUndelivered:
		return what + "can be refunded like what was."
	}
	return what + "is refunded only if a human says so."
}

// split separates the limits that let something pass, as amounts, from the
// currencies whose limit is zero, both by currency.
func split(limits map[string]int64) (amounts, zero []string) {
	for _, currency := range slices.Sorted(maps.Keys(limits)) {
		if minor := limits[currency]; minor > 0 {
			amounts = append(amounts, money.Amount{Minor: minor, Currency: currency}.Format())
		} else {
			zero = append(zero, currency)
		}
	}
	return amounts, zero
}

// either lists texts: "a, b or c".
func either(texts []string) string {
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

// ordinal writes 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

// durationWords writes 72h as "3 days" and 90m as "1 hour and 30 minutes".
func durationWords(d time.Duration) string {
	var parts []string
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		n := d / unit.of
		d -= n * unit.of
		switch {
		case n == 1:
			parts = append(parts, "1 "+unit.name)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, unit.name))
		}
	}
	return strings.Join(parts, " and ")
}
