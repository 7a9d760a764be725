package store

import (
	"fmt"
	"time"
)

// A Refund was recorded here; the shop's own system pays it out.
type Refund struct {
	Seq        int64
	ID         string
	OrderID    string
	Customer   string // key
	Amount     int64  // minor units, above 0
	Currency   string
	Reason     string
	Human      bool      // a human decided it
	ApprovalID string    // "" without one
	MadeBy     string    // id of the principal that asked for it
	RequestKey string    // "" where an operator issued it: no agent's request repeats that
	Judged     time.Time // the moment its refund window was judged
	Created    time.Time

	MadeByName    string
	DecidedByName string // of the operator who decided it; "" where the policy did
}

// Issued reports whether an operator made the refund, outside the policy.
func (r Refund) Issued() bool { return r.Human && r.ApprovalID == "" }

const selectRefunds = `select r.seq, r.id, r.order_id, r.customer, r.amount, r.currency, r.reason, r.human,
	coalesce(r.approval_id, ''), r.made_by, r.request_key, r.judged_at, r.created_at, p.name,
	case when r.human = 0 then '' else coalesce(d.name, p.name) end
	from refunds r join principals p on p.id = r.made_by
	left join approvals a on a.id = r.approval_id left join principals d on d.id = a.decided_by where `

func refundFields(r *Refund) []any {
	return []any{&r.Seq, &r.ID, &r.OrderID, &r.Customer, &r.Amount, &r.Currency, &r.Reason, &r.Human, &r.ApprovalID,
		&r.MadeBy, &r.RequestKey, into(&r.Judged), into(&r.Created), &r.MadeByName, &r.DecidedByName}
}

// AddRefund records r and counts it on its order. ID and Created are filled in.
// The table refuses what would exceed the amount paid.
func (tx *Tx) AddRefund(r Refund) (Refund, error) {
	r.ID, r.Created = tx.NewID("RF-"), tx.Now
	err := tx.execOne(`update orders set refunded = refunded + ?,
		source_refunded_base = coalesce(source_refunded_base, source_refunded) where id = ?`, r.Amount, r.OrderID)
	if err != nil {
		return r, fmt.Errorf("order %s: %w", r.OrderID, err)
	}
	err = tx.execOne(`insert into refunds (id, order_id, customer, amount, currency, reason, human, approval_id, made_by,
		request_key, judged_at, created_at) values (?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?)`,
		r.ID, r.OrderID, r.Customer, r.Amount, r.Currency, r.Reason, r.Human, r.ApprovalID, r.MadeBy,
		r.RequestKey, stamp(r.Judged), stamp(r.Created))
	if err != nil {
		return r, fmt.Errorf("refund on %s: %w", r.OrderID, err)
	}
	return r, nil
}

// Refunds returns the refunds made here on an order, oldest first.
func (v *View) Refunds(orderID string) ([]Refund, error) {
	return v.refunds("r.order_id = ? order by r.seq", orderID)
}

// RefundsSince returns refunds in the order they were made.
func (v *View) RefundsSince(s Since) ([]Refund, error) {
	return v.refunds("r.seq > ? and r.created_at >= ? order by r.seq", s.Seq, s.from())
}

func (v *View) refunds(where string, args ...any) (refunds []Refund, err error) {
	err = v.rows(selectRefunds+where, args, func(rows scanner) error {
		var r Refund
		defer func() { refunds = append(refunds, r) }()
		return rows.Scan(refundFields(&r)...)
	})
	return refunds, err
}

// Refund returns the refund of an id, whoever's it is. It is for operators.
func (v *View) Refund(id string) (Refund, error) {
	return first(v.refunds("r.id = ?", id))
}

// RefundOf returns the refund that an approval led to.
func (v *View) RefundOf(approvalID string) (Refund, error) {
	return first(v.refunds("r.approval_id = ?", approvalID))
}
