package lexis_test

import (
	"testing"

	"countersign/store/lexis"
)

// An article is what the tests index.
type article struct {
	ID          int64
	Title, Body string
	Outdated    bool
}

// An index keeps in memory what a store keeps in tables.
type index struct {
	stats    lexis.Stats
	postings map[string][]byte
}

func newIndex(articles []article) index {
	x := index{postings: make(map[string][]byte)}
	for _, a := range articles {
		counts, length := lexis.Count(a.Title, a.Body)
		x.stats.Articles++
		x.stats.Total.Title += length.Title
		x.stats.Total.Body += length.Body
		for _, c := range counts {
			x.postings[c.Term] = lexis.AppendPosting(x.postings[c.Term], lexis.Posting{
				Article: a.ID, Title: c.Title, Body: c.Body, Length: length, Outdated: a.Outdated,
			})
		}
	}
	return x
}

func (x index) search(t *testing.T, query string) []lexis.Hit {
	t.Helper()
	return x.rank(t, lexis.Query(query))
}

func (x index) rank(t *testing.T, terms []string) []lexis.Hit {
	t.Helper()
	hits, err := lexis.Rank(terms, x.stats, x.postings)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func ids(hits []lexis.Hit) []int64 {
	var ids []int64
	for _, hit := range hits {
		ids = append(ids, hit.Article)
	}
	return ids
}
