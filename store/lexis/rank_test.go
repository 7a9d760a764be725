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
			if diff := cmp.Diff(test.want, ids(newIndex(test.articles).search(test.query))); diff != "" {
				t.Errorf("%q (-want +got)\n%s", test.query, diff)
			}
		})
	}
}

func TestRankScores(t *testing.T) {
	x := newIndex([]article{{ID: 1, Title: "The order", Body: "the"}, {ID: 2, Title: "The card"}, {ID: 3, Body: "the the"}})
	for _, query := range []string{"the", "order", "the order"} {
		for _, hit := range x.search(query) {
			if !(hit.Score > 0) {
				t.Errorf("%q: article %d scores %v, want above 0", query, hit.Article, hit.Score)
			}
		}
	}

	stale := x
	stale.stats = lexis.Stats{Articles: 1}
	for _, hit := range stale.search("the") {
		if !(hit.Score > 0) {
			t.Errorf("with stats behind the postings, article %d scores %v, want above 0", hit.Article, hit.Score)
		}
	}
}

// TestRankWithoutDoc checks that an article whose doc is withheld, as of an internal one, is neither found nor
// betrayed by the scores of others.
func TestRankWithoutDoc(t *testing.T) {
	public := []article{{ID: 1, Title: "Goodwill"}, {ID: 2, Title: "Cards"}}
	want := newIndex(public).search("goodwill")

	x := newIndex(public)
	x.postings["goodwil"] = append(x.postings["goodwil"], lexis.Posting{Article: 9, Title: 1})
	if diff := cmp.Diff(want, x.search("goodwill")); diff != "" {
		t.Errorf("(-without +with a hidden article)\n%s", diff)
	}
}

func TestRankTakesATermOnce(t *testing.T) {
	x := newIndex([]article{{ID: 1, Title: "Refund"}, {ID: 2, Title: "Card"}})
	want := lexis.Rank([]string{"refund"}, x.stats, x.postings, x.docs)
	got := lexis.Rank([]string{"refund", "refund"}, x.stats, x.postings, x.docs)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-once +twice)\n%s", diff)
	}
}
