package tools

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"countersign/policy"
)

// decode checks raw against the schema and stores it in args, a pointer to the
// struct that the schema came from. It returns all problems, sorted by path;
// none echoes a value, which may be personal.
func (s schema) decode(raw json.RawMessage, args any) []policy.Problem {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	doc, problem := strictJSON(raw)
	if problem != nil {
		return []policy.Problem{*problem}
	}
	if err := s.compiled().Validate(doc); err != nil {
		var problems []policy.Problem
		collect(err.(*validator.ValidationError), s.compiled(), doc, &problems)
		slices.SortFunc(problems, func(a, b policy.Problem) int {
			return strings.Compare(a.Path+"\x00"+a.Message, b.Path+"\x00"+b.Message)
		})
		return slices.Compact(problems)
	}
	if err := json.Unmarshal(raw, args); err != nil {
		return []policy.Problem{{Message: "can't be read"}} // the schema let pass what the struct can't hold
	}
	return nil
}

// collect walks the validator's tree of errors down to its leaves.
func collect(e *validator.ValidationError, s *validator.Schema, doc any, problems *[]policy.Problem) {
	for _, cause := range e.Causes {
		collect(cause, s, doc, problems)
	}
	add := func(path []string, format string, args ...any) {
		short := make([]string, len(path))
		for i, key := range path {
			short[i] = shortKey(key)
		}
		*problems = append(*problems, policy.Problem{Path: strings.Join(short, "."), Message: fmt.Sprintf(format, args...)})
	}
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add(append(slices.Clone(at), name), "is required")
		}
	case *kind.AdditionalProperties:
		known := properties(s, at)
		for _, name := range k.Properties {
			add(append(slices.Clone(at), name), "unknown field %s%s", quoteKey(name), suggestion(name, known))
		}
	case *kind.Type:
		add(at, "must be %s, not %s%s", article(strings.Join(k.Want, " or ")), article(k.Got), asString(k, lookUp(doc, at)))
	case *kind.Enum:
		add(at, "must be one of %s", quoteAll(k.Want))
	case *kind.MinLength:
		add(at, "must have at least %d characters; it has %d", k.Want, k.Got)
	case *kind.MaxLength:
		add(at, "must have at most %d characters; it has %d", k.Want, k.Got)
	case *kind.Minimum:
		add(at, "must be at least %s", k.Want.RatString())
	case *kind.Maximum:
		add(at, "must be at most %s", k.Want.RatString())
	case *kind.Pattern:
		add(at, "must match %s%s", k.Want, example(s, at))
	default:
		if len(e.Causes) == 0 {
			add(at, "doesn't fit the schema")
		}
	}
}

// asString tells who sent a number where a string belongs what to send.
func asString(k *kind.Type, value any) string {
	number, ok := value.(json.Number)
	if !ok || !slices.Contains(k.Want, "string") || strings.ContainsAny(number.String(), "eE") {
		return ""
	}
	return fmt.Sprintf("; send it as a string: %q", number.String())
}

// lookUp returns the value at a path of decoded JSON.
func lookUp(doc any, path []string) any {
	for _, key := range path {
		switch node := doc.(type) {
		case map[string]any:
			doc = node[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(node) {
				return nil
			}
			doc = node[i]
		}
	}
	return doc
}

// subschema returns the schema of the value at a path.
func subschema(s *validator.Schema, path []string) *validator.Schema {
	for _, key := range path {
		switch next := s.Properties[key]; {
		case next != nil:
			s = next
		case s.Items2020 != nil:
			s = s.Items2020
		default:
			return nil
		}
	}
	return s
}

func properties(s *validator.Schema, path []string) (names []string) {
	if s = subschema(s, path); s == nil {
		return nil
	}
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// example quotes the first example that the schema gives for a field.
func example(s *validator.Schema, path []string) string {
	if s = subschema(s, path); s == nil || len(s.Examples) == 0 {
		return ""
	}
	return fmt.Sprintf("; for example %q", s.Examples[0])
}

// suggestion names the field that was probably meant.
func suggestion(name string, known []string) string {
	best, least := "", 3 // more than two edits are another word
	for _, candidate := range known {
		if d := distance(plain(name), plain(candidate)); d < least {
			best, least = candidate, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	if len(known) == 0 {
		return "; this takes no fields"
	}
	return "; the fields are " + strings.Join(known, ", ")
}

// plain folds orderId, order-id and ORDER_ID together.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	const long = 40
	if len(a) > long || len(b) > long {
		return long
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// identifier is what a field's name may be to be repeated in an answer.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)

func shortKey(key string) string {
	if identifier.MatchString(key) || onlyDigits(key) {
		return key
	}
	return "?"
}

func quoteKey(key string) string { return fmt.Sprintf("%q", shortKey(key)) }

func onlyDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func quoteAll(values []any) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = fmt.Sprintf("%q", fmt.Sprint(value))
	}
	return strings.Join(quoted, ", ")
}

func article(noun string) string {
	switch {
	case noun == "null":
		return noun
	case strings.ContainsRune("aeiou", rune(noun[0])):
		return "an " + noun
	}
	return "a " + noun
}
