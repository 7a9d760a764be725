package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// States of an approval. Expired is what a pending one is called once its time
// is over; it is never stored.
const (
	Pending  = "pending"
	Approved = "approved"
	Rejected = "rejected"
	Expired  = "expired"
	Stale    = "stale"
)

// An Approval is an action that waits, or waited, for a human.
type Approval struct {
	Seq            int64
	ID             string
	Tool           string
	Arguments      json.RawMessage
	Customer       string // key; "" for a request of a session that has none
	OrderID        string // "" where it is about no order
	Amount         int64  // minor units; 0 where it is about no money
	Currency       string
	AskedBy        string // principal id
	AskedByName    string
	RequestKey     string
	Reasons        []string // why a human decides
	Policy         string   // version
	Digest         string
	Created        time.Time
	Expires        time.Time
	State          string // as of the reading: Expired where that is so
	DecidedBy      string // principal id
	DecidedByName  string
	Decided        time.Time
	Note           string // the operator's
	ApprovedAmount int64  // 0 until approved
	Result         json.RawMessage
	Collected      time.Time // of a request: when the agent got the answer
}

const selectApprovals = `select a.seq, a.id, a.tool, a.arguments, coalesce(a.customer, ''), coalesce(a.order_id, ''),
	coalesce(a.amount, 0), a.currency, a.asked_by, p.name, a.request_key, a.reasons, a.policy, a.digest, a.created_at,
	a.expires_at, a.state, coalesce(a.decided_by, ''), coalesce(d.name, ''), a.decided_at, a.note,
	coalesce(a.approved_amount, 0), a.result, a.collected_at
	from approvals a join principals p on p.id = a.asked_by left join principals d on d.id = a.decided_by where `

func (v *View) approvals(where string, args ...any) (approvals []Approval, err error) {
	err = v.rows(selectApprovals+where, args, func(rows scanner) error {
		var a Approval
		var arguments, reasons, result string
		err := rows.Scan(&a.Seq, &a.ID, &a.Tool, &arguments, &a.Customer, &a.OrderID,
			&a.Amount, &a.Currency, &a.AskedBy, &a.AskedByName, &a.RequestKey, &reasons, &a.Policy, &a.Digest,
			into(&a.Created), into(&a.Expires), &a.State, &a.DecidedBy, &a.DecidedByName, into(&a.Decided), &a.Note,
			&a.ApprovedAmount, &result, into(&a.Collected))
		if err != nil {
			return err
		}
		a.Arguments, a.Result = json.RawMessage(arguments), json.RawMessage(result)
		if a.State == Pending && !a.Expires.After(v.Now) {
			a.State = Expired
		}
		err = json.Unmarshal([]byte(reasons), &a.Reasons)
		approvals = append(approvals, a)
		return err
	})
	return approvals, err
}

// Approval returns the approval of an id, whoever's it is, and no request. It is
// for operators.
func (v *View) Approval(id string) (Approval, error) {
	return first(v.approvals("a.id = ? and a.tool <> ?", id, RequestTool))
}

// CustomersApproval returns customer's own approval of an action of an id. An
// unknown id gives [ErrNotFound], another customer's [ErrForeignID].
func (v *View) CustomersApproval(customer, id string) (Approval, error) {
	a, err := first(v.approvals("a.id = ? and a.tool <> ? and a.customer = ?", id, RequestTool, customer))
	if errors.Is(err, ErrNotFound) {
		err = v.foreign("select 1 from approvals where id = ?", id)
	}
	return a, err
}

// ApprovalsOfOrder returns what was ever asked of a human about an order, oldest first.
func (v *View) ApprovalsOfOrder(orderID string) ([]Approval, error) {
	return v.approvals("a.order_id = ? order by a.seq", orderID)
}

// ApprovalsOfCustomer returns a customer's approvals that wait, or were created
// or decided since a moment, newest first, at most limit.
func (v *View) ApprovalsOfCustomer(customer string, since time.Time, limit int) ([]Approval, error) {
	return v.approvals(`a.customer = ? and a.tool <> ? and (a.expires_at > ? and a.state = 'pending' or a.decided_at > ?)
		order by a.seq desc limit ?`, customer, RequestTool, stamp(v.Now), stamp(since), limit)
}

// Approvals returns approvals in the order they were asked; only those that
// wait, or all.
func (v *View) Approvals(all bool) ([]Approval, error) {
	return v.parked("a.tool <> ?", all)
}

// parked returns what was asked of a human, approvals or requests.
func (v *View) parked(tool string, all bool) ([]Approval, error) {
	if all {
		return v.approvals(tool+" order by a.seq", RequestTool)
	}
	return v.approvals(tool+" and a.state = 'pending' and a.expires_at > ? order by a.seq", RequestTool, stamp(v.Now))
}

// AddApproval parks a. ID and Created are filled in and the state is pending.
func (tx *Tx) AddApproval(a Approval) (Approval, error) {
	a.ID, a.Created, a.State = tx.NewID(prefixOf(a.Tool)), tx.Now, Pending
	reasons, err := json.Marshal(a.Reasons)
	if err != nil {
		return a, err
	}
	err = tx.execOne(`insert into approvals (id, tool, arguments, customer, order_id, amount, currency, asked_by,
		request_key, reasons, policy, digest, created_at, expires_at, state)
		values (?, ?, ?, nullif(?, ''), nullif(?, ''), nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, 'pending')`,
		a.ID, a.Tool, string(a.Arguments), a.Customer, a.OrderID, a.Amount, a.Currency, a.AskedBy,
		a.RequestKey, string(reasons), a.Policy, a.Digest, stamp(a.Created), stamp(a.Expires))
	if err != nil {
		return a, fmt.Errorf("approval of %s: %w", a.Tool, err)
	}
	return a, tx.announce(a.ID)
}

// Decide moves a pending approval that hasn't expired to its last state, and
// reports false where it no longer waits. It writes a's State, DecidedBy, Note
// and ApprovedAmount.
func (tx *Tx) Decide(a Approval) (bool, error) {
	n, err := tx.exec(`update approvals set state = ?, decided_by = nullif(?, ''), decided_at = ?, note = ?,
		approved_amount = nullif(?, 0) where id = ? and state = 'pending' and expires_at > ?`,
		a.State, a.DecidedBy, stamp(tx.Now), a.Note, a.ApprovedAmount, a.ID, stamp(tx.Now))
	if err != nil {
		return false, fmt.Errorf("deciding %s: %w", a.ID, err)
	}
	return n == 1, nil
}

// SetApprovalResult keeps what performing an approval gave.
func (tx *Tx) SetApprovalResult(id string, result json.RawMessage) error {
	return tx.execOne("update approvals set result = ? where id = ?", string(result), id)
}
