package store_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
)

func TestFoldNumber(t *testing.T) {
	for text, want := range map[string]string{
		"NW-5001":                        "NW-5001",
		" nw-5001\n":                     "NW-5001",
		"#NW-5001":                       "NW-5001",
		"##nw 5001":                      "NW5001",
		"nw\u20115001":                   "NW-5001", // no-break hyphen
		"nw\u20105001":                   "NW-5001", // hyphen
		"nw–5001":                        "NW-5001", // en dash
		"nw—5001":                        "NW-5001", // em dash
		"nw−5001":                        "NW-5001", // minus
		"ｎｗ－５００１":                        "NW-5001", // full width
		"N\u200bW-\ufeff5001":            "NW-5001", // zero width
		"NW\u00a0-\u202f5001":            "NW-5001", // no-break spaces
		"\u202eNW-5001\u202c":            "NW-5001", // bidirectional overrides
		"＃5001":                          "5001",
		"№ 17":                           "NO17", // compatibility form
		"ö-1":                            "Ö-1",
		"o\u0308-1":                      "Ö-1",
		"A#1":                            "A#1",
		strings.Repeat("7", 64):          strings.Repeat("7", 64),
		" " + strings.Repeat("7", 64):    strings.Repeat("7", 64),
		"W9502127":                       "W9502127",
		strings.Repeat("7", 65):          "",
		strings.Repeat("ö", 33):          "",
		"":                               "",
		"#":                              "",
		"%":                              "",
		"*":                              "",
		" - ":                            "",
		"\u200b\u00a0":                   "",
		"\x00":                           "",
		"' or 1=1 --":                    "'OR1=1--",
		"\xff\xfe":                       "", // no letter: the replacement character is a symbol
		"NW-5001\x00":                    "NW-5001",
		"🧦":                              "",
		"🧦1":                             "🧦1",
		"NW-5001; drop table orders; --": "NW-5001;DROPTABLEORDERS;--",
	} {
		got, ok := store.FoldNumber(text)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
}

// What is folded once stays as it is, and the ways to write one number agree.
func FuzzFoldNumber(f *testing.F) {
	for _, text := range []string{"NW-5001", "#nw 5001", "ﬁ-1", "ß1", "ŉ1", "İ1", "#\u200b#1", "\u0345a", "ǰ#", "１²"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		folded, ok := store.FoldNumber(text)
		if !ok {
			return
		}
		if !utf8.ValidString(folded) || len(folded) > 64 || strings.ContainsAny(folded, " \n\t\x00") {
			t.Errorf("%q folds to %q", text, folded)
		}
		again, ok := store.FoldNumber(folded)
		if diff := cmp.Diff(folded, again); !ok || diff != "" {
			t.Errorf("%q folds to %q and that to %q, %v", text, folded, again, ok)
		}
		if other, _ := store.FoldNumber(" #" + text + "\u200b "); other != folded {
			t.Errorf("%q folds to %q, with a # and blanks to %q", text, folded, other)
		}
	})
}
