package lexis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a term together with what a query needs to know of its origin.
type token struct {
	term   string
	word   string // the folded word before stemming; empty where the term isn't a word
	inPair bool   // a single character that is also part of a pair
	whole  bool   // a whole compound, whose parts are tokens too
}

// extra tells whether the token repeats text that other tokens cover, so that it adds nothing to a length.
func (t token) extra() bool { return t.inPair || t.whole }

// tokenize returns the tokens of a text in order.
func tokenize(text string) []token {
	s := Fold(text)
	tokens := make([]token, 0, len(s)/5)
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch kindOf(r) {
		case spaced:
			size = compoundSpan(s)
			tokens = appendCompound(tokens, s[:size])
		case unspaced:
			size = span(s, unspaced)
			tokens = appendPairs(tokens, s[:size])
		case picture:
			tokens = append(tokens, token{term: s[:size]})
		}
		s = s[size:]
	}
	return tokens
}

// A kind says how a character takes part in terms.
type kind int

const (
	separator kind = iota
	spaced         // a letter or digit of a script that puts spaces between words
	unspaced       // a letter of a script that doesn't, or of Korean, where particles cling to words
	mark           // goes with the letter before it
	picture        // an emoji
)

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// prolonged is the vowel lengthener of コーヒー, which Unicode counts to no script.
const prolonged = 'ー'

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return spaced
		}
		return separator
	case unicode.IsMark(r):
		return mark
	case isApostrophe(r):
		return separator // one of them, ʼ, counts as a letter
	case unicode.IsLetter(r):
		if r == prolonged || unicode.In(r, unspacedScripts...) {
			return unspaced
		}
		return spaced
	case unicode.IsNumber(r):
		return spaced
	case r >= '\u2600' && unicode.Is(unicode.So, r):
		return picture
	default:
		return separator
	}
}

// span returns how many bytes at the start of s are characters of kind k and their marks.
func span(s string, k kind) int {
	for i, r := range s {
		if got := kindOf(r); got != k && got != mark {
			return i
		}
	}
	return len(s)
}

// appendPairs appends every letter of an unspaced run, and every two neighbours. A lone letter is all there is to
// find; others are there so that a query of one letter finds them.
func appendPairs(tokens []token, run string) []token {
	single := utf8.RuneCountInString(run) == 1
	for i, r := range run {
		size := utf8.RuneLen(r)
		if kindOf(r) != mark {
			tokens = append(tokens, token{term: run[i : i+size], inPair: !single})
		}
		if i+size < len(run) {
			_, next := utf8.DecodeRuneInString(run[i+size:])
			tokens = append(tokens, token{term: run[i : i+size+next]})
		}
	}
	return tokens
}

func isApostrophe(r rune) bool { return strings.ContainsRune("'’‘‛ʼʻ`׳", r) }

// isHyphen tells whether r binds two words to one when it stands between them without spaces. An en dash doesn't:
// 5–7 is a range.
func isHyphen(r rune) bool { return strings.ContainsRune("-\u2010−&_", r) }
