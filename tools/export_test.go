package tools

import (
	"encoding/json"

	"github.com/invopop/jsonschema"
)

// DeriveOutputSchema derives the schema that OutputSchema returns from the Go
// struct of the tool's answers. It takes unknown fields and describes none: the
// names say what they are, and a list of tools is loaded whole.
func DeriveOutputSchema(t *Tool) (json.RawMessage, error) {
	reflector := &jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true}
	root := reflector.ReflectFromType(t.answers)
	root.Version = ""
	return json.MarshalIndent(root, "", "  ")
}
