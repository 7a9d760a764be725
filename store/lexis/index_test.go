package lexis_test

import "countersign/store/lexis"

// An article is what the tests index.
type article struct {
	ID          int64
	Title, Body string
	Outdated    bool
}

// An index keeps in memory what a store keeps in tables.
type index struct {
	stats    lexis.Stats
	docs     map[int64]lexis.Doc
	postings map[string][]lexis.Posting
}

func newIndex(articles []article) index {
	x := index{docs: make(map[int64]lexis.Doc), postings: make(map[string][]lexis.Posting)}
	for _, a := range articles {
		counts, length := lexis.Count(a.Title, a.Body)
		x.docs[a.ID] = lexis.Doc{Length: length, Outdated: a.Outdated}
		x.stats.Articles++
		x.stats.Total.Title += length.Title
		x.stats.Total.Body += length.Body
		for _, c := range counts {
			x.postings[c.Term] = append(x.postings[c.Term], lexis.Posting{Article: a.ID, Title: c.Title, Body: c.Body})
		}
	}
	return x
}

func (x index) search(query string) []lexis.Hit {
	return lexis.Rank(lexis.Query(query), x.stats, x.postings, x.docs)
}

func ids(hits []lexis.Hit) []int64 {
	var ids []int64
	for _, hit := range hits {
		ids = append(ids, hit.Article)
	}
	return ids
}
