package store

import (
	"fmt"
	"time"
)

// A Case says which customer a principal acts for, because an operator opened
// it. A principal has one at a time; the next one replaces it.
type Case struct {
	ID            string
	Principal     string // id
	PrincipalName string // filled in by OpenCases alone
	Customer      string // key
	OpenedBy      string // id
	OpenedByName  string // filled in by OpenCases alone
	Opened        time.Time
	Expires       time.Time
}

// OpenCase returns a principal's case. One that has expired is [ErrNotFound], as
// is none.
func (v *View) OpenCase(principal string) (Case, error) {
	c := Case{Principal: principal}
	err := v.row(`select id, customer, opened_by, opened_at, expires_at from cases
		where principal = ? and closed_at is null`, []any{principal},
		&c.ID, &c.Customer, &c.OpenedBy, into(&c.Opened), into(&c.Expires))
	if err == nil && !c.Expires.After(v.Now) {
		err = ErrNotFound
	}
	if err != nil {
		return Case{}, err
	}
	return c, nil
}

// OpenCases returns the cases that are neither closed nor expired, the oldest
// first.
func (v *View) OpenCases() (cases []Case, err error) {
	err = v.rows(`select c.id, c.principal, p.name, c.customer, c.opened_by, o.name, c.opened_at, c.expires_at
		from cases c join principals p on p.id = c.principal join principals o on o.id = c.opened_by
		where c.closed_at is null and c.expires_at > ? order by c.seq`, []any{stamp(v.Now)}, func(rows scanner) error {
		var c Case
		defer func() { cases = append(cases, c) }()
		return rows.Scan(&c.ID, &c.Principal, &c.PrincipalName, &c.Customer, &c.OpenedBy, &c.OpenedByName,
			into(&c.Opened), into(&c.Expires))
	})
	return cases, err
}

// AddCase opens c in place of its principal's last one. ID and Opened are filled
// in.
func (tx *Tx) AddCase(c Case) (Case, error) {
	if _, err := tx.CloseCase(c.Principal, c.OpenedBy); err != nil {
		return c, err
	}
	c.ID, c.Opened = tx.NewID("CS-"), tx.Now
	err := tx.execOne(`insert into cases (id, principal, customer, opened_by, opened_at, expires_at)
		values (?, ?, ?, ?, ?, ?)`, c.ID, c.Principal, c.Customer, c.OpenedBy, stamp(c.Opened), stamp(c.Expires))
	if err != nil {
		return c, fmt.Errorf("case %s: %w", c.ID, err)
	}
	return c, nil
}

// CloseCasesOf closes every case of a customer.
func (tx *Tx) CloseCasesOf(customer, by string) error {
	_, err := tx.exec("update cases set closed_by = ?, closed_at = ? where customer = ? and closed_at is null",
		by, stamp(tx.Now), customer)
	return err
}

// CloseCase closes a principal's case, expired or not, and reports whether there
// was one.
func (tx *Tx) CloseCase(principal, by string) (closed bool, err error) {
	n, err := tx.exec("update cases set closed_by = ?, closed_at = ? where principal = ? and closed_at is null",
		by, stamp(tx.Now), principal)
	return n == 1, err
}
