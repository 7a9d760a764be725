package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"

	"github.com/invopop/jsonschema"
)

// schema is what a tool's arguments must be: the JSON that clients see, and the
// same as a tree that arguments are checked against.
type schema struct {
	json     json.RawMessage
	root     *jsonschema.Schema
	patterns map[string]*regexp.Regexp
}

// schemaOf derives the schema of a tool's arguments from its Go struct. It
// panics on a struct that has none, or whose schema says more than check knows:
// that is a mistake in the program.
func schemaOf(args reflect.Type) schema {
	reflector := &jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	root := reflector.ReflectFromType(args)
	root.Version = ""
	text, err := json.Marshal(root)
	if err != nil {
		panic(fmt.Sprintf("schema of %v: %v", args, err))
	}
	s := schema{json: text, root: root, patterns: map[string]*regexp.Regexp{}}
	if err := s.prepare(root); err != nil {
		panic(fmt.Sprintf("schema of %v: %v", args, err))
	}
	return s
}

// prepare compiles the patterns below a node and refuses keywords that check
// would pass over.
func (s schema) prepare(node *jsonschema.Schema) (err error) {
	if node.Pattern != "" {
		if s.patterns[node.Pattern], err = regexp.Compile(node.Pattern); err != nil {
			return err
		}
	}
	switch node.Type {
	case "string", "integer", "boolean":
	case "array":
		if node.Items == nil {
			return fmt.Errorf("an array of anything")
		}
		if node.UniqueItems || node.Contains != nil {
			return fmt.Errorf("an array with a keyword that is not checked")
		}
		return s.prepare(node.Items)
	case "object":
		if node.AdditionalProperties == nil || node.Properties == nil {
			return fmt.Errorf("an object of anything")
		}
		for pair := node.Properties.Oldest(); pair != nil && err == nil; pair = pair.Next() {
			err = s.prepare(pair.Value)
		}
		return err
	default:
		return fmt.Errorf("the type %q is not checked", node.Type)
	}
	checked := jsonschema.Schema{
		Type: node.Type, Enum: node.Enum, Pattern: node.Pattern, MinLength: node.MinLength, MaxLength: node.MaxLength,
		Minimum: node.Minimum, Maximum: node.Maximum,
		Description: node.Description, Examples: node.Examples, Default: node.Default,
	}
	if !reflect.DeepEqual(*node, checked) {
		return fmt.Errorf("a %s with a keyword that is not checked", node.Type)
	}
	return nil
}
