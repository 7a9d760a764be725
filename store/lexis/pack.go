package lexis

import (
	"encoding/binary"
	"errors"
)

// Fetching a row for every posting takes longer than ranking them: a common word has thousands. So a store may keep
// the postings of a term, and the docs, of many articles in one value. The format is unsigned varints one after the
// other; values joined end to end are a value.

// ErrPacked is returned for a value that isn't whole.
var ErrPacked = errors.New("packed search index is damaged")

// AppendPosting appends p to packed postings.
func AppendPosting(packed []byte, p Posting) []byte {
	packed = binary.AppendUvarint(packed, uint64(p.Article))
	packed = binary.AppendUvarint(packed, uint64(p.Title))
	return binary.AppendUvarint(packed, uint64(p.Body))
}

// UnpackPostings appends packed postings to those given.
func UnpackPostings(postings []Posting, packed []byte) ([]Posting, error) {
	var v [3]uint64
	for len(packed) > 0 {
		if packed = next(packed, v[:]); packed == nil {
			return nil, ErrPacked
		}
		postings = append(postings, Posting{Article: int64(v[0]), Title: int(v[1]), Body: int(v[2])})
	}
	return postings, nil
}

// AppendDoc appends the doc of an article to packed docs.
func AppendDoc(packed []byte, article int64, d Doc) []byte {
	outdated := uint64(0)
	if d.Outdated {
		outdated = 1
	}
	packed = binary.AppendUvarint(packed, uint64(article))
	packed = binary.AppendUvarint(packed, uint64(d.Length.Title))
	packed = binary.AppendUvarint(packed, uint64(d.Length.Body))
	return binary.AppendUvarint(packed, outdated)
}

// UnpackDocs adds packed docs to those given.
func UnpackDocs(docs map[int64]Doc, packed []byte) error {
	var v [4]uint64
	for len(packed) > 0 {
		if packed = next(packed, v[:]); packed == nil {
			return ErrPacked
		}
		docs[int64(v[0])] = Doc{Length: Length{Title: int(v[1]), Body: int(v[2])}, Outdated: v[3] != 0}
	}
	return nil
}

// next reads the values at the start of packed and returns the rest: nil if they aren't all there.
func next(packed []byte, values []uint64) []byte {
	for i := range values {
		v, n := binary.Uvarint(packed)
		if n <= 0 {
			return nil
		}
		values[i], packed = v, packed[n:]
	}
	return packed
}
