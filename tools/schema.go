package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is what a tool's arguments must be: the JSON that clients see, and its
// compiled form, made when a call first needs it.
type schema struct {
	json     json.RawMessage
	compiled func() *validator.Schema
}

// schemaOf derives the schema of a tool's arguments from its Go struct. It
// panics on a struct that has none: that is a mistake in the program.
func schemaOf(args reflect.Type) schema {
	reflector := &jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	reflected := reflector.ReflectFromType(args)
	reflected.Version = ""
	text, err := json.Marshal(reflected)
	if err != nil {
		panic(fmt.Sprintf("schema of %v: %v", args, err))
	}
	return schema{json: text, compiled: sync.OnceValue(func() *validator.Schema { return compile(text) })}
}

func compile(text []byte) *validator.Schema {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	compiler := validator.NewCompiler()
	if err := compiler.AddResource("arguments.json", doc); err != nil {
		panic(err)
	}
	return compiler.MustCompile("arguments.json")
}
