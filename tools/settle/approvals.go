package settle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign/approvals"
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
	"countersign/tools"
)

// Approve approves a waiting request and performs it, once, whoever else tries.
// An empty amount approves what was asked; another one, a decimal in the
// request's currency, must be less. It returns the request as decided.
func (o *Office) Approve(ctx context.Context, id, amount, note string) (decided store.Approval, err error) {
	err = o.Do(ctx, "approvals approve", policy.Manager, func(s *Session) error {
		a, err := s.claimable(id)
		if err != nil {
			return err
		}
		a.State, a.DecidedBy, a.Note = store.Approved, s.Operator.ID, note
		if a.ApprovedAmount, err = approvedAmount(a, amount); err != nil {
			return err
		}
		s.Entry.Amount.Minor = a.ApprovedAmount
		if err := s.perform(a); err != nil {
			return err
		}
		decided, err = s.Approval(id)
		return err
	})
	return decided, err
}

// Reject says a human's no to a waiting request. The note reaches the agent.
func (o *Office) Reject(ctx context.Context, id, note string) (decided store.Approval, err error) {
	err = o.Do(ctx, "approvals reject", policy.Manager, func(s *Session) error {
		a, err := s.claimable(id)
		if err != nil {
			return err
		}
		if strings.TrimSpace(note) == "" {
			return invalid("a rejection needs a note: it tells the agent, and so the customer, why")
		}
		a.State, a.DecidedBy, a.Note = store.Rejected, s.Operator.ID, note
		if err := s.claim(a); err != nil {
			return err
		}
		decided, err = s.Approval(id)
		return err
	})
	return decided, err
}

// claimable returns an approval that this operator may decide now.
func (s *Session) claimable(id string) (store.Approval, error) {
	a, err := s.Approval(id)
	if errors.Is(err, store.ErrNotFound) {
		return a, notFound("there is no approval of this id; see countersign approvals list")
	}
	if err != nil {
		return a, err
	}
	return a, s.mayDecide(a)
}

// mayDecide returns why this operator may not decide a now, and puts it into the
// audit row.
func (s *Session) mayDecide(a store.Approval) error {
	s.Entry.ApprovalID, s.Entry.OrderID, s.Entry.Customer = a.ID, a.OrderID, a.Customer
	if a.Amount > 0 {
		s.Entry.Amount = money.Amount{Minor: a.Amount, Currency: a.Currency}
	}
	return undecidable(s.Operator, a)
}

// undecidable returns why an operator may not decide a now.
func undecidable(operator store.Principal, a store.Approval) error {
	if a.AskedBy == operator.ID {
		return &Error{Kind: NotPermitted, Code: FourEyes, Message: fmt.Sprintf(
			"%s was asked for by %s; somebody else has to decide it", a.ID, a.AskedByName)}
	}
	if a.State != store.Pending {
		return decidedAlready(a)
	}
	if err := approvals.Check(a); err != nil {
		return &Error{Kind: Failed, Code: RequestAltered, Message: err.Error()}
	}
	return nil
}

func decidedAlready(a store.Approval) *Error {
	switch a.State {
	case store.Expired:
		return conflict(RequestExpired, "%s expired at %s; nobody decided it", a.ID, rfc3339(a.Expires))
	case store.Stale:
		return conflict(RequestStale, "%s was found stale at %s: nothing of it could be done any more", a.ID, rfc3339(a.Decided))
	}
	return conflict(AlreadyDecided, "%s was %s by %s at %s", a.ID, a.StateWord(), a.DecidedByName, rfc3339(a.Decided))
}

// CheckAmount returns the [*Error] for what can't be the amount that is approved of
// a. An empty text is all of it.
func CheckAmount(a store.Approval, text string) error {
	_, err := approvedAmount(a, text)
	return err
}

// approvedAmount reads how much is approved: all of it, or less.
func approvedAmount(a store.Approval, text string) (int64, error) {
	if text == "" {
		return a.Amount, nil
	}
	amount, err := money.Parse(text, a.Currency)
	switch {
	case err != nil:
		return 0, invalid("amount: %v", err)
	case amount.Minor <= 0 || amount.Minor > a.Amount:
		return 0, invalid(
			"amount: %s asks for %s; approve that or less, above zero", a.ID, money.Amount{Minor: a.Amount, Currency: a.Currency}.Format())
	}
	return amount.Minor, nil
}

// perform claims a request, plans it again on today's facts and does it. If
// nothing of it can be done any more it becomes stale; if less would fit it
// keeps waiting.
func (s *Session) perform(a store.Approval) error {
	plan, err := tools.Replan(s.Tx, s.Rules, a)
	if err != nil {
		return err
	}
	if plan.Decision.Outcome != policy.Allow {
		return s.unfit(a, plan)
	}
	if err := s.claim(a); err != nil {
		return err
	}
	result, err := plan.Perform()
	if err != nil {
		return fmt.Errorf("performing %s: %w", a.ID, err)
	}
	return s.SetApprovalResult(a.ID, result)
}

// claim moves the request out of pending, if it is the first to.
func (s *Session) claim(a store.Approval) error {
	won, err := s.Decide(a)
	if err != nil || won {
		return err
	}
	now, err := s.Parked(a.ID)
	if err != nil {
		return err
	}
	return decidedAlready(now)
}

// unfit says why a request can't be done, and ends it if none of it can.
func (s *Session) unfit(a store.Approval, plan tools.Replanned) error {
	code := plan.Decision.Code
	if code == policy.NothingToRefund && plan.Held > 0 { // those may still be rejected, or expire
		return conflict(code, "%s doesn't fit now and keeps waiting: other requests on the order hold what is left; decide those first", a.ID)
	}
	switch code {
	case policy.OrderCancelled, policy.NothingToRefund, policy.RefundWindowExpired:
		a.State, a.DecidedBy, a.Note, a.ApprovedAmount = store.Stale, "", "", 0
		if err := s.claim(a); err != nil {
			return err
		}
		return conflict(RequestStale, "%s is stale: %s", a.ID, whyUnfit[code])
	case policy.AmountExceedsRefundable:
		fits := money.Amount{Minor: plan.Fits, Currency: a.Currency}
		return conflict(code, "%s doesn't fit any more: only %s of it is left; approve --amount %s, or reject it",
			a.ID, fits.Format(), fits.Decimal())
	}
	why := whyUnfit[code]
	if why == "" {
		why = plan.Decision.Message
	}
	return conflict(code, "%s can't be done now and keeps waiting: %s", a.ID, why)
}

// whyUnfit says it to an operator; the policy's own texts are for an agent.
var whyUnfit = map[policy.Code]string{
	policy.OrderCancelled:      "the order is cancelled, and the shop refunds a cancelled order by itself",
	policy.NothingToRefund:     "nothing is left to refund on the order",
	policy.RefundWindowExpired: "by the rules in force the order's refund window had ended when it was asked",
	policy.OrderNotPaid:        "nothing has been captured on the order",
	policy.OrderNotDelivered:   "the order is not delivered, and the rules in force refuse that",
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
