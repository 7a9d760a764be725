package tools

import (
	"bytes"
	"encoding/json"

	"github.com/invopop/jsonschema"
)

// DeriveSchema derives the schema that Schema returns from the Go struct of the
// tool's arguments.
func DeriveSchema(t *Tool) (json.RawMessage, error) {
	var indented bytes.Buffer
	err := json.Indent(&indented, t.schema().json, "", "  ")
	return indented.Bytes(), err
}

// DeriveOutputSchema derives the schema that OutputSchema returns from the Go
// struct of the tool's answers. It takes unknown fields and describes none: the
// names say what they are, and a list of tools is loaded whole.
func DeriveOutputSchema(t *Tool) (json.RawMessage, error) {
	reflector := &jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true}
	root := reflector.ReflectFromType(t.answers)
	root.Version = ""
	return json.MarshalIndent(root, "", "  ")
}
