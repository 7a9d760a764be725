package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
	"countersign/tools"
	"countersign/tools/server"
)

// serveCounting is [demo.serve] that also counts the calls that go past the SDK.
func (d demo) serveCounting(t *testing.T, list []*tools.Tool, caller tools.Caller) (x *session, taken *int) {
	t.Helper()
	s := server.New(d.desk, list, caller, "test")
	taken = new(int)
	direct := s.Direct
	s.Direct = func(client string, params json.RawMessage) server.Call {
		call := direct(client, params)
		if call != nil {
			*taken++
		}
		return call
	}
	in, client := io.Pipe()
	out, answers := io.Pipe()
	x = &session{t: t, in: client, out: bufio.NewReaderSize(out, 4<<20), ended: make(chan error, 1)}
	go func() { x.ended <- server.Serve(context.Background(), s, in, answers, d.desk.StopWaiting) }()
	t.Cleanup(func() { // the database closes after this
		client.Close()
		go io.Copy(io.Discard, out)
		<-x.ended
	})
	return x, taken
}

// A call gets the same answer and the same audit row whether it takes the SDK's
// way or goes past it: this one names a protocol version to go the SDK's.
func TestDirectAnswersAsTheSDK(t *testing.T) {
	const versioned = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}`
	for name, params := range map[string]string{
		"no arguments":     `{"name":"lookup_customer"`,
		"arguments":        `{"name":"get_order","arguments":{"order_id":"NW-5006"}`,
		"long texts":       `{"name":"search_help_center","arguments":{"query":"refund \"<&>\" \\ é 退"}`,
		"null arguments":   `{"name":"lookup_customer","arguments":null`,
		"list as argument": `{"name":"get_order","arguments":[]`,
		"wrong arguments":  `{"name":"get_order","arguments":{"orderId":"<b>\"'&\u2028"}`,
		"unknown order":    `{"name":"get_order","arguments":{"order_id":"NW-9999"}`,
		"foreign order":    `{"name":"track_shipment","arguments":{"order_id":"NW-5101"}`,
		"refused":          `{"name":"issue_refund","arguments":{"order_id":"NW-5004","reason":"too late"}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := openDemo(t)
			var rows []store.AuditRow
			d.db.Audited = func(row store.AuditRow) { rows = append(rows, row) }
			x, taken := d.serveCounting(t, tools.All, staff("C-1001"))
			x.begin()
			bySDK := x.ask("tools/call", params+versioned+"}")
			if *taken != 0 {
				t.Fatal("the first call didn't take the SDK's way")
			}
			direct := x.ask("tools/call", params+`,"_meta":{"progressToken":1}}`)
			if *taken != 1 {
				t.Fatal("the second call took the SDK's way")
			}
			if diff := cmp.Diff(parsed[any](t, bySDK.Result), parsed[any](t, direct.Result)); diff != "" {
				t.Errorf("answers differ (-SDK +direct):\n%s", diff)
			}
			for i := range rows {
				rows[i].Seq, rows[i].At, rows[i].DurationUS, rows[i].PrevHash, rows[i].Hash = 0, "", 0, "", ""
			}
			if diff := cmp.Diff(rows[0], rows[1]); diff != "" || rows[0].Client != "t" {
				t.Errorf("audit rows of client %q differ:\n%s", rows[0].Client, diff)
			}
		})
	}
}

// What only the SDK knows how to answer is left to it.
func TestLeftToTheSDK(t *testing.T) {
	const lookup = `"name":"lookup_customer"`
	d := openDemo(t)
	list := slices.Concat(tools.All, tools.Human)
	t.Run("before initialize", func(t *testing.T) {
		x, taken := d.serveCounting(t, list, staff("C-1001"))
		if got := x.ask("tools/call", `{`+lookup+`}`); got.Error == nil || *taken != 0 {
			t.Errorf("got %s, %d direct", got.Result, *taken)
		}
	})
	x, taken := d.serveCounting(t, list, staff("C-1001"))
	if got := x.begin(); got.Error != nil {
		t.Fatalf("initialize: %+v", got)
	}
	for name, params := range map[string]string{
		"2026-07-28":         `{` + lookup + `,` + modern + `}`,
		"another version":    `{` + lookup + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}`,
		"unknown tool":       `{"name":"delete_everything"}`,
		"name in other case": `{"Name":"lookup_customer"}`,
		"name of no text":    `{"name":5}`,
		"no params":          `null`,
		"meta of no object":  `{` + lookup + `,"_meta":5}`,
		"a tool that waits":  `{"name":"check_request","arguments":{"request_id":"RQ-0000000000"}}`,
		"one that lets wait": `{"name":"request_human","arguments":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := x.ask("tools/call", params); got.Result == nil && got.Error == nil || *taken != 0 {
				t.Errorf("got %+v, %d direct", got, *taken)
			}
		})
	}
	if got := x.ask("tools/call", `{`+lookup+`}`); got.Error != nil || *taken != 1 {
		t.Errorf("a usual call got %+v, %d direct", got, *taken)
	}
}
