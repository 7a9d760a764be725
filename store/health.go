package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SchemaVersion returns how many migrations the database has had.
func (v *View) SchemaVersion() (int, error) { return v.schemaVersion() }

// faultsShown is how many faults are worth reading.
const faultsShown = 20

// Faults returns what SQLite's own check finds wrong in the whole file: nothing
// in a whole one, and no more than is worth reading.
func (v *View) Faults(ctx context.Context) (faults []string, err error) {
	err = v.findings(ctx, fmt.Sprintf("pragma integrity_check(%d)", faultsShown), func(rows scanner) error {
		var text string
		err := rows.Scan(&text)
		if text != "ok" {
			found := strings.Split(strings.TrimSpace(text), "\n")
			faults = append(faults, slices.DeleteFunc(found, func(line string) bool { return strings.HasPrefix(line, "*** ") })...) // a heading
		}
		return err
	})
	return faults, err
}

// Dangling returns which rows refer to others that aren't there: none in a
// sound database, and no more than are worth reading.
func (v *View) Dangling(ctx context.Context) (rows []string, err error) {
	err = v.findings(ctx, "pragma foreign_key_check", func(found scanner) error {
		var table, parent string
		var row sql.NullInt64 // none in a table without row ids
		var key int
		err := found.Scan(&table, &row, &parent, &key)
		if len(rows) < faultsShown {
			text := table
			if row.Valid {
				text += fmt.Sprintf(" row %d", row.Int64)
			}
			rows = append(rows, text+" refers to what isn't in "+parent)
		}
		return err
	})
	return rows, err
}

// findings calls scan for what a long check finds. Unlike other reading it ends
// with ctx.
func (v *View) findings(ctx context.Context, pragma string, scan func(scanner) error) (err error) {
	rows, err := v.conn.sql.QueryContext(ctx, pragma)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
