package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"countersign/audit"
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// IssueRefundArgs are the arguments of issue_refund.
type IssueRefundArgs struct {
	OrderID  string `json:"order_id" jsonschema:"minLength=1,maxLength=100,example=NW-5001"`
	Amount   string `json:"amount,omitempty" jsonschema:"pattern=^[0-9]{1\\,15}(\\.[0-9]{1\\,4})?$,example=12.50" jsonschema_description:"Decimal string in the order's currency. Leave out to refund all that is refundable."`
	Currency string `json:"currency,omitempty" jsonschema:"pattern=^[A-Z]{3}$,example=USD" jsonschema_description:"Checked against the order's."`
	Reason   string `json:"reason" jsonschema:"minLength=3,maxLength=500" jsonschema_description:"Why, in the customer's words."`
	Another  bool   `json:"another,omitempty" jsonschema_description:"true only if a second refund equal to an earlier one is meant."`
}

// RefundAnswer is the answer of issue_refund. A pending one can't be mistaken
// for a done one.
type RefundAnswer struct {
	Status          string        `json:"status"` // refunded or pending_approval
	OrderID         string        `json:"order_id"`
	RefundID        string        `json:"refund_id,omitempty"`
	ApprovalID      string        `json:"approval_id,omitempty"`
	Amount          string        `json:"amount"`
	Currency        string        `json:"currency"`
	RequestedAmount string        `json:"requested_amount,omitempty"` // where less was approved
	Remaining       string        `json:"remaining,omitempty"`
	ExpiresAt       string        `json:"expires_at,omitempty"`
	Operator        *OperatorNote `json:"operator,omitempty"`
	What            string        `json:"what_this_means"`
	TellCustomer    string        `json:"tell_customer"`
	Replayed        bool          `json:"replayed,omitempty"`
}

// OperatorNote is what a human wrote who decided, and who that was.
type OperatorNote struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

func (a RefundAnswer) outcome() audit.Outcome {
	if a.Status == statusPending {
		return audit.PendingApproval
	}
	return audit.OK
}

const (
	issueRefundName = "issue_refund"

	statusRefunded = "refunded"
	statusPending  = "pending_approval"

	minReason        = 3   // characters
	mostOperatorNote = 600 // bytes

)

var issueRefund = define(spec[IssueRefundArgs, RefundAnswer]{
	Name:  issueRefundName,
	Title: "Issue a refund",
	Description: "Makes a refund (money back, return a payment, reimbursement) on an order of the customer, or asks a human where the shop's policy " +
		"says so: then status is pending_approval and nothing has been refunded yet. Calling it again with the same arguments is safe. " +
		"Never refunds more than was paid; refusals are final.",
	Category:      "refund",
	Hint:          "customer wants money back, return the payment",
	Role:          policy.Staff,
	NeedsCustomer: true,
	Destructive:   true,
	Idempotent:    true,
	Plan:          planRefund,
})

func planRefund(s *Scope, in IssueRefundArgs) (p Plan[RefundAnswer], err error) {
	if utf8.RuneCountInString(plainText(in.Reason)) < minReason {
		return p, invalid(policy.Problem{Path: "reason", Message: fmt.Sprintf("must say in at least %d characters why", minReason)})
	}
	order, err := s.Order(in.OrderID)
	if err != nil {
		return p, err
	}
	request, err := s.refundRequest(in, order)
	if err != nil {
		return p, err
	}
	facts, history, err := s.refundFacts(order)
	if err != nil {
		return p, err
	}
	request.Order = facts
	decided := s.Rules.DecideRefund(request)
	amount := money.Amount{Minor: decided.Amount, Currency: order.Currency}
	if in.Currency == "" || in.Currency == order.Currency {
		s.subject.amount = amount
	}

	p.Repeat = repeatKey(s.Principal, order, in, request.Asked)
	if s.Approval == nil && (in.Currency == "" || in.Currency == order.Currency) {
		left := money.Amount{Minor: decided.State.Refundable, Currency: order.Currency}
		if p.Earlier, err = s.earlierRefund(history, in, p.Repeat, request.Asked, amount, left); p.Earlier != nil || err != nil {
			return p, err
		}
	}
	p.Decision, p.Facts = decided.Decision, moneyFacts(decided.State, order.Currency)
	p.Fits, p.Held = decided.State.Refundable, decided.State.Awaiting
	p.Parked = func(a store.Approval) RefundAnswer { return pendingRefund(a) }
	p.Perform = func(tx *store.Tx) (RefundAnswer, error) {
		refund := store.Refund{
			OrderID: order.ID, Customer: order.Customer, Amount: amount.Minor, Currency: amount.Currency, Reason: in.Reason,
			MadeBy: s.Principal.ID, RequestKey: p.Repeat, Judged: request.AskedAt,
		}
		if s.Approval != nil {
			refund.Human, refund.ApprovalID = true, s.Approval.ID
		}
		refund, err := tx.AddRefund(refund)
		facts.Refunded += amount.Minor
		facts.Charges = append(facts.Charges, policy.Charge{Minor: amount.Minor, JudgedAt: request.AskedAt, Human: refund.Human})
		left := money.Amount{Minor: s.Rules.State(facts, s.Now).Refundable, Currency: amount.Currency}
		return refunded(refund, left), err
	}
	return p, nil
}

// refundRequest reads what is asked of the policy: as the agent sent it, or as
// an operator approved it.
func (s *Scope) refundRequest(in IssueRefundArgs, order store.Order) (policy.RefundRequest, error) {
	if a := s.Approval; a != nil {
		return policy.RefundRequest{Asked: &a.ApprovedAmount, AskedAt: a.Created, Approved: true}, nil
	}
	request := policy.RefundRequest{Currency: in.Currency, AskedAt: s.Now}
	if in.Amount == "" || (in.Currency != "" && in.Currency != order.Currency) {
		return request, nil // an amount in another currency has no meaning here
	}
	amount, err := money.Parse(in.Amount, order.Currency)
	if err != nil {
		return request, invalid(policy.Problem{Path: "amount", Message: "is refused: " + err.Error()})
	}
	request.Asked = &amount.Minor
	return request, nil
}

func refunded(r store.Refund, left money.Amount) RefundAnswer {
	amount := money.Amount{Minor: r.Amount, Currency: r.Currency}
	return RefundAnswer{
		Status: statusRefunded, OrderID: r.OrderID, RefundID: r.ID, ApprovalID: r.ApprovalID,
		Amount: amount.Decimal(), Currency: amount.Currency, Remaining: left.Decimal(),
		What:         "The refund is recorded here; the shop's own system pays it out.",
		TellCustomer: fmt.Sprintf("Your refund of %s for order %s is approved and on its way to your original payment method.", amount.Format(), r.OrderID),
	}
}

func pendingRefund(a store.Approval) RefundAnswer {
	amount := money.Amount{Minor: a.Amount, Currency: a.Currency}
	return RefundAnswer{
		Status: statusPending, OrderID: a.OrderID, ApprovalID: a.ID,
		Amount: amount.Decimal(), Currency: amount.Currency, ExpiresAt: rfc3339(a.Expires),
		What: "Nothing has been refunded yet: a human decides, because " + strings.Join(a.Reasons, "; and ") + ".",
		TellCustomer: fmt.Sprintf("Your request for a refund of %s on order %s is with a specialist for review. "+
			"Nothing has been refunded yet.", amount.Format(), a.OrderID),
	}
}
