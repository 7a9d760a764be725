package ingest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"countersign/store"
)

// The types of lines, as the native format names them.
const (
	customers = "customer"
	orders    = "order"
	shipments = "shipment"
	articles  = "article"
)

// A Batch is a file that was read and waits to be stored. It holds the rows of
// the lines that are right by themselves, and the problems of the others.
type Batch struct {
	customers []row[store.Customer]
	orders    []row[store.Order] // Customer is the shop's id
	shipments []row[shipment]
	articles  []row[store.Article]

	seen     map[identity]ref  // first line of each, right or not
	shared   map[string]string // texts that many lines hold
	places   map[string]int    // parcels without a tracking number, by order number
	skipped  map[string]int    // lines with problems, by type; "" where it couldn't be told
	problems []Problem
}

func newBatch() *Batch {
	return &Batch{seen: map[identity]ref{}, shared: map[string]string{}, places: map[string]int{}, skipped: map[string]int{}}
}

// ref is where a row comes from.
type ref struct {
	line   int
	source [32]byte // SHA-256 of the line without the blanks around it
}

// hex returns the source as rows keep it.
func (r ref) hex() string { return hex.EncodeToString(r.source[:]) }

type row[T any] struct {
	ref
	value T
}

// shipment is a parcel and, where it has no tracking number, its place among
// those of its order.
type shipment struct {
	store.Shipment
	place int // from 1; 0 with a tracking number
}

func (s shipment) parcel() string {
	if s.place > 0 {
		return " " + strconv.Itoa(s.place) // no tracking number begins with a blank
	}
	return s.TrackingNumber
}

// identity is what two lines may not share.
type identity struct{ kind, id, parcel string }

// orderIdentity is equal for all ids that customers could mean by one number.
func orderIdentity(id string) identity {
	if number, ok := store.FoldNumber(id); ok {
		id = number
	}
	return identity{kind: orders, id: id}
}

// add takes a row that was read from o, unless anything is wrong with it.
func add[T any](b *Batch, o *object, at ref, rows *[]row[T], value T, id identity) {
	o.end()
	if first, taken := b.seen[id]; !taken {
		if id.id != "" {
			b.seen[id] = at
		}
	} else if first.source != at.source { // the very same line again is unchanged
		o.faults = append(o.faults, repeated(id, first.line))
	}
	if len(o.faults) > 0 {
		b.refuse(at.line, id.kind, o.faults)
		return
	}
	*rows = append(*rows, row[T]{at, value})
}

func repeated(id identity, line int) Problem {
	switch id.kind {
	case orders:
		return Problem{Path: "id", Message: fmt.Sprintf("line %d holds an order whose number reads the same; "+
			"case, blanks, kinds of hyphen and # make no difference", line)}
	case shipments:
		return Problem{Path: "tracking_number", Message: fmt.Sprintf("line %d holds this parcel of the order already", line)}
	}
	return Problem{Path: "id", Message: fmt.Sprintf("line %d holds %s already, with other content", line, quoteID(id.kind, id.id))}
}

// refuse notes what is wrong with a line.
func (b *Batch) refuse(line int, kind string, faults []Problem) {
	b.skipped[kind]++
	for _, f := range faults {
		f.Line = line
		b.problems = append(b.problems, f)
	}
}

// Problems returns what is wrong with lines by themselves, sorted by line.
func (b *Batch) Problems() []Problem { return slices.Clone(b.problems) }
