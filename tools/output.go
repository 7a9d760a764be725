package tools

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

// outputSchemas holds the schema of each tool's answer. They are derived from the
// Go structs ahead of time, by `go test ./tools -update`: answers are larger than
// arguments, and deriving them would be the slowest part of a start.
//
//go:embed schemas/*.json
var outputSchemas embed.FS

// OutputSchema returns the JSON schema of the tool's answers, refusals apart; nil
// where none is derived yet.
func (t *Tool) OutputSchema() json.RawMessage {
	text, err := outputSchemas.ReadFile("schemas/" + t.Name + ".json")
	if err != nil {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		panic(fmt.Sprintf("output schema of %s: %v", t.Name, err))
	}
	return compact.Bytes()
}
