package evals_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A pile is a text in all the spellings that a search has to look through.
type pile struct {
	raw   string
	bare  string // letters and digits alone, folded, as it stands
	bares []string
}

func newPile(text string) pile {
	p := pile{raw: text, bare: bare(text)}
	for _, decoded := range []string{percent.ReplaceAllStringFunc(text, fromPercent), escaped.ReplaceAllStringFunc(text, fromEscape)} {
		if decoded != text {
			p.bares = append(p.bares, bare(decoded))
		}
	}
	return p
}

// holds reports whether a private text is in the pile in any spelling: another
// case, a compatibility form, without blanks and signs, escaped for a URL or
// JSON, in base64 or hex.
func (p pile) holds(private string) bool {
	plain := bare(private)
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

// bare folds a text and keeps its letters and digits.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text))))
}

// private are the texts among some that are long and odd enough to be searched
// for: "Li" or "991" would be found in any hash.
func private(texts ...string) (kept []string) {
	for _, text := range texts {
		plain := bare(text)
		telling := strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsLetter(r) && !strings.ContainsRune("abcdef", r) })
		if telling && len(plain) >= 6 || len(plain) >= 9 {
			kept = append(kept, text)
		}
	}
	return kept
}

// The search finds what it is for, and isn't alarmed by what the log holds.
func TestLeaksAreFound(t *testing.T) {
	for _, secret := range []string{"anna@example.com", "4242 4242 4242 4242", "+49 30 1234567", "Zoë O’Brien-Łuczak", "山田太郎", "215 River Road", "서울특 Ñandú ﷼"} {
		upper, quoted := strings.ToUpper(secret), strconv.QuoteToASCII(secret)
		for name, written := range map[string]string{
			"plain": secret, "upper": upper, "NFKC": norm.NFKC.String(secret), "NFD": norm.NFD.String(secret),
			"without blanks": strings.ReplaceAll(secret, " ", ""), "dots": strings.ReplaceAll(secret, " ", "."),
			"query": url.QueryEscape(secret), "path": url.PathEscape(upper), "JSON": quoted, "JSON in JSON": strconv.QuoteToASCII(quoted),
			"hex":  hex.EncodeToString([]byte(secret)),
			"b64":  base64.StdEncoding.EncodeToString([]byte(secret)),
			"b64+": base64.RawURLEncoding.EncodeToString([]byte("x" + secret)), "b64++": base64.StdEncoding.EncodeToString([]byte("xy" + secret + "z")),
			"b64+++": base64.StdEncoding.EncodeToString([]byte("xyz" + strings.ToLower(secret) + " yes")),
		} {
			if !newPile(`{"at":"2026-05-01T12:00:00Z","client":"` + written + `","hash":"0f"}`).holds(secret) {
				t.Errorf("%q isn't found as %s: %q", secret, name, written)
			}
		}
		if newPile(`{"at":"2026-05-01T12:00:00Z","order_id":"#W2611340","customer":"CK-x1","hash":"0f3a"}`).holds(secret) {
			t.Errorf("%q is found where it isn't", secret)
		}
		if len(private(secret)) != 1 {
			t.Errorf("%q isn't searched for", secret)
		}
	}
}
