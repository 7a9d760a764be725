// Package leaks finds a text that must not be in another, in whatever spelling it
// got there.
package leaks

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A Pile is a text in all the spellings that a search has to look through.
type Pile struct {
	raw   string
	bare  string // letters and digits alone, folded, as it stands
	bares []string
}

// New returns the pile of a text.
func New(text string) Pile {
	p := Pile{raw: text, bare: Bare(text)}
	for _, decoded := range []string{percent.ReplaceAllStringFunc(text, fromPercent), escaped.ReplaceAllStringFunc(text, fromEscape)} {
		if decoded != text {
			p.bares = append(p.bares, Bare(decoded))
		}
	}
	return p
}

// Holds reports whether a private text is in the pile in any spelling: another
// case, a compatibility form, without blanks and signs, escaped for a URL or
// JSON, in base64 or hex.
func (p Pile) Holds(private string) bool {
	plain := Bare(private)
	if strings.Contains(p.bare, plain) || slices.ContainsFunc(p.bares, func(b string) bool { return strings.Contains(b, plain) }) {
		return true
	}
	for _, written := range []string{private, strings.ToLower(private), norm.NFKC.String(private)} {
		if strings.Contains(p.raw, hex.EncodeToString([]byte(written))) {
			return true
		}
		for before := range 3 { // how many bytes share the first letters of base64 with what stands before
			if len(written) < before {
				break
			}
			inside := written[before:]
			inside = inside[:len(inside)/3*3] // and the last ones with what comes after
			for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				if text := alphabet.EncodeToString([]byte(inside)); len(text) >= 8 && strings.Contains(p.raw, text) {
					return true
				}
			}
		}
	}
	return false
}

var (
	percent = regexp.MustCompile(`(%[0-9A-Fa-f]{2})+`)
	escaped = regexp.MustCompile(`(\\+u[0-9A-Fa-f]{4})+`)
)

func fromPercent(text string) string {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return decoded
}

func fromEscape(text string) string {
	decoded, err := strconv.Unquote(`"` + regexp.MustCompile(`\\+u`).ReplaceAllString(text, `\u`) + `"`)
	if err != nil {
		return text
	}
	return decoded
}

// Bare folds a text and keeps its letters and digits.
func Bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text))))
}

// Telling are the texts among some that are long and odd enough to be searched
// for: "Li" or "991" would be found in any hash.
func Telling(texts ...string) (kept []string) {
	for _, text := range texts {
		plain := Bare(text)
		telling := strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsLetter(r) && !strings.ContainsRune("abcdef", r) })
		if telling && len(plain) >= 6 || len(plain) >= 9 {
			kept = append(kept, text)
		}
	}
	return kept
}
