package store

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxNumber bounds a folded order number, in bytes.
const maxNumber = 64

// afterSeparator finds the digits of "NW-5001", not those of "W9502127".
var afterSeparator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^0-9\pL]([0-9]+)$`) })

// FoldNumber returns an order number as look-ups compare it, however people
// write it: compatibility forms, blanks, invisible characters, kinds of hyphen,
// case and a leading "#" make no difference. It reports false for a text that
// can't be an order number: without a letter or digit, or too long.
func FoldNumber(text string) (string, bool) {
	text = strings.ToValidUTF8(text, "\uFFFD") // norm leaves what follows a stray byte as it is
	folded := strings.Map(foldRune, norm.NFKC.String(text))
	folded = norm.NFKC.String(folded) // without a blank between them two characters may be one
	folded = strings.TrimLeft(folded, "#")
	if len(folded) > maxNumber || !strings.ContainsFunc(folded, isWordRune) {
		return "", false
	}
	return folded, true
}

func foldRune(r rune) rune {
	switch {
	case unicode.Is(unicode.Pd, r) || r == '\u2212': // hyphens, dashes, the minus sign
		return '-'
	case unicode.IsSpace(r) || unicode.Is(unicode.C, r):
		return -1
	}
	return unicode.ToUpper(r)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// numberDigits returns the digits by which a folded number may be called alone,
// or "" where it has none.
func numberDigits(folded string) string {
	if match := afterSeparator().FindStringSubmatch(folded); match != nil {
		return match[1]
	}
	return ""
}

func onlyDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
