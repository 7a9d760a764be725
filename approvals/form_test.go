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
		"pattern matches nothing that could be entered":                                             {Name: "a", Type: approvals.String, Pattern: `a([^\x00-\x{10FFFF}])+`},
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
	const steers = "of a secret may not be a variable that changes how programs start; name it after what it is for"
	for name, want := range map[string]bool{
		"PATH": true, "Path": true, "LD_PRELOAD": true, "LD_x": true, "DYLD_INSERT_LIBRARIES": true, "HOME": true, "IFS": true, "NODE_OPTIONS": true, "PYTHONPATH": true,
		"BASH_ENV": true, "COUNTERSIGN_KEY": true, "MY_PATH": false, "PATH_KEY": false, "LDAP_PASSWORD": false, "NODE_KEY": false, "HOME_URL": false,
	} {
		problems := approvals.Form{Fields: []approvals.Field{{Name: name, Type: approvals.Secret}}}.Check()
		if got := len(problems) == 1 && problems[0].Message == steers; got != want || !want && len(problems) > 0 {
			t.Errorf("a secret %s: %v", name, problems)
		}
		if problems := (approvals.Form{Fields: []approvals.Field{{Name: name, Type: approvals.String}}}).Check(); len(problems) > 0 {
			t.Errorf("a text %s: %v", name, problems)
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

// none matches no character.
const none = `[^\x00-\x{10FFFF}]`

// The bounds of a form's parts: what is just within them is taken, what is just
// beyond isn't.
func TestFormBounds(t *testing.T) {
	text := func(name, pattern string) approvals.Form {
		return approvals.Form{Fields: []approvals.Field{{Name: name, Type: approvals.String, Pattern: pattern}}}
	}
	choice := func(options ...string) approvals.Form {
		return approvals.Form{Fields: []approvals.Field{{Name: "a", Type: approvals.Choice, Options: options}}}
	}
	many := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint("n", i))
		}
		return names
	}
	fields := func(n int) (f approvals.Form) {
		for _, name := range many(n) {
			f.Fields = append(f.Fields, approvals.Field{Name: name, Type: approvals.String})
		}
		return f
	}
	for name, c := range map[string]struct {
		form approvals.Form
		at   string // the path of the only problem, "" for none
	}{
		"50 fields":                      {fields(50), ""},
		"51 fields":                      {fields(51), "fields"},
		"a name of 64":                   {text(strings.Repeat("é", 64), ""), ""},
		"a name of 65":                   {text(strings.Repeat("é", 65), ""), "fields.0.name"},
		"one option":                     {choice("Red"), ""},
		"50 options":                     {choice(many(50)...), ""},
		"51 options":                     {choice(many(51)...), "fields.0.options"},
		"an option of 200":               {choice(strings.Repeat("é", 200)), ""},
		"an option of 201":               {choice(strings.Repeat("é", 201)), "fields.0.options"},
		"an empty option":                {choice("Red", ""), "fields.0.options"},
		"a blank before an option":       {choice(" Red"), "fields.0.options"},
		"a line end in an option":        {choice("Red\nBlue"), "fields.0.options"},
		"a pattern of 300":               {text("a", strings.Repeat("x", 300)), ""},
		"a pattern of 301":               {text("a", strings.Repeat("x", 301)), "fields.0.pattern"},
		"one way to match":               {text("a", "x"+none+"|y"), ""},
		"no way to match":                {text("a", "x"+none+"|y"+none), "fields.0.pattern"},
		"brackets that close too early":  {text("a", "x)|(?:y"), "fields.0.pattern"},
		"a pattern that may be repeated": {text("a", "("+none+")*"), ""},
	} {
		var at []string
		for _, p := range c.form.Check() {
			at = append(at, p.Path)
		}
		if got := strings.Join(at, " "); got != c.at {
			t.Errorf("%s: problems at %q, want %q", name, got, c.at)
		}
	}
}

// A pattern that nothing which may be entered matches is told when the form is
// filed, whatever keeps it from matching; the others are taken.
func TestPatternThatNothingMatches(t *testing.T) {
	for pattern, want := range map[string]string{
		`a$b`: "none", `a^b`: "none", `a\bb`: "none", `a\B-`: "none", `\ba\Bb\b\B`: "none", `a\zb|c\Ad`: "none", `(?m)a$b`: "none", `(?m)a$.`: "none",
		`(?m)a$(.|-)b`: "none", `^-\b-$`: "none", `\x07`: "none", `[\x00-\x08]+`: "none", `[[:word:]]\b\d`: "none", `(a$b)+`: "none", `\b`: "none", `-?\b`: "none",
		`^$`: "empty", `(a$b)*`: "empty", `\B`: "empty", ``: "any",
		`^a$`: "any", `a$|b`: "any", `(?m)a$\nb`: "any", `(?ms)a$.b`: "any", `(?m)a$[^b]`: "any", `a\b-`: "any", `a\Bb`: "any", `-\B-`: "any", `\bk\b`: "any",
		`(?i)-\Bk`: "any", `(?i)a\bk`: "any", `a\b[^\x00-\x7f]`: "any", `a\b[\x80-\x{a0}]`: "any", `[\x00-\t]`: "any", `(^a|b$)c`: "any", `(^|a)b`: "any", `x*`: "any",
		`[^x]\b\d{6}`: "any", `(?s).\n.`: "any", `é\bé`: "none", `é\b`: "none", `a\bé`: "any",
	} {
		for _, required := range []bool{true, false} {
			problems := approvals.Form{Fields: []approvals.Field{{Name: "a", Type: approvals.String, Pattern: pattern, Required: required}}}.Check()
			if taken := want == "any" || want == "empty" && !required; taken != (len(problems) == 0) {
				t.Errorf("%q matches %s; required %v: %v", pattern, want, required, problems)
			}
		}
	}
}

// A form has a secret if any of its fields is one.
func TestHasSecret(t *testing.T) {
	text, secret := approvals.Field{Name: "a", Type: approvals.String}, approvals.Field{Name: "K", Type: approvals.Secret}
	for _, fields := range [][]approvals.Field{nil, {text}, {secret}, {text, secret}} {
		want := len(fields) > 0 && fields[len(fields)-1].Type == approvals.Secret
		if got := (approvals.Form{Fields: fields}).HasSecret(); got != want {
			t.Errorf("%v: %t", fields, got)
		}
	}
}

// What was entered is typed by its field, or refused without being repeated.
func TestFill(t *testing.T) {
	form := approvals.Form{Fields: []approvals.Field{
		{Name: "s", Type: approvals.String}, {Name: "n", Type: approvals.Number}, {Name: "b", Type: approvals.Boolean},
		{Name: "c", Type: approvals.Choice, Options: []string{"Red", "Blue"}}, {Name: "K", Type: approvals.Secret, Pattern: "k-.*"},
		{Name: "d", Type: approvals.Choice, Options: []string{"red", "green, dark", "blue"}},
	}}
	for _, c := range []struct{ field, text, want string }{
		{"s", "héllo\nworld", `"héllo\nworld"`}, {"s", " kept ", `" kept "`}, {"s", "", ""},
		{"n", "12", "12"}, {"n", " -0.50 ", "-0.50"}, {"n", "9007199254740993", "9007199254740993"},
		{"b", "yes", "true"}, {"b", "N", "false"}, {"b", "TRUE", "true"}, {"b", "y", "true"}, {"b", "no", "false"}, {"b", "False", "false"},
		{"s", "a\tb", `"a\tb"`}, {"s", "a\u00a0b", "\"a\u00a0b\""}, {"s", `${HOME} 'is' "here"`, `"${HOME} 'is' \"here\""`}, {"c", "red", `"Red"`}, {"c", " Blue ", `"Blue"`},

		{"s", "Zq7\x7f", "s holds a control character"}, {"s", "Zq7\u0085", "s holds a control character"},
		{"s", "Zq7\x1b[31m", "s holds a control character"}, {"s", "Zq7\xff", "s isn't valid UTF-8"},
		{"n", "Zq7", "n must be a number, such as 12 or -0.5"}, {"n", "1e9", "n must be a number, such as 12 or -0.5"},
		{"n", "NaN", "n must be a number, such as 12 or -0.5"}, {"n", "01", "n must be a number, such as 12 or -0.5"},
		{"n", strings.Repeat("9", 100), "n must be a number, such as 12 or -0.5"},
		{"b", "Zq7", "b must be yes or no"}, {"c", "Zq7", "c must be one of: Red, Blue"}, {"d", "dark", `d must be one of: "red", "green, dark", "blue"`},
		{"K", "Zq7", "K doesn't match its pattern k-.*"}, {"K", "xk-1", "K doesn't match its pattern k-.*"},
		{"x", "Zq7", "the answer has a value for a field that the form doesn't have; it has: s, n, b, c, K, d"},
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

// A field that is required has to be answered; the form can't be filled without.
func TestFillRequired(t *testing.T) {
	form := approvals.Form{Fields: []approvals.Field{
		{Name: "s", Type: approvals.String, Required: true}, {Name: "n", Type: approvals.Number, Required: true}, {Name: "b", Type: approvals.Boolean},
	}}
	for want, entered := range map[string]map[string]string{
		"s is required": {"n": "1", "b": "yes"},
		"n is required": {"s": "a", "n": " "},
		"<nil>":         {"s": "a", "n": "1"},
	} {
		if _, err := form.Fill(entered); fmt.Sprint(err) != want {
			t.Errorf("%v: %v, want %s", entered, err, want)
		}
	}
}

// All of several secrets are kept, and none among the values.
func TestFillSecrets(t *testing.T) {
	form := approvals.Form{Fields: []approvals.Field{{Name: "USER_KEY", Type: approvals.Secret}, {Name: "SHOP_KEY", Type: approvals.Secret}}}
	entered := map[string]string{"USER_KEY": "k-1", "SHOP_KEY": "k-2"}
	answer, err := form.Fill(entered)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(approvals.Answer{Values: map[string]any{}, Secrets: entered}, answer); diff != "" {
		t.Error(diff)
	}
}

// An answer stays short enough for an agent to read it whole.
func TestFillBounds(t *testing.T) {
	form := approvals.Form{Fields: []approvals.Field{{Name: "a", Type: approvals.String}, {Name: "b", Type: approvals.String}}}
	const around = len(`{"a":"","b":""}`)
	for name, c := range map[string]struct {
		a, b int
		want string
	}{
		"a field of 10,000":   {10_000, 0, "<nil>"},
		"a field of 10,001":   {10_001, 0, "a has 10001 characters, more than 10000"},
		"16,000 bytes of all": {10_000, 6000 - around, "<nil>"},
		"16,001 bytes of all": {10_000, 6001 - around,
			"the answer has 16001 bytes, and an agent can read 16000 of one; shorten it, or say where the rest is"},
	} {
		_, err := form.Fill(map[string]string{"a": strings.Repeat("x", c.a), "b": strings.Repeat("x", c.b)})
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A pattern that doesn't compile takes no answer: the form may have been filed
// by another version.
func TestReadWithABrokenPattern(t *testing.T) {
	if value, err := (approvals.Field{Name: "a", Type: approvals.String, Pattern: "("}).Read("x"); err == nil || value != nil {
		t.Errorf("%v, %v", value, err)
	}
}
