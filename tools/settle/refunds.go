package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
	"countersign/tools"
)

// Codes of the audit rows of refunds that weren't issued, beside policy's.
const (
	RepeatedRefund policy.Code = "repeated_refund"
	AmountHeld     policy.Code = "amount_held" // waiting requests have reserved it
)

const (
	// repeatWindow is how long the same refund again has to be meant.
	repeatWindow = 10 * time.Minute
	mostNote     = 500 // characters
)

// Refunding is a refund that a manager wants to make outside the policy.
type Refunding struct {
	Order    string // its number as people write it
	Amount   string // a decimal in the order's currency
	Currency string // checked against the order's; "" for that one
	Note     string // why; agents read it, with the operator's name
	Another  bool   // a second one equal to an earlier one is meant
}

// IssueRefund records a refund that the policy isn't asked about: past its
// window, its limits or a human's no, or on a cancelled order. What was paid and
// isn't refunded yet bounds it, less what waiting requests have reserved: one of
// those might be approved next. It counts as a human's decision.
func (o *Office) IssueRefund(ctx context.Context, in Refunding) (made store.Refund, err error) {
	err = o.Do(ctx, "refunds issue", policy.Manager, func(s *Session) error {
		order, err := s.AnyOrder(in.Order)
		if errors.Is(err, store.ErrNotFound) {
			return &Error{Kind: NotFound, Code: policy.NotFound, Message: "there is no order of this number, or digits alone fit several; see countersign customers find"}
		}
		if err != nil {
			return err
		}
		s.Entry.OrderID, s.Entry.Customer = order.ID, order.Customer
		if customer, err := s.Customer(order.Customer); err != nil {
			return err
		} else if customer.ID == "" {
			return conflict(CustomerErased, "the customer of %s was erased; nothing new is written about them", order.ID)
		}
		amount, err := in.check(order)
		if err != nil {
			return err
		}
		s.Entry.Amount = amount
		if err := s.notRepeated(in, order, amount); err != nil {
			return err
		}
		if err := s.affordable(order, amount); err != nil {
			return err
		}
		added, err := s.AddRefund(store.Refund{
			OrderID: order.ID, Customer: order.Customer, Amount: amount.Minor, Currency: amount.Currency,
			Reason: strings.TrimSpace(in.Note), Human: true, MadeBy: s.Operator.ID, Judged: s.Now,
		})
		if err != nil {
			return err
		}
		made, err = s.Refund(added.ID)
		return err
	})
	return made, err
}

// check reads what was asked for, by the order that it is for.
func (in Refunding) check(order store.Order) (money.Amount, error) {
	note := strings.TrimSpace(in.Note)
	if note == "" || utf8.RuneCountInString(note) > mostNote || !utf8.ValidString(note) {
		return money.Amount{}, &Error{Kind: Invalid, Code: policy.InvalidArguments, Message: fmt.Sprintf(
			"a refund needs a note of 1 to %d characters: it says why, to the shop and to agents", mostNote)}
	}
	if in.Currency != "" && !strings.EqualFold(in.Currency, order.Currency) {
		return money.Amount{}, &Error{Kind: Invalid, Code: policy.CurrencyMismatch, Message: fmt.Sprintf(
			"currency: %s is in %s", order.ID, order.Currency)}
	}
	amount, err := money.Parse(in.Amount, order.Currency)
	if err == nil && amount.Minor == 0 {
		err = errors.New("must be more than zero")
	}
	if err != nil {
		return money.Amount{}, &Error{Kind: Invalid, Code: policy.InvalidArguments, Message: "amount: " + err.Error()}
	}
	return amount, nil
}

// notRepeated refuses what this operator has just done, unless it is said to be meant.
func (s *Session) notRepeated(in Refunding, order store.Order, amount money.Amount) error {
	if in.Another {
		return nil
	}
	refunds, err := s.Refunds(order.ID)
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(refunds) {
		if r.MadeBy == s.Operator.ID && r.Amount == amount.Minor && s.Now.Sub(r.Created) < repeatWindow {
			return conflict(RepeatedRefund, "the same was refunded at %s as %s; if a second one is meant, say --another", rfc3339(r.Created), r.ID)
		}
	}
	return nil
}

// affordable refuses more than is left of what was paid, beside what waiting
// requests have reserved.
func (s *Session) affordable(order store.Order, amount money.Amount) error {
	state, err := tools.RefundState(&s.View, s.Rules, order)
	if err != nil {
		return err
	}
	format := func(minor int64) string { return money.Amount{Minor: max(minor, 0), Currency: order.Currency}.Format() }
	left := state.Paid - state.Refunded
	figures := fmt.Sprintf("%s paid, %s refunded", format(state.Paid), format(state.Refunded))
	switch {
	case amount.Minor <= left-state.Awaiting:
		return nil
	case amount.Minor <= left:
		return conflict(AmountHeld, "requests that wait for approval hold %s on %s, so %s can be refunded beside them (%s); decide those first",
			format(state.Awaiting), order.ID, format(left-state.Awaiting), figures)
	case state.Paid == 0:
		return conflict(policy.OrderNotPaid, "nothing has been captured on %s", order.ID)
	case left <= 0:
		return conflict(policy.NothingToRefund, "nothing is left to refund on %s (%s)", order.ID, figures)
	}
	if state.Awaiting > 0 {
		figures += fmt.Sprintf(", %s awaiting approval", format(state.Awaiting))
	}
	return conflict(policy.AmountExceedsRefundable, "at most %s can be refunded on %s (%s)", format(left-state.Awaiting), order.ID, figures)
}
