package server

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// answer sends a response of our own.
func (p *pipe) answer(id, result json.RawMessage, fault *jsonrpc.Error) {
	_ = p.write(id, result, fault) // send sees to a client that is gone
}

// write sends a response.
func (p *pipe) write(id, result json.RawMessage, fault *jsonrpc.Error) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	member, value := `,"result":`, result
	if fault != nil {
		text, err := json.Marshal(fault)
		if err != nil {
			return err
		}
		member, value = `,"error":`, text
	}
	return p.send([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(member), value, []byte("}"))
}

// send writes one line, put together of parts. After one that can't be written no
// request is taken: what it did nobody would hear of.
func (p *pipe) send(parts ...[]byte) error {
	p.writing.Lock()
	line := p.line[:0]
	for _, part := range parts {
		line = append(line, part...)
	}
	line = append(line, '\n')
	if cap(line) <= keptLine {
		p.line = line
	}
	_, err := p.out.Write(line)
	p.writing.Unlock()
	if err != nil {
		p.refuse()
		p.leaving.Do(func() { close(p.gone) })
	}
	return err
}

// wireError is what a client may read of the SDK's errors. Some have no code,
// and some quote what was sent and Go's types.
func wireError(err error) *jsonrpc.Error {
	if err == nil {
		return nil
	}
	var e *jsonrpc.Error
	switch {
	case !errors.As(err, &e) || e.Code == 0:
		return invalidRequest("the session is not initialized, or is already")
	case e.Code == jsonrpc.CodeInvalidParams && !slices.Contains(plainMessages, e.Message):
		return &jsonrpc.Error{Code: e.Code, Message: "invalid params", Data: e.Data}
	}
	return e
}
