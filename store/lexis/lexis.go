// Package lexis turns the text of articles and queries into terms and ranks the articles that hold them.
//
// It knows no SQL. When an article is saved, its owner stores what [Count] gives, packed by [AppendPosting]; when somebody
// searches, the owner asks [Query] which terms to look up, fetches their postings and hands them to [Rank]. Text and
// queries are folded by the same rules, so whatever was written one way is found when typed another.
//
// A term is valid UTF-8. A word gives its English stem. A compound gives its parts and then the whole: "e-mail" is e,
// mail, email. Scripts written without spaces, and Korean, give every character and every pair of neighbours. An emoji
// is a term. All other signs only separate; none is an operator, and no text is an error.
package lexis

import (
	"slices"

	"github.com/kljensen/snowball/english"
)

// Query returns the terms to look up for a query: distinct, in the order they first occur, each one that [Count] gives
// too. There are none where the query holds no word, which is for the caller to refuse.
//
// It leaves out what would only add noise: a character that is already part of a pair, and English function words
// ("where is my …"), unless the query consists of nothing else.
func Query(text string) []string {
	var content, function []string
	seen := make(map[string]bool)
	for _, t := range tokenize(text) {
		switch {
		case t.inPair || seen[t.term]:
		case english.IsStopWord(t.word):
			if !slices.Contains(function, t.term) {
				function = append(function, t.term)
			}
		default:
			seen[t.term] = true
			content = append(content, t.term)
		}
	}
	if len(content) == 0 {
		return function
	}
	return content
}
