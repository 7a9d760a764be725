package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/server"
)

// demo is a desk on a demo database.
type demo struct {
	db   *store.DB
	desk *tools.Desk
}

func openDemo(t testing.TB) demo {
	t.Helper()
	db, err := fixtures.OpenDemo(filepath.Join(t.TempDir(), "demo.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	rules, err := tools.NewRulebook(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	return demo{db, tools.NewDesk(db, rules, tools.All)}
}

// staff is a caller who may use every tool, for C-1001.
func staff(customer string) tools.Caller {
	return tools.Caller{Token: fixtures.StaffToken, Customer: customer, Door: audit.MCP, Session: "s1"}
}

// serve starts a server on the demo for a caller; nothing is sent yet.
func (d demo) serve(t *testing.T, caller tools.Caller) *session {
	t.Helper()
	return d.serveTools(t, tools.All, caller)
}

// serveTools is serve with these tools.
func (d demo) serveTools(t *testing.T, list []*tools.Tool, caller tools.Caller) *session {
	t.Helper()
	in, client := io.Pipe()
	out, answers := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	x := &session{t: t, in: client, out: bufio.NewReaderSize(out, 4<<20), ended: make(chan error, 1), stop: stop}
	s := server.New(d.desk, list, caller, "test")
	go func() {
		x.ended <- server.Serve(ctx, s, in, answers, d.desk.StopWaiting)
		answers.Close()
	}()
	t.Cleanup(func() { // the database closes after this
		client.Close()
		go io.Copy(io.Discard, out)
		<-x.ended
		stop()
	})
	return x
}

const (
	initialize  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	// modern is the _meta of a request of protocol version 2026-07-28.
	modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// ask sends a request and returns its answer.
func (x *session) ask(method, params string) answer {
	x.t.Helper()
	x.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
	return x.receive()
}

// begin initializes the session and returns the server's answer.
func (x *session) begin() answer {
	x.t.Helper()
	x.send(initialize)
	a := x.receive()
	x.send(initialized)
	return a
}

func parsed[T any](t *testing.T, text json.RawMessage) (value T) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}
