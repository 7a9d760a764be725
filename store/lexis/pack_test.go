package lexis_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store/lexis"
)

func TestPack(t *testing.T) {
	postings := []lexis.Posting{
		{Article: 9001, Title: 1, Length: lexis.Length{Title: 3, Body: 200}},
		{Article: math.MaxInt64, Title: 2, Body: 1500, Length: lexis.Length{Title: 70, Body: 100_000}, Outdated: true},
		{Article: 1, Body: 1, Length: lexis.Length{Body: 1}, Outdated: true},
	}
	var packed []byte
	for _, p := range postings {
		packed = lexis.AppendPosting(packed, p)
	}
	check := func(want []lexis.Posting, packed []byte) {
		t.Helper()
		got, err := lexis.Unpack(packed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	check(postings, packed)

	for i, want := range [][]lexis.Posting{postings[1:], {postings[0], postings[2]}, postings[:2]} {
		kept, err := lexis.AppendWithout(nil, packed, postings[i].Article)
		if err != nil {
			t.Fatal(err)
		}
		check(want, kept)
	}
	joined, err := lexis.AppendWithout(packed, packed, 2)
	if err != nil {
		t.Fatal(err)
	}
	check(append(postings[:3:3], postings...), joined)
}

func TestDamaged(t *testing.T) {
	endless := "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01\x01\x01"
	for _, packed := range []string{"\x01", "\x01\x02\x03\x04", "\x01\x02\x03\x04\x80", "\x01\x02\x03\x04\x05\x06", endless} {
		if hits, err := lexis.Rank([]string{"a"}, lexis.Stats{}, map[string][]byte{"a": []byte(packed)}); err == nil {
			t.Errorf("%q: ranked as %v", packed, hits)
		}
		if kept, err := lexis.AppendWithout(nil, []byte(packed), 2); err == nil {
			t.Errorf("%q: kept %q", packed, kept)
		}
	}
}
