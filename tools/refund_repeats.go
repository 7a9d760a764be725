package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"countersign/audit"
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// replayWindow is how long the same refund counts as a repeat of the first.
const replayWindow = 10 * time.Minute

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
// human has said no to it; nil and nil for a new request. left is what can be
// refunded now, beside it.
func (s *Scope) earlierRefund(h refundHistory, in IssueRefundArgs, key string, asked *int64, amount, left money.Amount) (*RefundAnswer, error) {
	for _, r := range h.refunds {
		if r.RequestKey == key && r.ApprovalID == "" && s.Now.Sub(r.Created) < replayWindow {
			return s.replayedRefund(r, left), nil
		}
	}
	for _, a := range slices.Backward(h.approvals) {
		if a.RequestKey != key {
			continue
		}
		switch a.State {
		case store.Rejected:
			return nil, s.rejected(a)
		case store.Pending, store.Approved:
			return s.replayedApproval(a, left)
		}
		break // expired or stale: asked afresh
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
			return s.rejected(a)
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

// replayedRefund answers again for a refund that was made a moment ago.
func (s *Scope) replayedRefund(r store.Refund, left money.Amount) *RefundAnswer {
	s.subject.amount = money.Amount{Minor: r.Amount, Currency: r.Currency}
	answer := refunded(r, left)
	answer.Replayed = true
	return &answer
}

// replayedApproval answers for a request that waits or was approved.
func (s *Scope) replayedApproval(a store.Approval, left money.Amount) (*RefundAnswer, error) {
	answer := pendingRefund(a)
	s.about(a, a.Amount)
	if a.State == store.Approved {
		s.about(a, a.ApprovedAmount)
		answer = RefundAnswer{}
		if err := json.Unmarshal(a.Result, &answer); err != nil {
			return nil, fmt.Errorf("result of %s: %w", a.ID, err)
		}
		answer.Operator, answer.Remaining = operatorNote(a), left.Decimal()
		if a.ApprovedAmount < a.Amount {
			answer.RequestedAmount = money.Amount{Minor: a.Amount, Currency: a.Currency}.Decimal()
		}
	}
	answer.Replayed = true
	return &answer, nil
}

func (s *Scope) rejected(a store.Approval) *refusal {
	s.about(a, a.Amount)
	amount := money.Amount{Minor: a.Amount, Currency: a.Currency}.Format()
	return &refusal{
		outcome: audit.Denied, code: policy.RefundRejected,
		message: fmt.Sprintf("A human has rejected this refund of %s. Tell the customer so and why; don't promise another outcome.", amount),
		facts: []fact{{"approval_id", a.ID}, {"decided_at", rfc3339(a.Decided)},
			{"operator", operatorNote(a)}},
	}
}

// about makes an earlier request the subject of this call, with an amount in
// minor units.
func (s *Scope) about(a store.Approval, minor int64) {
	s.subject.approvalID, s.subject.amount = a.ID, money.Amount{Minor: minor, Currency: a.Currency}
}

func operatorNote(a store.Approval) *OperatorNote {
	return &OperatorNote{Name: a.DecidedByName, Note: short(a.Note, mostOperatorNote)}
}
