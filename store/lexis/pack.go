package lexis

import (
	"encoding/binary"
	"errors"
	"iter"
)

// Postings are kept packed: fetching a row for each takes longer than ranking them, because a common word has
// thousands. The format is unsigned varints one after the other; values joined end to end are a value.

var errPacked = errors.New("packed postings are damaged")

// A Posting says how often one article holds a term, and what else its rank depends on.
type Posting struct {
	Article  int64
	Title    int // times in the title
	Body     int // times in the body
	Length   Length
	Outdated bool
}

// AppendPosting appends p to packed postings.
func AppendPosting(packed []byte, p Posting) []byte {
	outdated := uint64(0)
	if p.Outdated {
		outdated = 1
	}
	for _, v := range [...]uint64{uint64(p.Article), uint64(p.Title), uint64(p.Body),
		uint64(p.Length.Title)<<1 | outdated, uint64(p.Length.Body)} {
		packed = binary.AppendUvarint(packed, v)
	}
	return packed
}

// AppendWithout appends those packed postings that aren't of article.
func AppendWithout(kept, packed []byte, article int64) ([]byte, error) {
	for p, err := range unpack(packed) {
		if err != nil {
			return nil, err
		}
		if p.Article != article {
			kept = AppendPosting(kept, p)
		}
	}
	return kept, nil
}

// unpack yields the postings until one is damaged.
func unpack(packed []byte) iter.Seq2[Posting, error] {
	return func(yield func(Posting, error) bool) {
		for len(packed) > 0 {
			var v [5]uint64
			for i := range v {
				n := 0
				if v[i], n = binary.Uvarint(packed); n <= 0 {
					yield(Posting{}, errPacked)
					return
				}
				packed = packed[n:]
			}
			p := Posting{Article: int64(v[0]), Title: int(v[1]), Body: int(v[2]),
				Length: Length{Title: int(v[3] >> 1), Body: int(v[4])}, Outdated: v[3]&1 != 0}
			if !yield(p, nil) {
				return
			}
		}
	}
}
