package lexis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// beforeFold takes out what compatibility decomposition would spoil: it makes "Visa™" one word "VisaTM", and an acute
// accent typed for an apostrophe a space.
var beforeFold = strings.NewReplacer("™", " ", "℠", " ", "´", "'", "\u1ffd", "'")

// afterFold spells out Latin letters that look marked and don't decompose.
var afterFold = strings.NewReplacer("æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ı", "i")

// Fold returns text in the form it is compared in: compatibility characters replaced (NFKC), case folded, invisible
// characters gone, and no marks on Latin, Greek and Cyrillic letters, nor on anything that isn't a letter. Elsewhere
// a mark makes a different letter (か, が) or is a vowel (Thai, Devanagari), and stays. Bytes that aren't UTF-8
// separate words.
func Fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	text = beforeFold.Replace(strings.ToValidUTF8(text, " "))

	var b strings.Builder
	b.Grow(len(text))
	marks := false
	for _, r := range norm.NFKD.String(text) {
		if unicode.IsMark(r) && !marks || isInvisible(r) {
			continue
		}
		if !unicode.IsMark(r) {
			marks = unicode.IsLetter(r) && !isApostrophe(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
		}
		b.WriteRune(r)
	}
	return afterFold.Replace(norm.NFC.String(cases.Fold().String(b.String())))
}

// isInvisible tells whether r is a soft hyphen, joiner, direction mark, variation selector or the like, which may
// stand inside a word without changing it.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
