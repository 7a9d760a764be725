package store

import (
	"context"

	"github.com/mattn/go-sqlite3"
)

// Preparing makes the writer's connection call tell for each statement that it
// prepares from now on: SQLite asks then whether it is allowed.
func (db *DB) Preparing(tell func()) error {
	return db.onWriter(context.Background(), func(c *conn) error {
		c.driver.(*sqlite3.SQLiteConn).RegisterAuthorizer(func(int, string, string, string) int {
			tell()
			return sqlite3.SQLITE_OK
		})
		return nil
	})
}

// Readers returns how many connections are open for reading.
func (db *DB) Readers() int { return db.reader.db.Stats().OpenConnections }
