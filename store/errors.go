package store

import (
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

// What can be wrong with a database, in words for the person who named it.
var (
	ErrNotFound = errors.New("not found")
	ErrMissing  = errors.New("there is no database here")
	ErrExists   = errors.New("there is a file here already")
	ErrLeftover = errors.New("it is left of a database that was here, and would become part of a new one")
	ErrForeign  = errors.New("this is not a Countersign database")
	ErrNewer    = errors.New("this database was written by a newer Countersign")
	ErrReadOnly = errors.New("this database, or its folder, can't be written to")
	ErrLocked   = errors.New("another process holds this database")
	ErrBroken   = errors.New("this database is damaged; restore a backup")
	ErrDiskFull = errors.New("the disk is full or failing")
	ErrKey      = errors.New("the installation's key can't be used")
	ErrNotDemo  = errors.New("this is not a demo database")
)

// Refused is a rule of the shop's data that a change would have broken.
type Refused struct{ Reason string }

func (r Refused) Error() string { return r.Reason }

// classify puts one of this package's errors in front of what SQLite said.
func classify(err error) error {
	e, ok := sqliteError(err)
	if !ok {
		return err
	}
	kind := map[sqlite3.ErrNo]error{
		sqlite3.ErrBusy:     ErrLocked,
		sqlite3.ErrLocked:   ErrLocked,
		sqlite3.ErrReadonly: ErrReadOnly,
		sqlite3.ErrPerm:     ErrReadOnly,
		sqlite3.ErrCantOpen: ErrReadOnly,
		sqlite3.ErrCorrupt:  ErrBroken,
		sqlite3.ErrNotADB:   ErrForeign,
		sqlite3.ErrFull:     ErrDiskFull,
		sqlite3.ErrIoErr:    ErrDiskFull,
	}[e.Code]
	if kind == nil || errors.Is(err, kind) {
		return err
	}
	return &storeError{kind: kind, cause: err}
}

// classify is classify for an error on db's file, which it names.
func (db *DB) classify(err error) error {
	err = classify(err)
	if e, ok := err.(*storeError); ok {
		e.path = db.path
	}
	return err
}

// about classifies an error and names the file that somebody asked for, in place
// of the draft that it may have happened on.
func about(path string, err error) error {
	err = classify(err)
	var e *storeError
	if errors.As(err, &e) {
		return &storeError{path, e.kind, err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// storeError shows the file and its kind alone: SQLite's own words stay inside.
type storeError struct {
	path        string // "" where nobody has named it yet
	kind, cause error
}

func (e *storeError) Error() string {
	if e.path == "" {
		return e.kind.Error()
	}
	return e.path + ": " + e.kind.Error()
}

func (e *storeError) Unwrap() []error { return []error{e.kind, e.cause} }
