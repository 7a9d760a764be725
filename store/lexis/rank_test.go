package lexis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store/lexis"
)

func TestRank(t *testing.T) {
	long := "filler word after word after word, none of which anybody would look for, and so on to the end of it"
	tests := []struct {
		name     string
		articles []article
		query    string
		want     []int64
	}{
		{"only articles with a word of it", []article{{ID: 1, Title: "Refunds"}, {ID: 2, Title: "Cards"}}, "refund", []int64{1}},
		{"more of the words", []article{{ID: 1, Title: "Gift"}, {ID: 2, Title: "Gift cards"}}, "gift card", []int64{2, 1}},
		{"title over body", []article{{ID: 1, Title: "Cards", Body: "refund"}, {ID: 2, Title: "Refund", Body: "cards"}}, "refund", []int64{2, 1}},
		{"title over body, however long", []article{{ID: 1, Title: "Cards", Body: "refund"}, {ID: 2, Title: "Refund", Body: long}}, "refund", []int64{2, 1}},
		{"short title over long", []article{{ID: 1, Title: "Returns from abroad by boat"}, {ID: 2, Title: "Returns"}}, "return", []int64{2, 1}},
		{"short body over long", []article{{ID: 1, Body: "refund " + long}, {ID: 2, Body: "refund"}}, "refund", []int64{2, 1}},
		{
			"rare word over common",
			[]article{{ID: 1, Title: "Order"}, {ID: 2, Title: "Order"}, {ID: 3, Title: "Order"}, {ID: 4, Title: "Klarna"}},
			"order klarna",
			[]int64{4, 1, 2, 3},
		},
		{"outdated last, ranked among themselves", []article{
			{ID: 1, Title: "Gift", Outdated: true},
			{ID: 2, Title: "Gift cards", Outdated: true},
			{ID: 3, Title: "Cards", Body: "gift " + long},
		}, "gift cards", []int64{3, 2, 1}},
		{"ties by id", []article{{ID: 3, Title: "A refund"}, {ID: 1, Title: "A refund"}, {ID: 2, Title: "A refund"}}, "refund", []int64{1, 2, 3}},
		{"a word in every article still finds", []article{{ID: 1, Title: "The"}, {ID: 2, Title: "The"}}, "the", []int64{1, 2}},
		{"one character among pairs", []article{{ID: 1, Title: "返品"}, {ID: 2, Title: "送料について"}}, "料", []int64{2}},
		{"nothing", []article{{ID: 1, Title: "Refunds"}}, "zebra", nil},
		{"no articles", nil, "refund", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ids(newIndex(test.articles).search(t, test.query))); diff != "" {
				t.Errorf("%q (-want +got)\n%s", test.query, diff)
			}
		})
	}
}

func TestRankScores(t *testing.T) {
	x := newIndex([]article{{ID: 1, Title: "The order", Body: "the"}, {ID: 2, Title: "The card"}, {ID: 3, Body: "the the"}})
	for _, query := range []string{"the", "order", "the order"} {
		for _, hit := range x.search(t, query) {
			if !(hit.Score > 0) {
				t.Errorf("%q: article %d scores %v, want above 0", query, hit.Article, hit.Score)
			}
		}
	}

	stale := x
	stale.stats = lexis.Stats{Articles: 1}
	for _, hit := range stale.search(t, "the") {
		if !(hit.Score > 0) {
			t.Errorf("with stats behind the postings, article %d scores %v, want above 0", hit.Article, hit.Score)
		}
	}
}

func TestRankTakesATermOnce(t *testing.T) {
	x := newIndex([]article{{ID: 1, Title: "Refund"}, {ID: 2, Title: "Card"}})
	want := x.rank(t, []string{"refund"})
	got := x.rank(t, []string{"refund", "refund"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-once +twice)\n%s", diff)
	}
}
