package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// An AuditRow is one row of the audit table. Package audit knows what its
// fields mean and how its hashes come about.
type AuditRow struct {
	Seq         int64
	At          string // as stored: RFC 3339, UTC, microseconds; verification reads it as it is
	Actor       string
	ActorKind   string
	Role        string
	Door        string
	Session     string
	Client      string
	Customer    string
	Action      string
	OrderID     string
	ApprovalID  string
	Amount      *int64 // minor units; nil without one
	Currency    string
	Outcome     string
	Code        string
	Fingerprint string
	Policy      string
	DurationUS  int64
	PrevHash    string
	Hash        string
}

const auditColumns = `seq, at, actor, actor_kind, role, door, session, client, customer, action, order_id, approval_id,
	amount, currency, outcome, code, fingerprint, policy, duration_us, prev_hash, hash`

// AuditHead returns the last row's sequence number and hash; 0 and "" where
// there is none.
func (v *View) AuditHead() (seq int64, hash string, err error) {
	err = v.row("select seq, hash from audit order by seq desc limit 1", nil, &seq, &hash)
	if errors.Is(err, ErrNotFound) {
		return 0, "", nil
	}
	return seq, hash, err
}

// AddAuditRow appends r as it is.
func (tx *Tx) AddAuditRow(r AuditRow) error {
	err := tx.execOne("insert into audit ("+auditColumns+`)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Seq, r.At, r.Actor, r.ActorKind, r.Role, r.Door, r.Session, r.Client, r.Customer, r.Action, r.OrderID,
		r.ApprovalID, r.Amount, r.Currency, r.Outcome, r.Code, r.Fingerprint, r.Policy, r.DurationUS, r.PrevHash, r.Hash)
	if err != nil {
		return fmt.Errorf("audit row: %w", err)
	}
	return nil
}

// AuditFilter picks rows of the audit log; a zero field picks all.
type AuditFilter struct {
	After    int64 // sequence number
	Since    time.Time
	Action   string
	Outcome  string
	Customer string // key
	OrderID  string
	Actor    string
	Last     int // only the last n rows that fit
}

// AuditRows calls yield for the rows that fit f, in the order of their sequence.
func (v *View) AuditRows(f AuditFilter, yield func(AuditRow) error) error {
	order, limit := "asc", int64(-1)
	if f.Last > 0 {
		order, limit = "desc", int64(f.Last)
	}
	query := "select " + auditColumns + ` from audit where seq > ?1 and (?2 is null or at >= ?2)
		and (?3 = '' or action = ?3) and (?4 = '' or outcome = ?4) and (?5 = '' or customer = ?5)
		and (?6 = '' or order_id = ?6) and (?7 = '' or actor = ?7) order by seq ` + order + " limit ?8"
	return v.rows("select * from ("+query+") order by seq", []any{f.After, stamp(f.Since), f.Action, f.Outcome,
		f.Customer, f.OrderID, f.Actor, limit}, func(rows *sql.Rows) error {
		var r AuditRow
		err := rows.Scan(&r.Seq, &r.At, &r.Actor, &r.ActorKind, &r.Role, &r.Door, &r.Session, &r.Client,
			&r.Customer, &r.Action, &r.OrderID, &r.ApprovalID, &r.Amount, &r.Currency, &r.Outcome, &r.Code,
			&r.Fingerprint, &r.Policy, &r.DurationUS, &r.PrevHash, &r.Hash)
		if err != nil {
			return err
		}
		return yield(r)
	})
}
