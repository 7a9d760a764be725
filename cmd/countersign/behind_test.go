package main

import (
	"database/sql"
	"errors"
	"net/url"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"github.com/rogpeppe/go-internal/testscript"
)

// runSQL changes a database behind the program's back.
func runSQL(path, statements string) error {
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_busy_timeout=5000")
	if err != nil {
		return err
	}
	_, err = db.Exec(statements)
	return errors.Join(err, db.Close())
}

// waitFor waits until a condition holds, for as long as a slow machine may need.
func waitFor(ts *testscript.TestScript, holds func() bool, otherwise string) {
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s", otherwise)
}
