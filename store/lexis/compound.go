package lexis

import (
	"strings"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// maxTerm is the length of the longest term in bytes. Longer words are cut.
const maxTerm = 64

// compoundSpan returns how many bytes at the start of s are words bound by single hyphens and apostrophes.
func compoundSpan(s string) int {
	end := span(s, spaced)
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isHyphen(r) && !isApostrophe(r) {
			break
		}
		next := span(s[end+size:], spaced)
		if next == 0 {
			break
		}
		end += size + next
	}
	return end
}

// appendCompound appends the parts of a compound, and the whole of it where there are several: "l'étranger" is found
// by étranger and "e-mail" by email.
func appendCompound(tokens []token, s string) []token {
	parts := splitCompound(s)
	for _, part := range parts {
		tokens = append(tokens, wordToken(part))
	}
	if len(parts) > 1 {
		t := wordToken(strings.Join(parts, ""))
		t.whole = true
		tokens = append(tokens, t)
	}
	return tokens
}

// splitCompound splits at hyphens and apostrophes, and resolves English contractions: "don't" is dont, as many type
// it, and "who's" and "they'll" are who and they.
func splitCompound(s string) []string {
	var parts []string
	for bound := rune(0); s != ""; {
		end := span(s, spaced)
		word := s[:end]
		switch {
		case !isApostrophe(bound):
			parts = append(parts, word)
		case word == "t":
			parts[len(parts)-1] += word
		case word == "s", word == "d", word == "m", word == "ll", word == "re", word == "ve":
		default:
			parts = append(parts, word)
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		bound, s = r, s[end+size:]
	}
	return parts
}

// wordToken returns the token of one word.
func wordToken(word string) token {
	word = cut(word)
	return token{term: foldUmlauts(stem(word)), word: word}
}

// cut returns the start of word that fits a term, without breaking a character.
func cut(word string) string {
	if len(word) <= maxTerm {
		return word
	}
	end := maxTerm
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

// stem returns the English stem of a word of plain letters, and other words as they are. The language of a text isn't
// known; what stemming does to words of other languages, it does to text and query alike.
func stem(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, true)
}

// umlauts undoes the spelling of umlauts with an e. "que" comes first and so is left alone.
var umlauts = strings.NewReplacer("que", "que", "ae", "a", "oe", "o", "ue", "u")

// foldUmlauts makes "Rueckgabe" what "Rückgabe" is without its marks. Short words stay, because many are English
// ("blue", "shoe"); longer English words hardly ever meet another one this way.
func foldUmlauts(term string) string {
	if len(term) < 5 {
		return term
	}
	return umlauts.Replace(term)
}
