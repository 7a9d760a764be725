package lexis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"countersign/store/lexis"
)

// syntheticArticles returns n articles of a few hundred words, frequent and rare as in speech: word k of the
// vocabulary comes up with a chance that falls as 1/k.
func syntheticArticles(n int) []article {
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
	articles := make([]article, n)
	for i := range articles {
		articles[i] = article{ID: int64(i + 1), Title: words(3 + rnd.IntN(6)), Body: words(50 + rnd.IntN(500))}
	}
	return articles
}

// BenchmarkSearch asks 5,000 articles; postings/op is how many rows a store would have fetched for it.
func BenchmarkSearch(b *testing.B) {
	x := newIndex(syntheticArticles(5000))
	for name, query := range map[string]string{
		"usual":    "How do I get a refund for a returned order?",
		"function": "what is the",
		"rare":     "klarna policy",
		"long":     strings.Repeat("return refund shipping item card policy account delivery payment days ", 14),
	} {
		b.Run(name, func(b *testing.B) {
			fetched := 0
			for _, term := range lexis.Query(query) {
				fetched += len(x.postings[term])
			}
			b.ReportAllocs()
			for b.Loop() {
				x.search(query)
			}
			b.ReportMetric(float64(fetched), "postings/op")
		})
	}
}

func BenchmarkCount(b *testing.B) {
	for name, body := range map[string]string{
		"ascii":    syntheticArticles(1)[0].Body,
		"english":  strings.Repeat("We don’t refund gift-wrapping; items were delivered within 30 days. ", 30),
		"german":   strings.Repeat("Die Rücksendekosten für Großgeräte übernehmen wir. ", 40),
		"japanese": strings.Repeat("商品到着後30日以内であれば返品できます。", 50),
		"one word": strings.Repeat("é", 100_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				lexis.Count("Returns & refunds", body)
			}
		})
	}
}
