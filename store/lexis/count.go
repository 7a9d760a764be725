package lexis

import (
	"cmp"
	"slices"
)

// TermCount says how often an article holds Term.
type TermCount struct {
	Term  string
	Title int
	Body  int
}

// Length is the size of an article, or of several, in words. A pair of characters counts as a word; compounds count
// as their parts.
type Length struct {
	Title int
	Body  int
}

// Count returns what to store of an article: its distinct terms, sorted, with their counts, and its length.
func Count(title, body string) ([]TermCount, Length) {
	var (
		counts []TermCount
		length Length
		at     = make(map[string]int)
	)
	count := func(term string) *TermCount {
		i, ok := at[term]
		if !ok {
			i = len(counts)
			at[term] = i
			counts = append(counts, TermCount{Term: term})
		}
		return &counts[i]
	}
	for _, t := range tokenize(title) {
		count(t.term).Title++
		if !t.extra() {
			length.Title++
		}
	}
	for _, t := range tokenize(body) {
		count(t.term).Body++
		if !t.extra() {
			length.Body++
		}
	}
	slices.SortFunc(counts, func(a, b TermCount) int { return cmp.Compare(a.Term, b.Term) })
	return counts, length
}
