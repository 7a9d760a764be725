// Package ingest reads a shop's own data into the database.
//
// A reader ([Read] for the native format) turns a file into a [Batch] and finds
// what is wrong with each line by itself; [Batch.Store] writes it in the
// caller's transaction and finds what contradicts the rest of the file or what
// the database holds. A file is stored whole or not at all unless lines with
// problems are to be skipped.
package ingest

import (
	"errors"
	"fmt"

	"countersign/store"
)

// Errors of [Batch.Store]. After either of them nothing of the file is stored,
// and the caller's transaction can go on.
var (
	// ErrProblems means that lines have problems, which the report lists.
	ErrProblems = errors.New("nothing was imported: some lines have problems")
	// ErrNoRows means that the file held nothing that could be stored.
	ErrNoRows = errors.New("nothing was imported: the file yields no rows")
)

// A Problem is one thing that is wrong with a line. Its texts repeat nothing
// from the file but names of fields, plain ids, and amounts of money.
type Problem struct {
	Line    int    `json:"line"`           // from 1
	Path    string `json:"path,omitempty"` // of the field: "items.0.sku"; "" for the whole line
	Message string `json:"message"`
}

// String returns "line 3: items.0.sku: is missing".
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("line %d: %s", p.Line, p.Message)
	}
	return fmt.Sprintf("line %d: %s: %s", p.Line, p.Path, p.Message)
}

// Options say how to store a batch. The zero value stores all or nothing.
type Options struct {
	// SkipBad leaves out the lines with problems and whatever refers to them.
	SkipBad bool
	// DryRun finds out what storing would do and undoes it.
	DryRun bool
	// Progress, if set, is called now and then with how many of the lines that
	// could be read are done.
	Progress func(done, total int)
}

// A Report says what storing a batch did or, where nothing was stored, would
// have done. Skipped lines are exactly those with problems and those of customers
// that were erased.
type Report struct {
	Customers Count `json:"customers"`
	Orders    Count `json:"orders"`
	Shipments Count `json:"shipments"`
	Articles  Count `json:"articles"`
	Unknown   Count `json:"unknown"` // lines whose type couldn't be told: all skipped
	// Erased counts the lines that were skipped because their customer was erased.
	Erased int `json:"erased"`
	// Problems are sorted by line.
	Problems []Problem `json:"problems"`
}

// A Count counts lines by what became of them.
type Count struct {
	New       int `json:"new"`
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"`
}

// Total returns the sums over all types.
func (r Report) Total() (sum Count) {
	for _, c := range []Count{r.Customers, r.Orders, r.Shipments, r.Articles, r.Unknown} {
		sum.New += c.New
		sum.Changed += c.Changed
		sum.Unchanged += c.Unchanged
		sum.Skipped += c.Skipped
	}
	return sum
}

func (c *Count) add(change store.Change) {
	switch change {
	case store.Added:
		c.New++
	case store.Changed:
		c.Changed++
	case store.Unchanged:
		c.Unchanged++
	case store.LeftOut:
		c.Skipped++
	}
}
