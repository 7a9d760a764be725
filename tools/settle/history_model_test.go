package settle_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The model of TestHistories: what the specification says about refunds, in plain bookkeeping that shares no code with
// the program. Money is in minor units.

// The policy of the model's shop. In EUR a human decides on everything.
var (
	autoLimit = map[string]int64{"USD": 4000, "JPY": 4000, "KWD": 10000}
	dayLimit  = map[string]int64{"USD": 3000, "JPY": 2000}
)

const (
	windowDays    = 30
	waitsFor      = 72 * time.Hour
	repeatWithin  = 10 * time.Minute
	historyPolicy = `timezone: %s
refund:
  window_days: 30
  auto_limit: {USD: "40.00", JPY: "4000", KWD: "10.000"}
  customer_limit_24h: {USD: "30.00", JPY: "2000"}
  undelivered: ask
  approval_expires: 72h
`
)

// book is the shop as it should be.
type book struct {
	zone   *time.Location
	orders []*ledger
}

// ledger is one order: one line, or one line for each of its parcels, all worth the same.
type ledger struct {
	id, customer, currency, status string
	price                          int64 // of a line
	paid, refunded                 int64
	figure, base                   int64       // the shop's own refunds: its latest figure, and the one at our first refund
	delivered                      time.Time   // the order's own; zero: not known
	parcels                        []time.Time // when each was delivered; none: there are no parcels
	made                           []*payout
	asked                          []*ask
}

// GoString is for rapid, which prints what it draws.
func (o *ledger) GoString() string { return o.id }

// payout is a refund made here.
type payout struct {
	id    string
	what  identity
	minor int64
	at    time.Time
	human bool
}

// ask is a request that waits, or waited, for a human.
type ask struct {
	id               string
	what             identity
	minor, given     int64
	created, decided time.Time
	state            string // pending also once it has expired: see stateAt
	paid             *payout
}

// identity is equal for repeats of one request: compared as asked.
type identity struct {
	who     string
	amount  int64 // everything where nothing was named
	another string
}

const everything = -1

func (a *ask) stateAt(now time.Time) string {
	if a.state == "pending" && !now.Before(a.created.Add(waitsFor)) {
		return "expired"
	}
	return a.state
}

// awaiting is what is reserved for requests that wait, all but one.
func (o *ledger) awaiting(now time.Time, but *ask) (sum int64) {
	for _, a := range o.asked {
		if a != but && a.stateAt(now) == "pending" {
			sum += a.minor
		}
	}
	return sum
}

// saidNo tells that a human rejected a refund on the order, or gave less.
func (o *ledger) saidNo() bool {
	return slices.ContainsFunc(o.asked, func(a *ask) bool {
		return a.state == "rejected" || a.state == "approved" && a.given < a.minor
	})
}

func (o *ledger) here() (all, automatic int64) {
	for _, p := range o.made {
		all += p.minor
		if !p.human {
			automatic += p.minor
		}
	}
	return all, automatic
}

// automaticSince sums what a customer got in a currency without a human.
func (b *book) automaticSince(customer, currency string, since time.Time) (sum int64) {
	for _, o := range b.orders {
		for _, p := range o.made {
			if o.customer == customer && o.currency == currency && !p.human && p.at.After(since) {
				sum += p.minor
			}
		}
	}
	return sum
}

// deliveries returns the delivery of each parcel, zero where it has none.
func (o *ledger) deliveries() []time.Time {
	if len(o.parcels) == 0 {
		return []time.Time{o.delivered}
	}
	all := slices.Clone(o.parcels)
	for i := range all {
		if all[i].IsZero() {
			all[i] = o.delivered
		}
	}
	return all
}

// parcelsAt counts an order's parcels: all of them, those delivered, and those whose window has closed.
func (b *book) parcelsAt(o *ledger, at time.Time) (all, delivered, closed int64) {
	for _, d := range o.deliveries() {
		all++
		if d.IsZero() {
			continue
		}
		delivered++
		if b.day(at).After(b.day(d).AddDate(0, 0, windowDays)) {
			closed++
		}
	}
	return all, delivered, closed
}

// day is the day of a moment in the shop's zone.
func (b *book) day(t time.Time) time.Time {
	y, m, d := t.In(b.zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// windowEnds is the last second in which anything delivered can be refunded, "" where nothing was.
func (b *book) windowEnds(o *ledger) string {
	last := slices.MaxFunc(o.deliveries(), time.Time.Compare)
	if last.IsZero() {
		return ""
	}
	y, m, d := last.In(b.zone).Date()
	return time.Date(y, m, d+windowDays+1, 0, 0, -1, 0, b.zone).UTC().Format(time.RFC3339)
}

// refundable returns the least and the most that can be refunded, as of now but with the window as of another moment. They
// differ only where the windows of some parcels alone have closed. But doesn't count as waiting.
func (b *book) refundable(o *ledger, now, judged time.Time, but *ask) (least, most int64) {
	rest := max(o.paid-o.refunded-o.awaiting(now, but), 0)
	all, _, closed := b.parcelsAt(o, judged)
	if o.status == "cancelled" || closed == all {
		return 0, 0
	}
	return max(rest-shareOf(o.paid, closed, all), 0), rest
}

// shareOf is n of all equal parts of an amount, rounded up.
func shareOf(minor, n, all int64) int64 { return (minor*n + all - 1) / all }

// asking is one call of issue_refund.
type asking struct {
	who, customer string
	order         *ledger
	text          string // the amount as sent, "" for everything
	minor         int64  // the same in minor units: everything, or unreadable
	currency      string
	reason        string
	another       bool
}

const unreadable = -2

func (c asking) identity() identity {
	what := identity{who: c.who, amount: c.minor}
	if c.another {
		what.another = c.reason
	}
	return what
}

// wanted is what has to come of a call: a refusal's code, or a status with an amount. Paid or parked is what is replayed.
type wanted struct {
	code, status string
	minor        int64
	paid         *payout
	parked       *ask
	either       bool // a human may be asked as well
}

// answerTo says what has to come of a call, where refundable is what get_order says just before.
func (b *book) answerTo(c asking, now time.Time, refundable int64) wanted {
	o, amount := c.order, c.minor
	if amount == everything {
		amount = refundable
	}
	switch {
	case c.customer != o.customer:
		return wanted{code: "not_found"}
	case c.currency != "" && c.currency != o.currency && o.status == "cancelled":
		return wanted{code: "order_cancelled"}
	case c.currency != "" && c.currency != o.currency:
		return wanted{code: "currency_mismatch"}
	case c.minor == unreadable:
		return wanted{code: "invalid_arguments"}
	}
	if earlier, ok := b.repeated(c, now, amount); ok {
		return earlier
	}
	all, _, closed := b.parcelsAt(o, now)
	switch {
	case c.minor == 0:
		return wanted{code: "invalid_arguments"}
	case o.status == "cancelled":
		return wanted{code: "order_cancelled"}
	case o.paid == 0:
		return wanted{code: "order_not_paid"}
	case closed == all:
		return wanted{code: "refund_window_expired"}
	case refundable == 0:
		return wanted{code: "nothing_to_refund"}
	case amount > refundable:
		return wanted{code: "amount_exceeds_refundable"}
	}
	must, may := b.asks(o, now, amount)
	if must {
		return wanted{status: "pending_approval", minor: amount}
	}
	return wanted{status: "refunded", minor: amount, either: may}
}

// repeated answers a call that was made before, or that a human has said no to.
func (b *book) repeated(c asking, now time.Time, amount int64) (wanted, bool) {
	o, what := c.order, c.identity()
	for _, p := range o.made {
		if p.what == what && !p.human && now.Sub(p.at) < repeatWithin {
			return wanted{status: "refunded", minor: p.minor, paid: p}, true
		}
	}
	newest := func(fits func(*ask) bool) *ask {
		for _, a := range slices.Backward(o.asked) {
			if fits(a) {
				return a
			}
		}
		return new(ask)
	}
	switch a := newest(func(a *ask) bool { return a.what == what }); a.stateAt(now) {
	case "rejected":
		return wanted{code: "refund_rejected", parked: a}, true
	case "pending":
		return wanted{status: "pending_approval", minor: a.minor, parked: a}, true
	case "approved":
		return wanted{status: "refunded", minor: a.given, parked: a, paid: a.paid}, true
	}
	a := newest(func(a *ask) bool {
		return (a.state == "approved" || a.state == "rejected") &&
			(a.minor == amount || c.minor == everything && a.what.amount == everything)
	})
	return wanted{code: "refund_rejected", parked: a}, !c.another && a.state == "rejected"
}

// asks tells whether a human must be asked, or may be, because part of the money is for goods that aren't delivered.
func (b *book) asks(o *ledger, now time.Time, amount int64) (must, may bool) {
	all, delivered, _ := b.parcelsAt(o, now)
	_, automatic := o.here()
	limit, ok := autoLimit[o.currency]
	daily, limited := dayLimit[o.currency]
	must = o.saidNo() || !ok || automatic+amount > limit || delivered == 0 ||
		limited && b.automaticSince(o.customer, o.currency, now.Add(-24*time.Hour))+amount > daily ||
		delivered < all && amount > shareOf(o.paid, delivered, all)
	return must, delivered < all
}

// approval says what may come of approving a waiting request for an amount: "ok" or the code of a refusal.
func (b *book) approval(o *ledger, a *ask, now time.Time, minor int64) (codes []string) {
	all, _, closed := b.parcelsAt(o, a.created)
	nothing := "request_stale"
	if o.awaiting(now, a) > 0 {
		nothing = "nothing_to_refund"
	}
	least, most := b.refundable(o, now, a.created, a)
	switch {
	case minor <= 0 || minor > a.minor:
		return []string{"invalid_arguments"}
	case o.status == "cancelled" || closed == all && o.paid > 0:
		return []string{"request_stale"}
	case o.paid == 0:
		return []string{"order_not_paid"}
	case most == 0:
		return []string{nothing}
	}
	if minor <= most {
		codes = append(codes, "ok")
	}
	if minor > least {
		codes = append(codes, "amount_exceeds_refundable")
	}
	if least == 0 {
		codes = append(codes, nothing)
	}
	return codes
}

// issued says what has to come of a refund that an operator makes outside the policy: "ok" or the code of a refusal.
func (b *book) issued(o *ledger, now time.Time, minor int64, another bool) string {
	rest := o.paid - o.refunded
	repeats := slices.ContainsFunc(o.made, func(p *payout) bool {
		return p.what.who == "dora" && p.minor == minor && now.Sub(p.at) < repeatWithin
	})
	switch {
	case minor == 0:
		return "invalid_arguments"
	case repeats && !another:
		return "repeated_refund"
	case minor <= rest-o.awaiting(now, nil):
		return "ok"
	case minor <= rest:
		return "amount_held"
	case o.paid == 0:
		return "order_not_paid"
	case rest == 0:
		return "nothing_to_refund"
	}
	return "amount_exceeds_refundable"
}

// refund books money that goes back.
func (o *ledger) refund(p *payout) {
	if len(o.made) == 0 {
		o.base = o.figure
	}
	o.made = append(o.made, p)
	o.refunded += p.minor
}

// imports books the shop's next line of the order, and tells whether it is accepted.
func (o *ledger) imports(next ledger) bool {
	refunded := max(o.refunded, next.figure)
	if ours, _ := o.here(); ours > 0 {
		refunded = max(refunded, o.base+ours)
	}
	if refunded > next.paid || o.status == "cancelled" && next.status != "cancelled" {
		return false
	}
	o.refunded, o.paid, o.figure, o.status = refunded, next.paid, next.figure, next.status
	o.delivered = sooner(o.delivered, next.delivered)
	return true
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// decimal writes an amount as people do.
func decimal(minor int64, currency string) string {
	places := map[string]int{"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3}[currency]
	text := fmt.Sprintf("%0*d", places+1, minor)
	if places == 0 {
		return text
	}
	return text[:len(text)-places] + "." + text[len(text)-places:]
}

// minorUnits reads what decimal writes.
func minorUnits(text string) int64 {
	minor, err := strconv.ParseInt(strings.ReplaceAll(text, ".", ""), 10, 64)
	if err != nil {
		panic(err)
	}
	return minor
}
