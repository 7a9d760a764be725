package approvals

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"

	"countersign/approvals/envfile"
)

// Answer is what a human entered into a form: what the agent may read, and the
// secrets, which it may not. It is sealed before it is stored.
type Answer struct {
	Values  map[string]any    `json:"values"`            // string, json.Number or bool, by the field's name
	Secrets map[string]string `json:"secrets,omitempty"` // until they are written
	Written map[string]string `json:"written,omitempty"` // by the secret's name: the path of the file that took it
	Passed  []string          `json:"passed,omitempty"`  // those of Written that a newer answer was found for there
}

const (
	// mostText is how many characters an answer to one field may have.
	mostText = 10_000
	// mostAnswer is how many bytes of JSON the values may have: all of them reach
	// the agent in one result.
	mostAnswer = 16_000
)

// FieldError says what is wrong with an answer, without repeating it.
type FieldError struct {
	Field  string // "" for the answer as a whole
	Reason string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return "the answer " + e.Reason
	}
	return e.Field + " " + e.Reason
}

// Fill checks what was entered, by field name, against the form, and returns it
// typed. An empty text is no answer. The error is a [*FieldError].
func (f Form) Fill(entered map[string]string) (Answer, error) {
	a := Answer{Values: map[string]any{}}
	for name := range entered {
		if !slices.ContainsFunc(f.Fields, func(field Field) bool { return field.Name == name }) {
			return a, &FieldError{Reason: "has a value for a field that the form doesn't have; it has: " + strings.Join(f.names(), ", ")}
		}
	}
	for _, field := range f.Fields {
		value, err := field.Read(entered[field.Name])
		switch {
		case err != nil:
			return a, err
		case value == nil:
		case field.Type == Secret:
			if a.Secrets == nil {
				a.Secrets = map[string]string{}
			}
			a.Secrets[field.Name] = value.(string)
		default:
			a.Values[field.Name] = value
		}
	}
	text, err := json.Marshal(a.Values)
	if err != nil {
		return a, &FieldError{Reason: "can't be written as JSON"}
	}
	if len(text) > mostAnswer {
		return a, &FieldError{Reason: fmt.Sprintf("has %d bytes, and an agent can read %d of one; shorten it, or say where the rest is", len(text), mostAnswer)}
	}
	return a, nil
}

func (f Form) names() (names []string) {
	for _, field := range f.Fields {
		names = append(names, field.Name)
	}
	return names
}

// quotedOptions are a choice's options for a person, in quotes where a comma in
// one could be taken for the one between two.
func (f Field) quotedOptions() string {
	options := slices.Clone(f.Options)
	if slices.ContainsFunc(options, func(option string) bool { return strings.Contains(option, ",") }) {
		for i, option := range options {
			options[i] = `"` + option + `"`
		}
	}
	return strings.Join(options, ", ")
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?$`) })

// Read checks a text against the field and returns it typed, nil for an empty
// one. The error is a [*FieldError].
func (f Field) Read(text string) (value any, err error) {
	refuse := func(format string, args ...any) (any, error) {
		return nil, &FieldError{Field: f.Name, Reason: fmt.Sprintf(format, args...)}
	}
	if f.Type != String && f.Type != Secret {
		text = strings.TrimSpace(text)
	}
	switch length := utf8.RuneCountInString(text); {
	case text == "" && f.Required:
		return refuse("is required")
	case text == "":
		return nil, nil
	case !utf8.ValidString(text):
		return refuse("isn't valid UTF-8")
	case length > mostText:
		return refuse("has %d characters, more than %d", length, mostText)
	}
	switch f.Type {
	case Number:
		if !number().MatchString(text) {
			return refuse("must be a number, such as 12 or -0.5")
		}
		return json.Number(text), nil
	case Boolean:
		switch strings.ToLower(text) {
		case "true", "yes", "y":
			return true, nil
		case "false", "no", "n":
			return false, nil
		}
		return refuse("must be yes or no")
	case Choice:
		for _, option := range f.Options {
			if cases.Fold().String(option) == cases.Fold().String(text) {
				return option, nil
			}
		}
		return refuse("must be one of: %s", f.quotedOptions())
	}
	if strings.ContainsFunc(text, unenterable) {
		return refuse("holds a control character")
	}
	if f.Pattern != "" {
		pattern, err := whole(f.Pattern)
		if err != nil || !pattern.MatchString(text) {
			return refuse("doesn't match its pattern %s", f.Pattern)
		}
	}
	if f.Type == Secret {
		if err := envfile.Check(text); err != nil {
			return refuse("isn't taken: %s", err)
		}
	}
	return text, nil
}
