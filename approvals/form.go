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
			add(at+"name", "is the name of an earlier field (upper and lower case count as the same)")
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
	case f.Type == Secret && steers(f.Name):
		add("name", "of a secret may not be a variable that changes how programs start; name it after what it is for")
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
	} else if problem := patternProblem(f.Pattern, f.Required); problem != "" {
		add("pattern", problem)
	}
	return problems
}

// steering are variables, and prefixes that end in _, by which whoever loads the
// file would run other programs than it means to, or run them elsewhere.
var steering = []string{
	"PATH", "PATHEXT", "HOME", "USERPROFILE", "SHELL", "COMSPEC", "SYSTEMROOT", "PWD", "CDPATH", "TMPDIR", "XDG_",
	"IFS", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "PS4", "PROMPT_COMMAND", "ZDOTDIR",
	"EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXEC_PATH", "SSH_ASKPASS", "SUDO_ASKPASS",
	"LD_", "DYLD_", "GLIBC_TUNABLES", "GCONV_PATH", "OPENSSL_CONF", "NODE_OPTIONS", "NODE_PATH",
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONINSPECT", "RUBYOPT", "RUBYLIB", "PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GOFLAGS", "GOTOOLCHAIN", "PHPRC", "PHP_INI_SCAN_DIR",
	"COUNTERSIGN_DB", "COUNTERSIGN_KEY", "COUNTERSIGN_POLICY", "COUNTERSIGN_TOOLSETS", "COUNTERSIGN_ENV_FILE",
}

// steers reports whether a variable changes how programs start.
func steers(name string) bool {
	name = strings.ToUpper(name) // Windows knows no case
	return slices.ContainsFunc(steering, func(s string) bool {
		return name == s || strings.HasSuffix(s, "_") && strings.HasPrefix(name, s)
	})
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

func patternProblem(pattern string, required bool) string {
	if len(pattern) > mostPattern {
		return fmt.Sprintf("must have at most %d bytes", mostPattern)
	}
	if _, err := whole(pattern); err != nil {
		return "is not a regular expression of RE2 syntax (no lookaround, no backreferences), or a too large one"
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil || !fillable(pattern, !required) {
		return "matches nothing that could be entered"
	}
	return ""
}

// whole compiles a pattern that has to match all of a value.
func whole(pattern string) (*regexp.Regexp, error) { return regexp.Compile(anchored(pattern)) }

func anchored(pattern string) string { return `\A(?:` + pattern + `)\z` }

// unenterable reports what an answer may not have in it.
func unenterable(r rune) bool { return isControl(r) && r != '\n' && r != '\t' }

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }
