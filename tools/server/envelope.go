package server

import (
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxNesting bounds the depth of a message; SDK and validator recurse.
const maxNesting = 100

// envelope is a JSON-RPC 2.0 message as it came over the wire.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// parseEnvelope reads one line. A wire error says what is wrong with it; the
// envelope then holds what could be read, so that the answer can name the id.
func parseEnvelope(line []byte) (e envelope, fault *jsonrpc.Error) {
	err := json.Unmarshal(line, &e)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return envelope{}, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "parse error: send one JSON-RPC message a line"}
	case line[0] == '[':
		return envelope{}, invalidRequest("batches are not supported: send one message a line")
	case err != nil || e.Version != "2.0":
		return e, invalidRequest("not a JSON-RPC 2.0 message")
	case e.ID != nil && !validID(e.ID):
		return envelope{}, invalidRequest("an id is a string or an integer")
	case e.isResponse():
		return e, nil
	case e.Method == nil:
		return e, invalidRequest("there is no method")
	case len(e.Params) > 0 && e.Params[0] != '{' && string(e.Params) != "null":
		return e, invalidRequest("params must be an object")
	case nesting(line) > maxNesting:
		return e, invalidRequest("nested too deeply")
	}
	return e, nil
}

func (e envelope) isResponse() bool { return e.Method == nil && (e.Result != nil || e.Error != nil) }

func invalidRequest(why string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "invalid request: " + why}
}

// validID reports whether raw JSON is an id that MCP allows. A missing one is a
// notification's and not asked here.
func validID(raw json.RawMessage) bool {
	if len(raw) > 0 && raw[0] == '"' {
		return utf8.Valid(raw) // it comes back as it is
	}
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil
}

// nesting is how deep the brackets of valid JSON go.
func nesting(text []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
