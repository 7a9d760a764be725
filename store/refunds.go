package store

import (
	"database/sql"
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
	Human      bool   // a human decided it
	ApprovalID string // "" without one
	MadeBy     string // id of the principal that asked for it
	RequestKey string
	Judged     time.Time // the moment its refund window was judged
	Created    time.Time
}

const refundColumns = `seq, id, order_id, customer, amount, currency, reason, human, coalesce(approval_id, ''), made_by,
	request_key, judged_at, created_at`

func refundFields(r *Refund) []any {
	return []any{&r.Seq, &r.ID, &r.OrderID, &r.Customer, &r.Amount, &r.Currency, &r.Reason, &r.Human, &r.ApprovalID,
		&r.MadeBy, &r.RequestKey, into(&r.Judged), into(&r.Created)}
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
	return v.refunds("order_id = ? order by seq", orderID)
}

func (v *View) refunds(where string, args ...any) (refunds []Refund, err error) {
	err = v.rows("select "+refundColumns+" from refunds where "+where, args, func(rows *sql.Rows) error {
		var r Refund
		defer func() { refunds = append(refunds, r) }()
		return rows.Scan(refundFields(&r)...)
	})
	return refunds, err
}

// RefundOf returns the refund that an approval led to.
func (v *View) RefundOf(approvalID string) (Refund, error) {
	return first(v.refunds("approval_id = ?", approvalID))
}
