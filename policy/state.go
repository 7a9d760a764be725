package policy

import (
	"fmt"
	"strings"
	"time"
)

// State is what can be refunded of an order at a moment, and why. All money is in minor units of the order's currency.
type State struct {
	Paid, Refunded int64
	// Awaiting is what requests that still wait have reserved.
	Awaiting int64
	// Refundable is the most that can be refunded, with a human's yes where one is needed. 0 to paid − refunded − awaiting.
	Refundable int64
	// Ready, Undelivered and Closed are what is left of the shares of parcels that are delivered with an open window, not
	// delivered yet, and delivered with a closed window.
	Ready, Undelivered, Closed int64
	// Reason says in one plain sentence why Refundable is what it is.
	Reason string
	// WindowEnds is the last second, in UTC, in which the parcel that closes last can be refunded; zero when nothing was
	// delivered.
	WindowEnds time.Time
	// Code is the refusal that a refund of everything would get now; empty if something is refundable.
	Code Code

	lastDay day // of the delivered parcel that closes last
}

// State works out what can be refunded of an order at a moment. DecideRefund decides by the same figures.
func (r Rules) State(o Order, at time.Time) State {
	s := State{Paid: max(o.Paid, 0), Refunded: max(o.Refunded, 0), Awaiting: o.awaiting()}
	today, open, delivered := dayOf(at, r.zone()), false, false
	for _, p := range r.shares(o) {
		switch {
		case !p.delivered():
			s.Undelivered += p.left
		case p.openOn(today):
			s.Ready += p.left
		default:
			s.Closed += p.left
		}
		if !p.carries {
			continue
		}
		open = open || p.openOn(today)
		if p.delivered() && (!delivered || p.lastDay > s.lastDay) {
			delivered, s.lastDay = true, p.lastDay
		}
	}
	if delivered {
		s.WindowEnds = s.lastDay.lastInstant(r.zone())
	}
	s.Code = r.blocked(o, s, open)
	if s.Code == "" {
		s.Refundable = r.reachable(s)
	}
	s.Reason = r.reason(o, s)
	return s
}

// reachable returns what the settings let a refund of everything have.
func (r Rules) reachable(s State) int64 {
	if r.Refund.Undelivered == RefuseUndelivered {
		return s.Ready
	}
	return s.Ready + s.Undelivered
}

// blocked returns why nothing can be refunded, the first reason that holds.
func (r Rules) blocked(o Order, s State, open bool) Code {
	switch {
	case o.Status == Cancelled:
		return OrderCancelled
	case s.Paid == 0:
		return OrderNotPaid
	case r.reachable(s) == 0 && s.Undelivered > 0:
		return OrderNotDelivered
	case !open:
		return RefundWindowExpired
	case r.reachable(s) == 0:
		return NothingToRefund
	}
	return ""
}

// reason explains the figure.
func (r Rules) reason(o Order, s State) string {
	switch s.Code {
	case OrderCancelled:
		return "the order is cancelled; the shop refunds a cancelled order by itself"
	case OrderNotPaid:
		return "nothing has been captured on this order"
	case OrderNotDelivered:
		return "what is left to refund has not been delivered yet"
	case RefundWindowExpired:
		return fmt.Sprintf("the refund window ended on %s", s.lastDay)
	}
	text := o.format(s.Paid) + " paid, shipping and tax included" + s.deductions(o)
	if s.Undelivered == 0 {
		return text
	}
	switch r.Refund.Undelivered {
	case RefuseUndelivered:
		text += fmt.Sprintf(", less %s not delivered yet", o.format(s.Undelivered))
	case AskUndelivered:
		text += fmt.Sprintf("; %s of it is not delivered yet, so a human decides on that", o.format(s.Undelivered))
	}
	return text
}

// deductions lists what reduces the amount that was paid.
func (s State) deductions(o Order) string {
	var b strings.Builder
	for _, d := range []struct {
		minor int64
		what  string
	}{
		{s.Refunded, "refunded"},
		{s.Awaiting, "waiting for approval"},
		{s.Closed, "in parcels whose refund window has ended"},
	} {
		if d.minor > 0 {
			fmt.Fprintf(&b, ", less %s %s", o.format(d.minor), d.what)
		}
	}
	return b.String()
}
