package lexis_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"countersign/store/lexis"
)

func TestTerms(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"repeats stay, in order", "Refund the refund", "refund the refund"},
		{"stems", "refunds refunded refunding", "refund refund refund"},
		{"signs only separate", `^a* (b) "c" [d]: e.`, "a b c d e"},
		{"no words", ` ?!"" … \ %_' -- `, ""},
		{"operators are words", "NOT shipping OR NEAR(x, 5)", "not ship or near x 5"},

		{"contraction", "don't won’t", "dont wont"},
		{"contraction typed without", "dont", "dont"},
		{"clitics", "who's what’s they'll we`ve I´m", "who what they we i"},
		{"elision", "l’étranger", "l etrang letrang"},
		{"modifier apostrophe", "м\u02bcята", "м ята мята"},
		{"outer apostrophes", "'quoted' customers' 'n'", "quot custom n"},

		{"hyphen", "e-mail", "e mail email"},
		{"without the hyphen", "email", "email"},
		{"number", "30-day", "30 day 30day"},
		{"code", "GW-50 VAT-ID", "gw 50 gw50 vat id vatid"},
		{"non-breaking hyphen", "gift\u2011wrapping", "gift wrap giftwrap"},
		{"ampersand", "AT&T, returns & refunds", "at t att return refund"},
		{"two hyphens separate", "pay--later", "pay later"},
		{"a range separates", "5–7", "5 7"},
		{"symbols after a letter", "C++", "c"},

		{"accents", "Échange À", "echang a"},
		{"Vietnamese", "Đổi trả", "doi tra"},
		{"Greek", "Επιστροφές", "επιστροφεσ"},
		{"Cyrillic", "Йё", "ие"},
		{"sharp s", "Straße STRAẞE Strasse", "strass strass strass"},
		{"umlaut as e", "Rückgabe Rueckgabe Großgeraete", "ruckgab ruckgab grossgerat"},
		{"not after q, nor in short words", "request shoe blue", "request shoe blue"},
		{"Turkish", "İADE", "iad"},
		{"ligatures", "œuf ﬁt Ærø", "oeuf fit aero"},
		{"full width", "ＲＥＴＵＲＮＳ ３０", "return 30"},
		{"trade mark", "Visa™ Klarna®", "visa klarna"},
		{"soft hyphen, joiners, marks of direction", "re\u00adfund\u200b \u200epay\ufeff", "refund pay"},

		{"Han", "退货", "退 退货 货"},
		{"one character", "货", "货"},
		{"Japanese", "30日にが", "30 日 日に に にが が"},
		{"dakuten from half width", "ｶﾞ", "ガ"},
		{"vowel lengthener", "コーヒー", "コ コー ー ーヒ ヒ ヒー ー"},
		{"Hangul", "반품 수", "반 반품 품 수"},
		{"Thai", "คืน", "ค คื ืน น"},
		{"Latin within", "Tシャ", "t シ シャ ャ"},
		{"Arabic", "إرجاع المنتجات", "إرجاع المنتجات"},
		{"Hebrew", "החזרות ג׳ירפה", "החזרות ג ירפה גירפה"},
		{"Devanagari", "वापसी", "वापसी"},

		{"emoji", "Package 📦❤️", "packag 📦 ❤"},
		{"mark without a letter", "\u0301 5\ufe0f\u20e3", "5"},
		{"mark on an apostrophe", "a\u02bc\u0301", "a"},
		{"NUL", "refund\x00policy", "refund polici"},
		{"not UTF-8", "re\xfffund \xc3", "re fund"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := strings.Fields(test.want)
			for form, text := range forms(test.text) {
				if diff := cmp.Diff(want, lexis.Terms(text)); diff != "" {
					t.Errorf("%s: %+q (-want +got)\n%s", form, text, diff)
				}
			}
		})
	}
}

// forms returns a text as it is, composed, and decomposed.
func forms(text string) map[string]string {
	return map[string]string{"as is": text, "NFC": norm.NFC.String(text), "NFD": norm.NFD.String(text)}
}

func TestTermsCutsLongWords(t *testing.T) {
	for _, word := range []string{"a", "é", "ж", "ب", "a-", "l'", "𝒳"} {
		terms := lexis.Terms(strings.Repeat(word, 100_000))
		if len(terms) == 0 {
			t.Errorf("%q repeated gives no term", word)
		}
		for _, term := range terms {
			if len(term) > lexis.MaxTerm || !utf8.ValidString(term) {
				t.Fatalf("%q repeated gives %+q", word, term)
			}
		}
	}
}

func TestQuery(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"distinct, in order", "ship refunds, refund ship", "ship refund"},
		{"function words go", "What's the status of my order?", "status order"},
		{"unless alone", "AND what is that", "and what is that"},
		{"content with the stem of a function word", "own owned car", "own car"},
		{"pairs without their characters", "送料は", "送料 料は"},
		{"a lone character stays", "送 料", "送 料"},
		{"compound", "e-mail", "e mail email"},
		{"blank", " \t\n\u3000", ""},
		{"only signs", "???", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Fields(test.want), append([]string{}, lexis.Query(test.text)...)); diff != "" {
				t.Errorf("%q (-want +got)\n%s", test.text, diff)
			}
		})
	}
}

func TestCount(t *testing.T) {
	counts, length := lexis.Count("E-mail us", "We e-mail. 送料は")
	want := []lexis.TermCount{
		{Term: "e", Title: 1, Body: 1},
		{Term: "email", Title: 1, Body: 1},
		{Term: "mail", Title: 1, Body: 1},
		{Term: "us", Title: 1},
		{Term: "we", Body: 1},
		{Term: "は", Body: 1},
		{Term: "料", Body: 1},
		{Term: "料は", Body: 1},
		{Term: "送", Body: 1},
		{Term: "送料", Body: 1},
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("counts (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(lexis.Length{Title: 3, Body: 5}, length); diff != "" {
		t.Errorf("length (-want +got)\n%s", diff)
	}
}

func FuzzTerms(f *testing.F) {
	for _, seed := range []string{
		"Returns & refunds", "don't e-mail", "Straße É", "返品できます", "คืนสินค้า", "반품", "إرجاع", "ʼ\u0301t", "'s-'t",
		"re\xfffund\x00", "📦❤️", "a\u0345", "ﷺ", "ύ\u1ffd", strings.Repeat("é", 100), "\u1100\u1161", "skies dying",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := lexis.Terms(text)
		held := make(map[string]bool)
		for _, term := range terms {
			if term == "" || len(term) > lexis.MaxTerm || !utf8.ValidString(term) {
				t.Fatalf("%+q gives the term %+q", text, term)
			}
			held[term] = true
		}
		query := lexis.Query(text)
		if len(query) == 0 && len(terms) > 0 {
			t.Fatalf("%+q has the terms %+q and none to look up", text, terms)
		}
		asked := make(map[string]bool)
		for _, term := range query {
			if !held[term] {
				t.Fatalf("%+q doesn't find itself by %+q", text, term)
			}
			if asked[term] {
				t.Fatalf("%+q looks %+q up twice", text, term)
			}
			asked[term] = true
		}
	})
}
