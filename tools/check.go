package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"countersign/policy"
	"countersign/store/strictjson"
)

// maxDepth bounds how deep arguments may be nested.
const maxDepth = 16

// decode checks raw against the schema and stores it in args, a pointer to the
// struct that the schema came from. It returns all problems, sorted by path;
// none echoes a value, which may be personal.
func (s schema) decode(raw json.RawMessage, args any) []policy.Problem {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	value, err := strictjson.Decode(raw, maxDepth)
	var fault *strictjson.Error
	if errors.As(err, &fault) {
		return []policy.Problem{{Path: strictjson.SafePath(fault.Path), Message: fault.Error()}}
	}
	c := checker{schema: s}
	c.value(s.root, value, nil)
	if len(c.problems) > 0 {
		slices.SortFunc(c.problems, func(a, b policy.Problem) int {
			return strings.Compare(a.Path+"\x00"+a.Message, b.Path+"\x00"+b.Message)
		})
		return slices.Compact(c.problems)
	}
	if err := json.Unmarshal(raw, args); err != nil {
		return []policy.Problem{{Message: "can't be read"}} // the schema let pass what the struct can't hold
	}
	return nil
}

// checker collects what of a value doesn't fit a schema.
type checker struct {
	schema
	problems []policy.Problem
}

func (c *checker) add(path []string, format string, args ...any) {
	c.problems = append(c.problems, policy.Problem{Path: strictjson.SafePath(path), Message: fmt.Sprintf(format, args...)})
}

func (c *checker) value(node *jsonschema.Schema, value any, path []string) {
	switch v := value.(type) {
	case map[string]any:
		if node.Type == "object" {
			c.object(node, v, path)
			return
		}
	case []any:
		if node.Type == "array" {
			c.array(node, v, path)
			return
		}
	case string:
		if node.Type == "string" {
			c.string(node, v, path)
			return
		}
	case json.Number:
		if node.Type == "integer" {
			c.integer(node, v, path)
			return
		}
	case bool:
		if node.Type == "boolean" {
			return
		}
	}
	hint := ""
	if number, ok := value.(json.Number); ok && node.Type == "string" && len(number) <= longNumber {
		hint = fmt.Sprintf("; send it as a string: %q", number.String())
	}
	c.add(path, "must be %s, not %s%s", article(node.Type), article(typeOf(value)), hint)
}

// longNumber is what is still shown of a number that was sent, in characters.
const longNumber = 32

func (c *checker) object(node *jsonschema.Schema, object map[string]any, path []string) {
	for _, name := range node.Required {
		if _, ok := object[name]; !ok {
			c.add(append(path, name), "is required")
		}
	}
	var known []string
	for pair := node.Properties.Oldest(); pair != nil; pair = pair.Next() {
		known = append(known, pair.Key)
	}
	for name, value := range object {
		if property, ok := node.Properties.Get(name); ok {
			c.value(property, value, append(path, name))
		} else {
			c.add(append(path, name), "unknown field %s%s", quoteKey(name), suggestion(name, known))
		}
	}
}

func (c *checker) array(node *jsonschema.Schema, array []any, path []string) {
	if node.MaxItems != nil && uint64(len(array)) > *node.MaxItems {
		c.add(path, "must have at most %d items; it has %d", *node.MaxItems, len(array))
		return
	}
	if node.MinItems != nil && uint64(len(array)) < *node.MinItems {
		c.add(path, "must have at least %d items; it has %d", *node.MinItems, len(array))
	}
	for i, element := range array {
		c.value(node.Items, element, append(path, strconv.Itoa(i)))
	}
}

func (c *checker) string(node *jsonschema.Schema, text string, path []string) {
	length := uint64(utf8.RuneCountInString(text))
	switch {
	case node.MinLength != nil && length < *node.MinLength:
		c.add(path, "must have at least %d characters; it has %d", *node.MinLength, length)
	case node.MaxLength != nil && length > *node.MaxLength:
		c.add(path, "must have at most %d characters; it has %d", *node.MaxLength, length)
	case len(node.Enum) > 0 && !slices.Contains(node.Enum, any(text)):
		c.add(path, "must be one of %s", quoteAll(node.Enum))
	case node.Pattern != "" && !c.patterns[node.Pattern].MatchString(text):
		example := ""
		if len(node.Examples) > 0 {
			example = fmt.Sprintf("; for example %q", node.Examples[0])
		}
		c.add(path, "must match %s%s", node.Pattern, example)
	}
}

func (c *checker) integer(node *jsonschema.Schema, number json.Number, path []string) {
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil {
		c.add(path, "must be a plain whole number")
		return
	}
	if least, err := node.Minimum.Int64(); err == nil && n < least {
		c.add(path, "must be at least %d", least)
	}
	if most, err := node.Maximum.Int64(); err == nil && n > most {
		c.add(path, "must be at most %d", most)
	}
}

// typeOf is the name that a schema has for the type of decoded JSON.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
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

func quoteAll(values []any) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = fmt.Sprintf("%q", fmt.Sprint(value))
	}
	return strings.Join(quoted, ", ")
}
