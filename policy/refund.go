package policy

import (
	"fmt"
	"strings"
	"time"
)

// RefundRequest is a refund that someone asks for.
type RefundRequest struct {
	// Order holds the facts as of now. When a waiting request is decided, its own charge must not be among them.
	Order Order
	// Asked is the amount in minor units of the order's currency; nil asks for all that is refundable.
	Asked *int64
	// Currency is the one that was named with the amount, in any case; empty when none was.
	Currency string
	// AskedAt is the moment of the request, as of which the window is judged, also if it is decided later.
	AskedAt time.Time
	// Approved tells that a human has said yes: then nothing asks again, but every refusal stands.
	Approved bool
}

// RefundDecision is what the rules say to a refund.
type RefundDecision struct {
	Decision
	// Amount is what would be refunded, in minor units: what was asked, or all that is refundable.
	Amount int64
	// State holds the figures behind the decision. State.Refundable is the most that would fit, also where the amount
	// was too much.
	State State
}

// DecideRefund decides a refund. If the currency that was named differs from the order's, the amount has no meaning: leave
// Asked nil then, and the refusals still come in their order.
func (r Rules) DecideRefund(q RefundRequest) RefundDecision {
	s := r.State(q.Order, q.AskedAt)
	d := RefundDecision{State: s, Amount: s.Refundable}
	if q.Asked != nil {
		d.Amount = *q.Asked
	}
	switch code := r.refundCode(q, s, d.Amount); {
	case code != "":
		d.Decision = refusal(code, "%s", r.refusalText(code, q.Order, s))
	case q.Approved:
		d.Outcome = Allow
	default:
		d.Outcome = Allow
		if d.Reasons = r.doubts(q.Order, s, d.Amount); len(d.Reasons) > 0 {
			d.Outcome = Ask
		}
	}
	return d
}

// refundCode returns the first refusal that holds, or nothing. The order is part of the contract.
func (r Rules) refundCode(q RefundRequest, s State, amount int64) Code {
	refuseUndelivered := r.Refund.Undelivered == RefuseUndelivered && s.Undelivered > 0
	switch {
	case q.Asked != nil && amount <= 0:
		return InvalidArguments
	case s.Code == OrderCancelled:
		return OrderCancelled
	case q.Currency != "" && !strings.EqualFold(q.Currency, q.Order.Currency):
		return CurrencyMismatch
	case s.Code != "": // not paid, not delivered, window expired, nothing left
		return s.Code
	case amount > s.Ready && refuseUndelivered:
		return OrderNotDelivered
	case amount > s.Refundable:
		return AmountExceedsRefundable
	}
	return ""
}

// refusalText says to a model what would work instead.
func (r Rules) refusalText(code Code, o Order, s State) string {
	switch code {
	case InvalidArguments:
		return fmt.Sprintf("the amount must be more than zero: ask for up to %s, or leave the amount out for all that is refundable",
			o.format(s.Refundable))
	case OrderCancelled:
		return "the order is cancelled: the shop refunds a cancelled order by itself, so there is nothing to do here; " +
			"use escalate_to_human if the customer has waited too long for the money"
	case CurrencyMismatch:
		return fmt.Sprintf("the order is in %s: send the amount in %s, or leave the currency out", o.Currency, o.Currency)
	case OrderNotPaid:
		return fmt.Sprintf("nothing has been captured on this order (paid %s), so nothing can be refunded; "+
			"use escalate_to_human if the customer was charged", o.format(s.Paid))
	case OrderNotDelivered:
		return r.undeliveredText(o, s)
	case RefundWindowExpired:
		return fmt.Sprintf("the refund window ended on %s, %d days after delivery (days in %s); "+
			"use escalate_to_human if the customer asks for an exception", s.lastDay, r.Refund.WindowDays, r.zone())
	case NothingToRefund:
		return fmt.Sprintf("%s is left to refund: %s paid%s; use escalate_to_human if the customer disagrees",
			o.format(0), o.format(s.Paid), s.deductions(o))
	}
	return fmt.Sprintf("at most %s can be refunded now (%s): ask for that or less, or leave the amount out for all of it",
		o.format(s.Refundable), s.Reason)
}

func (r Rules) undeliveredText(o Order, s State) string {
	if s.Refundable == 0 {
		return fmt.Sprintf("%s of this order is not delivered yet and can be refunded after delivery, not before; "+
			"use escalate_to_human if the parcel is lost", o.format(s.Undelivered))
	}
	return fmt.Sprintf("%s can be refunded now: ask for that or less; another %s is not delivered yet and can be refunded "+
		"after delivery", o.format(s.Refundable), o.format(s.Undelivered))
}

// doubts returns why a human has to decide, in sentences for the operator; none if the refund may be made at once.
func (r Rules) doubts(o Order, s State, amount int64) []string {
	var why []string
	if o.HumanSaidNo {
		why = append(why, "a human has rejected a refund on this order before, or approved less than was asked")
	}
	if amount > s.Ready && r.Refund.Undelivered != AllowUndelivered {
		why = append(why, fmt.Sprintf("%s of it is for goods that have not been delivered", o.format(amount-s.Ready)))
	}
	earlier := o.automatic()
	total := plus(earlier, amount)
	switch limit, ok := r.Refund.AutoLimit[o.Currency]; {
	case !ok:
		why = append(why, fmt.Sprintf("no limit is set for %s, so a human decides on every refund in %s", o.Currency, o.Currency))
	case total > limit:
		why = append(why, fmt.Sprintf("%s is above the limit of %s for one order without a human%s",
			o.format(total), o.format(limit), o.breakdown(earlier, amount)))
	}
	total = plus(max(o.CustomerAuto24h, 0), amount)
	if limit, ok := r.Refund.CustomerLimit24h[o.Currency]; ok && total > limit {
		why = append(why, fmt.Sprintf("%s is above the limit of %s for one customer in 24 hours without a human%s",
			o.format(total), o.format(limit), o.breakdown(o.CustomerAuto24h, amount)))
	}
	return why
}

// breakdown says how a total came about, if part of it was refunded earlier.
func (o Order) breakdown(earlier, now int64) string {
	if earlier <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%s refunded earlier, %s now)", o.format(earlier), o.format(now))
}
