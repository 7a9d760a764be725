package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"countersign/policy/money"
)

// Rules are a shop's settings. Get them from Default or Parse, which check them.
type Rules struct {
	// Zone is the shop's time zone: days are calendar days there. Nil means UTC.
	Zone    *time.Location
	Refund  RefundRules
	Address AddressRules
}

// RefundRules are the settings about refunds. Limits are in minor units by currency.
type RefundRules struct {
	// WindowDays is how many days after its delivery a parcel can be refunded, 0 to 3650. The last day is inside, whole.
	WindowDays int
	// AutoLimit is the most that is refunded on one order without a human. A currency without a limit always asks.
	AutoLimit map[string]int64
	// CustomerLimit24h is the most that is refunded to one customer within 24 hours without a human. A currency that is
	// not named has no such limit.
	CustomerLimit24h map[string]int64
	// Undelivered says what happens to money for goods without a date of delivery.
	Undelivered Undelivered
	// ApprovalExpires is how long a request waits for a human, 1 minute to 8760 hours.
	ApprovalExpires time.Duration
}

// AddressRules are the settings about shipping addresses.
type AddressRules struct {
	// RefusePOBoxes refuses addresses whose lines name a post office box.
	RefusePOBoxes bool
}

// Undelivered is a setting: what happens to money for goods that have not been delivered.
type Undelivered string

// The settings for goods that have not been delivered.
const (
	AskUndelivered    Undelivered = "ask"
	RefuseUndelivered Undelivered = "refuse"
	AllowUndelivered  Undelivered = "allow"
)

// YAML returns the effective policy in full, in one fixed form. Parse reads it back to the same Version.
func (r Rules) YAML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "timezone: %s\n", r.zone())
	fmt.Fprintf(&b, "refund:\n  window_days: %d\n", r.Refund.WindowDays)
	writeLimits(&b, "auto_limit", r.Refund.AutoLimit)
	writeLimits(&b, "customer_limit_24h", r.Refund.CustomerLimit24h)
	fmt.Fprintf(&b, "  undelivered: %s\n", r.Refund.Undelivered)
	fmt.Fprintf(&b, "  approval_expires: %s\n", shortDuration(r.Refund.ApprovalExpires))
	fmt.Fprintf(&b, "address:\n  refuse_po_boxes: %t\n", r.Address.RefusePOBoxes)
	return []byte(b.String())
}

// Version names the settings: "p-" and 12 hexadecimal digits of a hash over YAML. Equal settings have equal versions,
// whatever the order or the comments of the file they came from.
func (r Rules) Version() string {
	sum := sha256.Sum256(r.YAML())
	return "p-" + hex.EncodeToString(sum[:])[:12]
}

func (r Rules) zone() *time.Location {
	if r.Zone == nil {
		return time.UTC
	}
	return r.Zone
}

func writeLimits(b *strings.Builder, key string, limits map[string]int64) {
	if len(limits) == 0 {
		fmt.Fprintf(b, "  %s: {}\n", key)
		return
	}
	fmt.Fprintf(b, "  %s:\n", key)
	for _, currency := range slices.Sorted(maps.Keys(limits)) {
		amount := money.Amount{Minor: limits[currency], Currency: currency}
		fmt.Fprintf(b, "    %s: %q\n", currency, amount.Decimal())
	}
}

// shortDuration writes 72h0m0s as 72h.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (r Rules) clone() Rules {
	r.Refund.AutoLimit = maps.Clone(r.Refund.AutoLimit)
	r.Refund.CustomerLimit24h = maps.Clone(r.Refund.CustomerLimit24h)
	return r
}
