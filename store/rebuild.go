package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// RebuildDemo empties the demo database at path and fills it anew by seed, in
// one transaction: programs that have it open go on with the fresh one. It
// returns [ErrNotDemo] for any other database.
func RebuildDemo(path string, opts Options, seed func(*Tx) error) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := rebuildDemo(abs, opts, seed); err != nil {
		return about(abs, err)
	}
	return nil
}

func rebuildDemo(path string, opts Options, seed func(*Tx) error) (err error) {
	db, err := open(path, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Tx(context.Background(), func(tx *Tx) error {
		demo, err := tx.IsDemo()
		if err != nil {
			return err
		}
		if !demo {
			return ErrNotDemo
		}
		if err := tx.dropEverything(); err != nil {
			return err
		}
		if err := tx.applyMigrations(0); err != nil {
			return err
		}
		return seed(tx)
	})
}

// dropEverything drops triggers, then tables, the newest first: what refers to
// a table was made after it.
func (tx *Tx) dropEverything() error {
	var drops []string
	err := tx.rows(`select type, name from sqlite_schema where type in ('trigger', 'table') and name not like 'sqlite_%'
		order by type = 'table', rowid desc`, nil, func(rows scanner) error {
		var kind, name string
		err := rows.Scan(&kind, &name)
		drops = append(drops, fmt.Sprintf("drop %s %q", kind, name))
		return err
	})
	for _, drop := range drops {
		if err == nil {
			_, err = tx.conn.sql.ExecContext(context.Background(), drop)
		}
	}
	return err
}
