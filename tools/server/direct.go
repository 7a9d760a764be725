package server

import (
	"context"
	"encoding/json"
	"slices"

	"countersign/tools"
)

// Direct takes a tools/call, by its params, past the SDK: it returns what makes
// the call for a client of that name, or nil where the SDK shall.
type Direct func(client string, params json.RawMessage) Call

// A Call makes a call and appends its result to room.
type Call func(ctx context.Context, room []byte) (result json.RawMessage)

// direct takes all calls past the SDK but those of a tool that isn't there or
// that may wait and tell of its progress, and those that name a protocol version
// of their own, as in 2026-07-28. The SDK's way from a line to a handler and back
// costs as much CPU as the call itself; without it twice as many are answered.
func (d door) direct(client string, params json.RawMessage) Call {
	var p map[string]json.RawMessage // a struct would take "Name" for "name"
	var name string
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p["name"], &name) != nil || !unversioned(p["_meta"]) {
		return nil
	}
	i := slices.IndexFunc(d.list, func(t *tools.Tool) bool { return t.Name == name })
	if i < 0 || d.list[i].Waits() {
		return nil
	}
	d.caller.Client = client
	return func(ctx context.Context, room []byte) json.RawMessage {
		return wire(room, d.desk.Call(ctx, d.caller, name, p["arguments"]))
	}
}

// unversioned reports whether a request's _meta leaves the protocol version to
// the session.
func unversioned(meta json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if meta != nil && json.Unmarshal(meta, &fields) != nil {
		return false
	}
	_, versioned := fields["io.modelcontextprotocol/protocolVersion"]
	return !versioned
}

// wire appends what [door.call] returns, as the SDK would write it, to line.
func wire(line []byte, res tools.Result) json.RawMessage {
	line = append(line, `{"content":[{"type":"text","text":"`...)
	for _, c := range res.JSON { // compact JSON holds nothing else that a string may not
		if c == '"' || c == '\\' {
			line = append(line, '\\')
		}
		line = append(line, c)
	}
	line = append(line, `"}],`...)
	if res.IsError {
		return append(line, `"isError":true}`...)
	}
	line = append(append(line, `"structuredContent":`...), res.JSON...)
	return append(line, '}')
}
