package store

import (
	"errors"
	"fmt"
	"time"
)

// View reads one consistent state of the database at one moment.
type View struct {
	// Now is the moment all of this reading or writing happens at, in UTC.
	Now time.Time

	conn *conn
	keys *keyring
}

// Tx is a write transaction. It reads its own writes.
type Tx struct {
	View
	newID     func(prefix string) string
	outbox    []string // the targets to tell of what starts to wait
	announces bool     // something does
	audited   []AuditRow
}

// NewID returns a fresh id that starts with prefix.
func (tx *Tx) NewID(prefix string) string { return tx.newID(prefix) }

// Savepoint runs fn and undoes what it wrote, and nothing else, unless it
// returns true. An error means that the transaction is lost and must not go on.
func (tx *Tx) Savepoint(fn func() (keep bool)) (err error) {
	if err := tx.conn.run("savepoint act"); err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep { // also when fn panics
			err = tx.conn.run("rollback to act")
		}
		err = errors.Join(err, tx.conn.run("release act"))
	}()
	keep = fn()
	return nil
}

// exec runs a statement and returns how many rows it changed.
func (tx *Tx) exec(query string, args ...any) (int64, error) {
	return tx.conn.exec(query, args...)
}

// execOne is exec for statements that must change exactly one row.
func (tx *Tx) execOne(query string, args ...any) error {
	n, err := tx.exec(query, args...)
	if err == nil && n != 1 {
		return fmt.Errorf("%d rows changed instead of 1", n)
	}
	return err
}

// add runs an insert, which adds its row or fails. The driver binds the values of
// a query at once, those of an exec one by one.
func (tx *Tx) add(query string, args ...any) error { return tx.conn.query(query, args, nil) }

// row scans the one row that query gives into dest. It returns [ErrNotFound]
// where there is none.
func (v *View) row(query string, args []any, dest ...any) error {
	found := false
	err := v.conn.query(query, args, func(r row) error {
		if found {
			return nil // of several the first
		}
		found = true
		return r.Scan(dest...)
	})
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// rows calls scan for each row of query.
func (v *View) rows(query string, args []any, scan func(scanner) error) error {
	return v.conn.query(query, args, func(r row) error { return scan(r) })
}
