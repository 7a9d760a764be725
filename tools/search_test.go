package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"countersign/store/storetest"
)

// searchData holds a help center as Zendesk exports it, and what people ask it.
const searchData = "../store/lexis/testdata"

// A searchCase is a line of search-cases.jsonl.
type searchCase struct {
	ID       int
	Query    string
	Repeat   json.RawMessage `json:"query_repeat"`
	MustFind []int           `json:"must_find"`
	Expect   string
	Why      string
}

// Cases 46 to 56. What a case wants is in an answer of the usual length.
func TestSearchCases(t *testing.T) {
	s := helpCenter(t)
	for _, c := range searchCases(t) {
		t.Run(fmt.Sprintf("%d %s", c.ID, c.Why), func(t *testing.T) {
			query := c.query(t)
			found, refused := s.search(t, query, 0)
			more, _ := s.search(t, query, 10)
			for _, hidden := range []string{"9008", "9009"} {
				if slices.Contains(more, hidden) {
					t.Errorf("finds %v, of which %s isn't public", more, hidden)
				}
			}
			switch c.Expect {
			case "invalid_arguments":
				equal(t, "invalid_arguments", refused)
				return
			case "nothing":
				equal(t, nil, found)
			case "no_error", "":
			default:
				t.Fatalf("unknown expectation %q", c.Expect)
			}
			equal(t, "", refused)
			for _, id := range c.MustFind {
				if !slices.Contains(found, fmt.Sprint(id)) {
					t.Errorf("%q finds %v, want %d among them", query, found, id)
				}
			}
		})
	}
}

// Case 53: accents as different systems type them.
func TestSearchForms(t *testing.T) {
	s := helpCenter(t)
	for text, want := range map[string]string{"échange": "9016", "Rückgabe": "9015", "ガ": "", "返品できます": "9011", "반품": "9014"} {
		for _, query := range []string{norm.NFC.String(text), norm.NFD.String(text)} {
			found, _ := s.search(t, query, 1)
			equal(t, want, strings.Join(found, " "))
		}
	}
}

func TestOutdatedArticlesComeLast(t *testing.T) {
	s := helpCenter(t)
	storetest.Shop(t, s.db, strings.Join([]string{
		article("old", fields{"title": "Zeppelin, zeppelin and zeppelin", "outdated": true}),
		article("new", fields{"title": "Other things", "body": strings.Repeat("about other things ", 200) + "zeppelin"}),
		article("older", fields{"body": "zeppelin", "outdated": true}),
	}, "\n"))
	found, _ := s.search(t, "zeppelin", 0)
	equal(t, []string{"new", "old", "older"}, found)

	storetest.Shop(t, s.db, article("new", fields{"title": "Other things", "body": "zeppelin", "outdated": true}))
	storetest.Shop(t, s.db, article("older", fields{"body": "zeppelin"}))
	found, _ = s.search(t, "zeppelin", 0)
	equal(t, "older", found[0])

	found, _ = s.search(t, "old 14-day returns policy 2019 money", 10)
	if i := slices.Index(found, "9010"); i < 1 || slices.Index(found, "9001") > i {
		t.Errorf("finds %v, want 9010 after 9001", found)
	}
}

// A changed article is found by what it says, never by what it said.
func TestSearchFollowsChanges(t *testing.T) {
	s := open(t, article("H-1", fields{"title": "Zeppelin rides", "body": "by airship"}), article("H-2", fields{"title": "Zeppelin"}))
	check := func(want map[string]string) {
		t.Helper()
		for query, ids := range want {
			found, _ := s.search(t, query, 10)
			equal(t, query+": "+ids, query+": "+strings.Join(found, " "))
		}
	}
	check(map[string]string{"zeppelin": "H-2 H-1", "ride": "H-1", "airship": "H-1"})
	storetest.Shop(t, s.db, article("H-1", fields{"title": "Balloon rides", "body": "by airship"}))
	check(map[string]string{"zeppelin": "H-2", "balloon": "H-1", "ride": "H-1", "airship": "H-1"})
	storetest.Shop(t, s.db, article("H-1", fields{"title": "Balloon rides", "visibility": "internal"}))
	check(map[string]string{"zeppelin": "H-2", "balloon": "", "ride": "", "airship": ""})
	storetest.Shop(t, s.db, article("H-1", fields{"title": "Kites"}))
	check(map[string]string{"balloon": "", "airship": "", "kite": "H-1"})
}

// Case 57: of a long article an answer holds an excerpt.
func TestSearchCutsLongArticles(t *testing.T) {
	res := helpCenter(t).anonymous("").call("search_help_center", `{"query":"size 700"}`)
	first := decode(t, res)["articles"].([]any)[0].(fields)
	if first["article_id"] != "9019" || first["truncated"] != true || len(res.JSON) >= 10_000 {
		t.Errorf("%d bytes: %.200s", len(res.JSON), res.JSON)
	}
}

// search returns the ids of the articles that an answer holds, or the code of a
// refusal. Without a limit it is the usual one.
func (s *shop) search(t *testing.T, query string, limit int) (ids []string, refused string) {
	t.Helper()
	arguments := fields{"query": query}
	if limit > 0 {
		arguments["limit"] = limit
	}
	res := s.anonymous("").call("search_help_center", line(arguments, nil))
	answer := decode(t, res)
	if res.IsError {
		return nil, fmt.Sprint(answer["error"])
	}
	for _, a := range answer["articles"].([]any) {
		ids = append(ids, a.(fields)["article_id"].(string))
	}
	return ids, ""
}

// article is a public one of the native format.
func article(id string, more fields) string {
	return line(fields{"type": "article", "id": id, "title": "Untitled", "body": "", "category": "help", "source": "official",
		"visibility": "public", "updated_at": "-9d"}, more)
}

// helpCenter is a shop with the articles of zendesk-articles.json.
func helpCenter(t *testing.T) *shop {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(searchData, "zendesk-articles.json"))
	if err != nil {
		t.Fatal(err)
	}
	var export struct {
		Articles []struct {
			ID              int64
			Title, Body     string
			Draft, Outdated bool
			UserSegmentID   *int64 `json:"user_segment_id"`
			UpdatedAt       string `json:"updated_at"`
		}
	}
	if err := json.Unmarshal(data, &export); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, a := range export.Articles {
		visibility := "public"
		if a.Draft || a.UserSegmentID != nil {
			visibility = "internal"
		}
		lines = append(lines, article(fmt.Sprint(a.ID), fields{"title": a.Title, "body": plainText(a.Body), "outdated": a.Outdated,
			"visibility": visibility, "updated_at": a.UpdatedAt}))
	}
	equal(t, 20, len(lines))
	return open(t, lines...)
}

var (
	hiddenHTML = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>`)
	htmlTag    = regexp.MustCompile(`<[^>]*>`)
)

// plainText is a stand-in for what an import from Zendesk does to HTML.
func plainText(body string) string {
	return html.UnescapeString(htmlTag.ReplaceAllString(hiddenHTML.ReplaceAllString(body, " "), " "))
}

func searchCases(t *testing.T) (cases []searchCase) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(searchData, "search-cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for text := range bytes.Lines(data) {
		var c searchCase
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", text, err)
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
