package approvals

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"countersign/approvals/envfile"
	"countersign/policy"
)

// Form is what a human is asked: the fields are both what is asked for and how
// the answer is checked.
type Form struct {
	Title        string  `json:"title"`
	Instructions string  `json:"instructions"`
	Context      string  `json:"context,omitempty"`
	Category     string  `json:"category"`
	Fields       []Field `json:"fields"`
}

// Field is one thing that is asked for.
type Field struct {
	Name     string   `json:"name"`
	Label    string   `json:"label,omitempty"`
	Type     string   `json:"type"`
	Required bool     `json:"required,omitempty"`
	Options  []string `json:"options,omitempty"` // of a choice
	Pattern  string   `json:"pattern,omitempty"` // RE2, for the whole of a string or secret
}

// Types of a field.
const (
	String  = "string"
	Number  = "number"
	Boolean = "boolean"
	Choice  = "choice"
	Secret  = "secret"
)

// Bounds of a form, in characters where nothing else is said.
const (
	mostFields  = 50
	mostOptions = 50
	mostName    = 64
	mostOption  = 200
	mostPattern = 300 // bytes
)

// fieldName keeps out what a command line or a terminal would take for its own.
var fieldName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*$`) })

// HasSecret reports whether a secret is asked for.
func (f Form) HasSecret() bool {
	return slices.ContainsFunc(f.Fields, func(field Field) bool { return field.Type == Secret })
}

// Check returns why the form can't be filled, nothing where it can.
func (f Form) Check() (problems []policy.Problem) {
	add := func(path, format string, args ...any) {
		problems = append(problems, policy.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if len(f.Fields) > mostFields {
		add("fields", "must have at most %d items", mostFields)
		return problems
	}
	seen := map[string]bool{}
	for i, field := range f.Fields {
		at := fmt.Sprintf("fields.%d.", i)
		folded := cases.Fold().String(norm.NFKC.String(field.Name))
		if seen[folded] {
			add(at+"name", "is the name of an earlier field")
		}
		seen[folded] = true
		for _, p := range field.problems() {
			add(at+p.Path, "%s", p.Message)
		}
	}
	return problems
}

func (f Field) problems() (problems []policy.Problem) {
	add := func(path, message string) { problems = append(problems, policy.Problem{Path: path, Message: message}) }
	switch {
	case f.Type == Secret && !envfile.ValidName(f.Name):
		add("name", "of a secret must be that of a variable: letters A to z, digits and _, no digit first")
	case !fieldName().MatchString(f.Name) || utf8.RuneCountInString(f.Name) > mostName:
		add("name", fmt.Sprintf("must be 1 to %d letters, digits, _, . or -, starting with none of the last two; say the rest in label", mostName))
	}
	switch f.Type {
	case String, Number, Boolean, Secret:
		if len(f.Options) > 0 {
			add("options", "are for a choice alone")
		}
	case Choice:
		if problem := optionProblem(f.Options); problem != "" {
			add("options", problem)
		}
	default:
		add("type", "must be one of string, number, boolean, choice, secret")
	}
	if f.Pattern == "" {
		return problems
	}
	if f.Type != String && f.Type != Secret {
		add("pattern", "is for a string or secret alone")
	} else if problem := patternProblem(f.Pattern); problem != "" {
		add("pattern", problem)
	}
	return problems
}

func optionProblem(options []string) string {
	if len(options) == 0 || len(options) > mostOptions {
		return fmt.Sprintf("must be 1 to %d for a choice", mostOptions)
	}
	seen := map[string]bool{}
	for _, option := range options {
		plain := strings.TrimSpace(option)
		switch {
		case plain == "" || plain != option || utf8.RuneCountInString(option) > mostOption || strings.ContainsFunc(option, isControl):
			return fmt.Sprintf("must each have 1 to %d visible characters, without blanks around them", mostOption)
		case seen[cases.Fold().String(plain)]:
			return "must differ, in more than case"
		}
		seen[cases.Fold().String(plain)] = true
	}
	return ""
}

func patternProblem(pattern string) string {
	if len(pattern) > mostPattern {
		return fmt.Sprintf("must have at most %d bytes", mostPattern)
	}
	if _, err := whole(pattern); err != nil {
		return "is not a regular expression of RE2 syntax (no lookaround, no backreferences), or a too large one"
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || impossible(parsed) {
		return "matches nothing"
	}
	return ""
}

// impossible reports whether an expression can't match anything.
func impossible(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpNoMatch:
		return true
	case syntax.OpCharClass:
		return len(e.Rune) == 0
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return slices.ContainsFunc(e.Sub, impossible)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(e.Sub, func(sub *syntax.Regexp) bool { return !impossible(sub) })
	}
	return false
}

// whole compiles a pattern that has to match all of a value.
func whole(pattern string) (*regexp.Regexp, error) { return regexp.Compile(`\A(?:` + pattern + `)\z`) }

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }
