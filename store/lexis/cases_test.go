package lexis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"countersign/store/lexis"
)

// A searchCase is a line of search-cases.jsonl.
type searchCase struct {
	ID       int
	Query    string
	Repeat   json.RawMessage `json:"query_repeat"`
	MustFind []int64         `json:"must_find"`
	Level    string
	Expect   string
	Why      string
}

// TestSearchCases asks every query of search-cases.jsonl against the public articles. What a case wants has to be
// among the first three, which is how many a search answers with by default.
func TestSearchCases(t *testing.T) {
	const first = 3
	x := newIndex(publicArticles(t))
	for _, c := range searchCases(t) {
		t.Run(fmt.Sprintf("%d %s", c.ID, c.Why), func(t *testing.T) {
			query := c.query(t)
			found := ids(x.search(query))
			switch c.Expect {
			case "invalid_arguments":
				if !refusable(query) {
					t.Errorf("%.40q: nothing to refuse it for", query)
				}
			case "nothing":
				if len(found) > 0 {
					t.Errorf("%q finds %v, want nothing", query, found)
				}
			case "no_error":
			case "":
				for _, id := range c.MustFind {
					if !slices.Contains(found[:min(first, len(found))], id) {
						t.Errorf("%q finds %v, want %d among the first %d (%s)", query, found, id, first, c.Level)
					}
				}
			default:
				t.Fatalf("unknown expectation %q", c.Expect)
			}
			for _, hidden := range []int64{9008, 9009} {
				if slices.Contains(found, hidden) {
					t.Errorf("%q finds %d, which isn't public", query, hidden)
				}
			}
		})
	}
}

// TestSearchForms asks the queries with accents as typed on different systems.
func TestSearchForms(t *testing.T) {
	x := newIndex(publicArticles(t))
	for text, want := range map[string]int64{"échange": 9016, "Rückgabe": 9015, "ガ": 0, "返品できます": 9011, "반품": 9014} {
		for form, query := range forms(text) {
			found := ids(x.search(query))
			if want != 0 && (len(found) == 0 || found[0] != want) {
				t.Errorf("%s: %+q finds %v, want %d first", form, query, found, want)
			}
			if want == 0 && len(found) > 0 {
				t.Errorf("%s: %+q finds %v, want nothing", form, query, found)
			}
		}
	}
}

// TestSearchOutdated checks that the old policy comes after every current article.
func TestSearchOutdated(t *testing.T) {
	x := newIndex(publicArticles(t))
	found := ids(x.search("old 14-day returns policy 2019 money"))
	if len(found) < 2 || found[len(found)-1] != 9010 {
		t.Errorf("finds %v, want 9010 last of several", found)
	}
}

// refusable tells whether a caller refuses a query before it is ranked.
func refusable(query string) bool {
	return len(lexis.Query(query)) == 0 || utf8.RuneCountInString(query) > 1000 || strings.Contains(query, "\x00")
}

func searchCases(t *testing.T) []searchCase {
	t.Helper()
	data, err := os.ReadFile("testdata/search-cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var cases []searchCase
	for line := range bytes.Lines(data) {
		var c searchCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

// query returns the query of a case, written out where the file only describes it.
func (c searchCase) query(t *testing.T) string {
	t.Helper()
	if c.Repeat == nil {
		return c.Query
	}
	if string(c.Repeat) == `"w0 w1 … w599"` {
		var words strings.Builder
		for i := range 600 {
			fmt.Fprintf(&words, "w%d ", i)
		}
		return words.String()
	}
	var word string
	var times int
	if err := json.Unmarshal(c.Repeat, &[]any{&word, &times}); err != nil {
		t.Fatalf("%s: %v", c.Repeat, err)
	}
	return strings.Repeat(word, times)
}

func publicArticles(t *testing.T) []article {
	t.Helper()
	data, err := os.ReadFile("testdata/zendesk-articles.json")
	if err != nil {
		t.Fatal(err)
	}
	var export struct {
		Articles []struct {
			ID              int64
			Title, Body     string
			Draft, Outdated bool
			UserSegmentID   *int64 `json:"user_segment_id"`
		}
	}
	if err := json.Unmarshal(data, &export); err != nil {
		t.Fatal(err)
	}
	var public []article
	for _, a := range export.Articles {
		if a.Draft || a.UserSegmentID != nil {
			continue
		}
		public = append(public, article{ID: a.ID, Title: a.Title, Body: plainText(a.Body), Outdated: a.Outdated})
	}
	if len(public) != 18 {
		t.Fatalf("%d public articles, want 18", len(public))
	}
	return public
}

var (
	hiddenHTML = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>`)
	htmlTag    = regexp.MustCompile(`<[^>]*>`)
)

// plainText is a stand-in for what an import does to HTML.
func plainText(body string) string {
	return html.UnescapeString(htmlTag.ReplaceAllString(hiddenHTML.ReplaceAllString(body, " "), " "))
}
