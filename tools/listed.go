package tools

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

// listed holds the schemas of each tool's arguments and answers as clients see
// them. They are derived from the Go structs ahead of time, by
// `go test ./tools -update`: it would be the slowest part of a start.
//
//go:embed schemas/input/*.json schemas/output/*.json
var listed embed.FS

// Schema returns the JSON schema of the tool's arguments.
func (t *Tool) Schema() json.RawMessage {
	if text := t.listedSchema("input"); text != nil {
		return text
	}
	return t.schema().json // a tool that is being written
}

// OutputSchema returns the JSON schema of the tool's answers, refusals apart; nil
// where none is derived yet.
func (t *Tool) OutputSchema() json.RawMessage { return t.listedSchema("output") }

func (t *Tool) listedSchema(of string) json.RawMessage {
	name := "schemas/" + of + "/" + t.Name + ".json"
	text, err := listed.ReadFile(name)
	if err != nil {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return compact.Bytes()
}
