package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// applicationID marks the file as ours in its header: "CSgn".
const applicationID = 0x4353676e

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the SQL files in the order of their numbers: file n brings
// a database of version n to n+1.
func migrations() []string {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic(err)
	}
	return names
}

// migrate brings the database to this program's version. An up-to-date one is
// only read.
func (db *DB) migrate() error {
	var version int
	err := db.View(context.Background(), func(v *View) (err error) {
		version, err = v.schemaVersion()
		return err
	})
	if err != nil || version == len(migrations()) {
		return err
	}
	return db.Tx(context.Background(), func(tx *Tx) error {
		version, err := tx.schemaVersion() // again: another process may have been faster
		if err != nil {
			return err
		}
		return tx.applyMigrations(version)
	})
}

func (v *View) schemaVersion() (version int, err error) {
	var id int
	err = v.row("pragma application_id", nil, &id)
	if e, ok := sqliteError(err); ok {
		return 0, classify(e)
	}
	err = errors.Join(err, v.row("pragma user_version", nil, &version))
	switch {
	case err != nil:
		return 0, err
	case id != applicationID:
		return 0, ErrForeign
	case version > len(migrations()):
		return 0, ErrNewer
	}
	return version, nil
}

// applyMigrations runs the migrations from version on.
func (tx *Tx) applyMigrations(version int) error {
	for _, name := range migrations()[version:] {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.conn.sql.ExecContext(context.Background(), string(text)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	pragmas := fmt.Sprintf("pragma application_id = %d; pragma user_version = %d", applicationID, len(migrations()))
	_, err := tx.conn.sql.ExecContext(context.Background(), pragmas)
	return err
}
