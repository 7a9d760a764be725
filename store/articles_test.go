package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
	"countersign/store/lexis"
	"countersign/store/storetest"
)

// search returns the ids of the articles that a query finds, best first.
func search(t testing.TB, db *store.DB, query string) (ids []string) {
	t.Helper()
	err := db.View(context.Background(), func(v *store.View) error {
		found, count, err := v.SearchArticles(lexis.Query(query), 1000)
		for _, a := range found {
			ids = append(ids, a.ID)
		}
		if err == nil && count != len(found) {
			t.Errorf("%q: counts %d articles and returns %d", query, count, len(found))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// What the search finds after a history of changes is what it finds in a shop
// that only ever saw the outcome.
func TestSearchForgetsHistory(t *testing.T) {
	const articles = 150 // in several blocks
	words := []string{"refund", "return", "ship", "klarna", "gift", "card", "送料", "é"}
	rnd := rand.New(rand.NewPCG(1, 2))
	some := func() string { return words[rnd.IntN(len(words))] + " " + words[rnd.IntN(len(words))] }
	lived, fresh := storetest.New(t), storetest.New(t)
	var last []store.Article
	for round := range 4 {
		put(t, lived, func(tx *store.Tx) error {
			last = last[:0]
			for i := range articles {
				a := store.Article{ID: fmt.Sprint("H-", i), Title: some(), Body: some(), WrittenBy: "official", Internal: rnd.IntN(3) == 0,
					Outdated: rnd.IntN(3) == 0, Updated: tx.Now}
				last = append(last, a)
				if _, err := tx.PutArticle(a, fmt.Sprint(round)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	fill(t, fresh, last)
	internal := map[string]bool{}
	for _, a := range last {
		internal[a.ID] = a.Internal
	}
	for _, query := range append(words, strings.Join(words, " ")) {
		want, got := search(t, fresh, query), search(t, lived, query)
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("%q finds %d articles (-fresh +lived)\n%s", query, len(want), diff)
		}
		if slices.ContainsFunc(got, func(id string) bool { return internal[id] }) {
			t.Errorf("%q finds an internal article among %v", query, got)
		}
	}
}

// What is rolled back leaves the search as it was.
func TestSearchAfterRollback(t *testing.T) {
	db := storetest.New(t)
	fill(t, db, []store.Article{{ID: "H-1", Title: "Refund", WrittenBy: "official", Updated: storetest.Start}})
	put(t, db, func(tx *store.Tx) error {
		return tx.Savepoint(func() (keep bool) {
			_, err := tx.PutArticle(store.Article{ID: "H-1", Title: "Klarna", WrittenBy: "official", Updated: tx.Now}, "second")
			if err != nil {
				t.Error(err)
			}
			return false
		})
	})
	if got := append(search(t, db, "klarna"), search(t, db, "refund")...); !slices.Equal(got, []string{"H-1"}) {
		t.Errorf("got %v, want H-1 once, by refund", got)
	}
}

// syntheticArticles returns n articles of a few hundred words, frequent and rare as in speech: word k of the
// vocabulary comes up with a chance that falls as 1/k.
func syntheticArticles(n int) []store.Article {
	common := strings.Fields(`the to and you a your of is for in order it we on if with or can be are my how what
		return refund shipping item when card policy account delivery payment days not do this`)
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.05, 2, 20_000)
	words := func(n int) string {
		var b strings.Builder
		for range n {
			if k := int(zipf.Uint64()); k < len(common) {
				b.WriteString(common[k] + " ")
			} else {
				fmt.Fprintf(&b, "%c%c%dx ", 'a'+k%26, 'a'+k/26%26, k)
			}
		}
		return b.String()
	}
	articles := make([]store.Article, n)
	for i := range articles {
		articles[i] = store.Article{ID: fmt.Sprint("H-", i+1), Title: words(3 + rnd.IntN(6)), Body: words(50 + rnd.IntN(500)),
			WrittenBy: "official", Updated: storetest.Start}
	}
	return articles
}

// fill stores articles in one transaction.
func fill(t testing.TB, db *store.DB, articles []store.Article) {
	t.Helper()
	err := db.Tx(context.Background(), func(tx *store.Tx) error {
		for _, a := range articles {
			if _, err := tx.PutArticle(a, "first"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkSearch5000 asks 5,000 articles. The budget is 10 ms.
func BenchmarkSearch5000(b *testing.B) {
	db := storetest.New(b)
	fill(b, db, syntheticArticles(5000))
	for name, query := range map[string]string{
		"common":   "How do I get a refund for a returned order?",
		"function": "what is the",
		"rare":     "klarna fo7649x",
		"long":     strings.Repeat("return refund shipping item card policy account delivery payment days ", 14),
	} {
		b.Run(name, func(b *testing.B) {
			terms := lexis.Query(query)
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				err := db.View(context.Background(), func(v *store.View) error {
					_, _, err := v.SearchArticles(terms, 3)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}

// BenchmarkPutArticle5000 changes one article of 5,000, and imports them all.
func BenchmarkPutArticle5000(b *testing.B) {
	articles := syntheticArticles(5000)
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			db := storetest.New(b)
			b.StartTimer()
			fill(b, db, articles)
		}
	})
	b.Run("one", func(b *testing.B) {
		db := storetest.New(b)
		fill(b, db, articles)
		for i := 0; b.Loop(); i++ {
			err := db.Tx(context.Background(), func(tx *store.Tx) error {
				a := articles[i%len(articles)]
				a.Title = fmt.Sprint("Title ", i)
				_, err := tx.PutArticle(a, fmt.Sprint(i))
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
