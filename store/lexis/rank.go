package lexis

import (
	"cmp"
	"math"
	"slices"
)

// The parameters of BM25F. k1, 1.2 by custom, is how soon further repeats of a word stop to count. The b are how much
// the length of title and body count against an article, from 0 (not) to 1 (in proportion): with 0.75, a word in a body
// of twice the average length weighs 1/1.75, and in a tiny one nearly 4. A word in a title weighs 5, to be more still.
const (
	k1          = 1.2
	titleWeight = 5
	titleB      = 0.5
	bodyB       = 0.75
)

// Stats describes all articles that can be found.
type Stats struct {
	Articles int    // how many there are
	Total    Length // their lengths, summed up
}

// Hit is an article that holds at least one term of the query. Scores compare within one answer only.
type Hit struct {
	Article int64
	Score   float64 // above 0
}

// Rank returns the articles that hold any term of query, best first: by BM25F, with all outdated articles after all
// others, and equal ones by id. It looks packed postings up by term, and fails where they are damaged.
func Rank(query []string, stats Stats, postings map[string][]byte) ([]Hit, error) {
	var (
		found   []candidate
		at      = make(map[int64]int) // where in found an article is
		seen    = make(map[string]bool, len(query))
		holding []held
	)
	for _, term := range query {
		if seen[term] {
			continue
		}
		seen[term] = true
		holding = holding[:0]
		for p, err := range unpack(postings[term]) {
			if err != nil {
				return nil, err // without the term: what people ask stays out of logs
			}
			i, ok := at[p.Article]
			if !ok {
				i = len(found)
				at[p.Article] = i
				found = append(found, candidate{Hit{Article: p.Article}, p.Outdated})
			}
			holding = append(holding, held{i, saturated(p, stats)})
		}
		idf := inverseFrequency(len(holding), stats.Articles)
		for _, h := range holding {
			found[h.at].Score += idf * h.weight
		}
	}
	return inOrder(found), nil
}

// held is the weight of a term in the article that is at some place in the list of candidates.
type held struct {
	at     int
	weight float64
}

// A candidate is a hit before it has its place.
type candidate struct {
	Hit
	outdated bool
}

// inOrder returns the hits best first, those of outdated articles after all others.
func inOrder(found []candidate) []Hit {
	hits := make([]Hit, 0, len(found))
	for _, outdated := range []bool{false, true} {
		first := len(hits)
		for _, c := range found {
			if c.outdated == outdated {
				hits = append(hits, c.Hit)
			}
		}
		slices.SortFunc(hits[first:], func(a, b Hit) int {
			if a.Score != b.Score {
				return cmp.Compare(b.Score, a.Score)
			}
			return cmp.Compare(a.Article, b.Article)
		})
	}
	return hits
}

// inverseFrequency is what it tells that an article holds a term which held articles hold: much for a rare one, next
// to nothing for one that all hold, and always more than 0.
func inverseFrequency(held, articles int) float64 {
	without := max(articles-held, 0)
	return math.Log1p((float64(without) + 0.5) / (float64(held) + 0.5))
}

// saturated is the weight of a term's counts in one article, from 0 to k1+1.
func saturated(p Posting, stats Stats) float64 {
	tf := titleWeight*float64(p.Title)/lengthNorm(titleB, p.Length.Title, stats.Total.Title, stats.Articles) +
		float64(p.Body)/lengthNorm(bodyB, p.Length.Body, stats.Total.Body, stats.Articles)
	return tf * (k1 + 1) / (tf + k1)
}

// lengthNorm is 1 for an article of average length, and more for a longer one.
func lengthNorm(b float64, length, total, articles int) float64 {
	if total <= 0 {
		return 1
	}
	return 1 - b + b*float64(length)*float64(articles)/float64(total)
}
