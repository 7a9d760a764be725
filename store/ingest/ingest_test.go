package ingest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"countersign/store"
	"countersign/store/ingest"
)

// run imports text at the database's time.
func run(t *testing.T, db *store.DB, text string, opts ingest.Options) (report ingest.Report, err error) {
	t.Helper()
	batch, err := ingest.Read(strings.NewReader(text), db.Now())
	check(t, err)
	fault := db.Tx(context.Background(), func(tx *store.Tx) error {
		report, err = batch.Store(tx, opts)
		if errors.Is(err, ingest.ErrProblems) || errors.Is(err, ingest.ErrNoRows) {
			return nil // the caller may commit what else it did
		}
		return err
	})
	check(t, fault)
	return report, err
}

// imported imports text that has no problems.
func imported(t *testing.T, db *store.DB, text string) ingest.Report {
	t.Helper()
	report, err := run(t, db, text, ingest.Options{})
	for _, p := range report.Problems {
		t.Error(p)
	}
	check(t, err)
	return report
}

// refused imports text that has problems and returns them as lines of text.
func refused(t *testing.T, db *store.DB, text string) string {
	t.Helper()
	report, err := run(t, db, text, ingest.Options{})
	if !errors.Is(err, ingest.ErrProblems) {
		t.Errorf("err = %v, want ErrProblems", err)
	}
	return listed(report)
}

func listed(report ingest.Report) string {
	var all strings.Builder
	for _, p := range report.Problems {
		all.WriteString(p.String() + "\n")
	}
	return all.String()
}

func view(t *testing.T, db *store.DB, read func(*store.View)) {
	t.Helper()
	check(t, db.View(context.Background(), func(v *store.View) error {
		read(v)
		return nil
	}))
}

func write(t *testing.T, db *store.DB, act func(*store.Tx) error) {
	t.Helper()
	check(t, db.Tx(context.Background(), act))
}

func order(t *testing.T, v *store.View, id string) store.Order {
	t.Helper()
	o, err := v.OrderByID(id)
	check(t, err)
	return o
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
