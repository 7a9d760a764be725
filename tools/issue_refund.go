package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

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

	// replayWindow is how long the same refund counts as a repeat of the first.
	replayWindow = 10 * time.Minute
)

var issueRefund = define(spec[IssueRefundArgs, RefundAnswer]{
	Name:  issueRefundName,
	Title: "Issue a refund",
	Description: "Refunds money (money back, reimbursement) on one of the customer's orders, or asks a human where the shop's policy " +
		"says so: then status is pending_approval and nothing has been refunded yet. Calling it again with the same arguments is safe. " +
		"Never refunds more than was paid; refusals are final.",
	Role:          policy.Staff,
	NeedsCustomer: true,
	Destructive:   true,
	Idempotent:    true,
	Plan:          planRefund,
})

func planRefund(s *Scope, in IssueRefundArgs) (p Plan[RefundAnswer], err error) {
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
	s.subject.amount = amount

	p.Repeat = repeatKey(s.Principal, order, in, request.Asked)
	if s.Approval == nil {
		if p.Earlier, err = s.earlierRefund(history, in, p.Repeat, request.Asked, amount); p.Earlier != nil || err != nil {
			return p, err
		}
	}
	p.Decision, p.Facts, p.Fits = decided.Decision, moneyFacts(decided.State, order.Currency), decided.State.Refundable
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
		left := money.Amount{Minor: decided.State.Refundable - amount.Minor, Currency: amount.Currency}
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

// repeatKey is equal for a repeat of the same request: compared as asked, so
// that an omitted amount equals an omitted one. "another" brings the reason in.
func repeatKey(by store.Principal, order store.Order, in IssueRefundArgs, asked *int64) string {
	amount := "all"
	if asked != nil {
		amount = fmt.Sprint(*asked)
	}
	parts := []string{by.ID, order.ID, amount}
	if in.Another {
		parts = append(parts, "another", plainText(in.Reason))
	}
	return keyOf(parts...)
}

// earlierRefund returns what the same request got before, or an error where a
// human has said no to it; nil and nil for a new request.
func (s *Scope) earlierRefund(h refundHistory, in IssueRefundArgs, key string, asked *int64, amount money.Amount) (*RefundAnswer, error) {
	for _, r := range h.refunds {
		if r.RequestKey == key && r.ApprovalID == "" && s.Now.Sub(r.Created) < replayWindow {
			return s.replayed(r)
		}
	}
	for _, a := range slices.Backward(h.approvals) {
		if a.RequestKey != key {
			continue
		}
		s.subject.approvalID = a.ID
		switch a.State {
		case store.Rejected:
			return nil, rejected(a)
		case store.Pending, store.Approved:
			return replayedApproval(a)
		}
		s.subject.approvalID = "" // expired or stale: asked afresh
		break
	}
	if !in.Another {
		return nil, s.rejectedBefore(h, asked, amount)
	}
	return nil, nil
}

// rejectedBefore returns the refusal of a human who has said no to this amount,
// whoever asked for it then.
func (s *Scope) rejectedBefore(h refundHistory, asked *int64, amount money.Amount) error {
	for _, a := range slices.Backward(h.approvals) {
		decided := a.State == store.Approved || a.State == store.Rejected
		if !decided || !sameRefund(a, asked, amount) {
			continue
		}
		if a.State == store.Rejected {
			s.subject.approvalID = a.ID
			return rejected(a)
		}
		return nil // the same was approved since
	}
	return nil
}

// sameRefund reports whether a request, whoever made it, was for this amount.
func sameRefund(a store.Approval, asked *int64, amount money.Amount) bool {
	var earlier IssueRefundArgs
	if err := json.Unmarshal(a.Arguments, &earlier); err != nil {
		return false
	}
	return a.Amount == amount.Minor || asked == nil && earlier.Amount == ""
}

// replayed answers again for a refund that was made a moment ago.
func (s *Scope) replayed(r store.Refund) (*RefundAnswer, error) {
	order, err := s.OrderByID(r.OrderID)
	if err != nil {
		return nil, err
	}
	facts, _, err := s.refundFacts(order)
	if err != nil {
		return nil, err
	}
	s.subject.amount = money.Amount{Minor: r.Amount, Currency: r.Currency}
	answer := refunded(r, money.Amount{Minor: s.Rules.State(facts, s.Now).Refundable, Currency: r.Currency})
	answer.Replayed = true
	return &answer, nil
}

// replayedApproval answers for a request that waits or was approved.
func replayedApproval(a store.Approval) (*RefundAnswer, error) {
	answer := pendingRefund(a)
	if a.State == store.Approved {
		answer = RefundAnswer{}
		if err := json.Unmarshal(a.Result, &answer); err != nil {
			return nil, fmt.Errorf("result of %s: %w", a.ID, err)
		}
		answer.Operator = &OperatorNote{Name: a.DecidedByName, Note: a.Note}
		if a.ApprovedAmount < a.Amount {
			answer.RequestedAmount = money.Amount{Minor: a.Amount, Currency: a.Currency}.Decimal()
		}
	}
	answer.Replayed = true
	return &answer, nil
}

func rejected(a store.Approval) *refusal {
	amount := money.Amount{Minor: a.Amount, Currency: a.Currency}.Format()
	return &refusal{
		outcome: audit.Denied, code: policy.RefundRejected,
		message: fmt.Sprintf("A human has rejected this refund of %s. Tell the customer so and why; don't promise another outcome.", amount),
		facts: []fact{{"approval_id", a.ID}, {"decided_at", rfc3339(a.Decided)},
			{"operator", OperatorNote{Name: a.DecidedByName, Note: a.Note}}},
	}
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
