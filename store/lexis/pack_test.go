package lexis_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store/lexis"
)

func TestPack(t *testing.T) {
	postings := []lexis.Posting{{Article: 1, Title: 1}, {Article: 9001, Body: 1500}, {Article: math.MaxInt64, Title: 2, Body: 3}}
	var packed []byte
	for _, p := range postings[1:] {
		packed = lexis.AppendPosting(packed, p)
	}
	got, err := lexis.UnpackPostings(postings[:1:1], packed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(postings, got); diff != "" {
		t.Errorf("postings (-want +got)\n%s", diff)
	}

	docs := map[int64]lexis.Doc{
		1: {Length: lexis.Length{Title: 3, Body: 200}},
		2: {Outdated: true},
	}
	packed = nil
	for id, doc := range docs {
		packed = lexis.AppendDoc(packed, id, doc)
	}
	unpacked := make(map[int64]lexis.Doc)
	if err := lexis.UnpackDocs(unpacked, packed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(docs, unpacked); diff != "" {
		t.Errorf("docs (-want +got)\n%s", diff)
	}
}

func TestUnpackDamaged(t *testing.T) {
	for _, packed := range []string{"\x01", "\x01\x02", "\x01\x02\x03\x80", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01"} {
		if got, err := lexis.UnpackPostings(nil, []byte(packed)); !errors.Is(err, lexis.ErrPacked) {
			t.Errorf("postings %q: got %v, %v, want ErrPacked", packed, got, err)
		}
		if err := lexis.UnpackDocs(make(map[int64]lexis.Doc), []byte(packed)); !errors.Is(err, lexis.ErrPacked) {
			t.Errorf("docs %q: got %v, want ErrPacked", packed, err)
		}
	}
}
