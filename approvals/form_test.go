package approvals_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/approvals"
)

// A form that nobody can fill says why; the others say nothing.
func TestFormCheck(t *testing.T) {
	long := strings.Repeat("x", 65)
	for want, field := range map[string]approvals.Field{
		"": {Name: "CODE", Type: approvals.String, Pattern: `\d{6}`},
		"name of a secret must be that of a variable: letters A to z, digits and _, no digit first": {Name: "pärla", Type: approvals.Secret},
		"type must be one of string, number, boolean, choice, secret":                               {Name: "a", Type: "date"},
		"options are for a choice alone":                                                            {Name: "a", Type: approvals.String, Options: []string{"x"}},
		"options must be 1 to 50 for a choice":                                                      {Name: "a", Type: approvals.Choice},
		"options must differ, in more than case":                                                    {Name: "a", Type: approvals.Choice, Options: []string{"Yes", "yes"}},
		"options must each have 1 to 200 visible characters, without blanks around them":            {Name: "a", Type: approvals.Choice, Options: []string{" "}},
		"pattern is for a string or secret alone":                                                   {Name: "a", Type: approvals.Number, Pattern: "1"},
		"pattern must have at most 300 bytes":                                                       {Name: "a", Type: approvals.String, Pattern: strings.Repeat("x", 301)},
		"pattern matches nothing":                                                                   {Name: "a", Type: approvals.String, Pattern: `a([^\x00-\x{10FFFF}])+`},
		"pattern is not a regular expression of RE2 syntax (no lookaround, no backreferences), or a too large one": {
			Name: "a", Type: approvals.Secret, Pattern: `(a{1000}){1000}`},
	} {
		problems := approvals.Form{Fields: []approvals.Field{field}}.Check()
		got := ""
		for _, p := range problems {
			got += strings.TrimPrefix(p.Path, "fields.0.") + " " + p.Message
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", field, got, want)
		}
	}
	for _, name := range []string{"", " ", "a b", "a=b", "-a", ".a", "a\n", "a\x1b", "a\u202e", long, "$a", "'"} {
		if len((approvals.Form{Fields: []approvals.Field{{Name: name, Type: approvals.String}}}).Check()) == 0 {
			t.Errorf("a field may be called %q", name)
		}
	}
	for _, name := range []string{"a", "A_1", "straße", "梨", "e\u0301", "a-b.c", "0"} {
		if problems := (approvals.Form{Fields: []approvals.Field{{Name: name, Type: approvals.String}}}).Check(); len(problems) > 0 {
			t.Errorf("no field may be called %q: %v", name, problems)
		}
	}
	if problems := (approvals.Form{Fields: []approvals.Field{{Name: "ｋ", Type: "string"}, {Name: "K", Type: "string"}}}).Check(); len(problems) != 1 {
		t.Errorf("two fields of one name: %v", problems)
	}
}

// What was entered is typed by its field, or refused without being repeated.
func TestFill(t *testing.T) {
	form := approvals.Form{Fields: []approvals.Field{
		{Name: "s", Type: approvals.String}, {Name: "n", Type: approvals.Number}, {Name: "b", Type: approvals.Boolean},
		{Name: "c", Type: approvals.Choice, Options: []string{"Red", "Blue"}}, {Name: "K", Type: approvals.Secret, Pattern: "k-.*"},
	}}
	for _, c := range []struct{ field, text, want string }{
		{"s", "héllo\nworld", `"héllo\nworld"`}, {"s", " kept ", `" kept "`}, {"s", "", ""},
		{"n", "12", "12"}, {"n", " -0.50 ", "-0.50"}, {"n", "9007199254740993", "9007199254740993"},
		{"b", "yes", "true"}, {"b", "N", "false"}, {"b", "TRUE", "true"}, {"c", "red", `"Red"`}, {"c", " Blue ", `"Blue"`},

		{"s", "Zq7\x1b[31m", "s holds a control character"}, {"s", "Zq7\xff", "s isn't valid UTF-8"},
		{"n", "Zq7", "n must be a number, such as 12 or -0.5"}, {"n", "1e9", "n must be a number, such as 12 or -0.5"},
		{"n", "NaN", "n must be a number, such as 12 or -0.5"}, {"n", "01", "n must be a number, such as 12 or -0.5"},
		{"n", strings.Repeat("9", 100), "n must be a number, such as 12 or -0.5"},
		{"b", "Zq7", "b must be yes or no"}, {"c", "Zq7", "c must be one of: Red, Blue"},
		{"K", "Zq7", "K doesn't match its pattern k-.*"}, {"K", "xk-1", "K doesn't match its pattern k-.*"},
		{"x", "Zq7", "the answer has a value for a field that the form doesn't have; it has: s, n, b, c, K"},
	} {
		answer, err := form.Fill(map[string]string{c.field: c.text})
		got := fmt.Sprint(err)
		if err == nil {
			got = ""
			if value, ok := answer.Values[c.field]; ok {
				text, _ := json.Marshal(value)
				got = string(text)
			}
		}
		if got != c.want || strings.Contains(got, "Zq7") {
			t.Errorf("%s %q: %s, want %s", c.field, c.text, got, c.want)
		}
	}
	answer, err := form.Fill(map[string]string{"K": "k-1", "n": "1"})
	if err != nil {
		t.Fatal(err)
	}
	want := approvals.Answer{Values: map[string]any{"n": json.Number("1")}, Secrets: map[string]string{"K": "k-1"}}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Error(diff)
	}
	if _, err := form.Fill(map[string]string{"K": "k-\r"}); err == nil || !strings.Contains(err.Error(), "K holds a control character") {
		t.Error(err)
	}
	if _, err := form.Fill(map[string]string{"K": "k-${HOME}"}); err == nil || strings.Contains(err.Error(), "HOME") {
		t.Error(err)
	}
}
