package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
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
	err := tx.add("insert into audit ("+auditColumns+`)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Seq, r.At, r.Actor, r.ActorKind, r.Role, r.Door, r.Session, r.Client, r.Customer, r.Action, r.OrderID,
		r.ApprovalID, r.Amount, r.Currency, r.Outcome, r.Code, r.Fingerprint, r.Policy, r.DurationUS, r.PrevHash, r.Hash)
	if err != nil {
		return fmt.Errorf("audit row: %w", err)
	}
	tx.audited = append(tx.audited, r)
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
	query := "select " + auditColumns + ` from audit where seq > ?1 and (?2 is null or at >= ?2)
		and (?3 = '' or action = ?3) and (?4 = '' or outcome = ?4) and (?5 = '' or customer = ?5)
		and (?6 = '' or order_id = ?6) and (?7 = '' or actor = ?7) order by seq`
	args := []any{f.After, stamp(f.Since), f.Action, f.Outcome, f.Customer, f.OrderID, f.Actor}
	if f.Last > 0 { // backwards from the end, as far as needed
		query, args = "select * from ("+query+" desc limit ?8) order by seq", append(args, f.Last)
	}
	return v.rows(query, args, func(rows scanner) error {
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

// An AuditLink is a row as the chain of hashes has it.
type AuditLink struct {
	Seq            int64
	PrevHash, Hash string

	// Hashed is what Hash is over: the previous row's hash and then every other
	// field but Hash in the order of the table's columns, each as its length in
	// bytes, a colon, and its text; an absent amount is empty. It is valid until
	// the next row.
	Hashed []byte
}

// hashedColumns are in the order in which they are hashed.
var hashedColumns = []string{"prev_hash", "seq", "at", "actor", "actor_kind", "role", "door", "session", "client", "customer", "action",
	"order_id", "approval_id", "amount", "currency", "outcome", "code", "fingerprint", "policy", "duration_us"}

// AuditLinks calls yield for all rows in the order of their sequence. SQLite
// puts together what is hashed: to hand over each field by itself takes several
// times as long.
func (v *View) AuditLinks(yield func(AuditLink) error) error {
	var parts []string
	for _, column := range hashedColumns {
		parts = append(parts, "ifnull(octet_length("+column+"), 0), ':', "+column)
	}
	query := "select seq, prev_hash, hash, concat(" + strings.Join(parts, ", ") + ") from audit order by seq"
	return v.rows(query, nil, func(rows scanner) error {
		var link AuditLink
		var hashed sql.RawBytes
		if err := rows.Scan(&link.Seq, &link.PrevHash, &link.Hash, &hashed); err != nil {
			return err
		}
		link.Hashed = hashed
		return yield(link)
	})
}
