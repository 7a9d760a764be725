package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/store"
	"countersign/tools"
	"countersign/tools/server"
)

// linesVariable says how many lines TestGeneratedLines sends in place of
// usualLines.
const (
	linesVariable = "COUNTERSIGN_LINES"
	usualLines    = 20_000
	// linesEach is how many of them one session gets.
	linesEach = 500
	// answersWithin is when a server counts as hanging.
	answersWithin = 2 * time.Minute
)

// survive sends text to a server on the demo and then a request of its own, and
// returns what is wrong: no answer to that one, output that is no message, or an
// error at the end.
func (d demo) survive(text []byte) error {
	in, client := io.Pipe()
	out, answers := io.Pipe()
	s := server.New(d.desk, tools.All, staff("C-1001"), "test")
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(context.Background(), s, in, answers, d.desk.StopWaiting)
		in.CloseWithError(io.ErrClosedPipe)
		answers.Close()
	}()
	hung := time.AfterFunc(answersWithin, func() { client.Close(); out.CloseWithError(context.DeadlineExceeded) })
	defer hung.Stop()

	fresh := strconv.Quote(fmt.Sprint("fresh ", rand.Uint64()))
	last := make(chan bool, 1)
	go func() { // the answer that is waited for comes before the end of the input
		_, _ = client.Write(append(bytes.Clone(text), '\n'))
		_, _ = io.WriteString(client, `{"jsonrpc":"2.0","id":`+fresh+`,"method":"ping"}`+"\n")
		<-last
		client.Close()
	}()
	answered := false
	defer func() {
		if !answered {
			close(last)
		}
	}()
	for lines := bufio.NewReaderSize(out, 1<<20); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			break
		}
		if err != nil {
			return fmt.Errorf("reading what it says: %w", err)
		}
		if err := message(line); err != nil {
			return fmt.Errorf("%w: %.300q", err, line)
		}
		if !answered && bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`+fresh+`,"result":`)) {
			answered = true
			close(last)
		}
	}
	if err := <-ended; err != nil {
		return fmt.Errorf("the server ends with: %w", err)
	}
	if !answered {
		return fmt.Errorf("no answer to the last request")
	}
	return nil
}

// message returns what is wrong with a line of the server.
func message(line []byte) error {
	var m struct {
		Version       string          `json:"jsonrpc"`
		ID            json.RawMessage `json:"id"`
		Method        string          `json:"method"`
		Result, Error json.RawMessage
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	if err := decoder.Decode(&m); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("more than one message on a line")
	}
	response := m.ID != nil && (m.Result != nil) != (m.Error != nil) && m.Method == ""
	notification := m.ID == nil && m.Method != "" && m.Result == nil && m.Error == nil
	if m.Version != "2.0" || !response && !notification {
		return fmt.Errorf("not a message")
	}
	return nil
}

// requests are valid lines of every kind, to begin with.
func requests() (lines []string) {
	request := func(method, params string) {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, len(lines), method, params))
		if strings.HasPrefix(params, "{") && params != "{}" {
			lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":"m%d","method":%q,"params":{%s,%s}`, len(lines), method, modern, params[1:]))
		}
	}
	lines = append(lines, initialize, initialized, `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{`+modern+`}}`)
	for _, call := range [][2]string{
		{"lookup_customer", `{}`},
		{"get_order", `{"order_id":"#nw-5001 "}`},
		{"get_order", `{"order_id":"NW-5101"}`},
		{"track_shipment", `{"order_id":"NW-5006"}`},
		{"issue_refund", `{"order_id":"NW-5001","reason":"they don't fit"}`},
		{"issue_refund", `{"order_id":"NW-5004","reason":"they don't fit"}`},
		{"search_help_center", `{"query":"how long does a refund take","limit":2}`},
		{"update_shipping_address", `{"order_id":"NW-5003","address":{"line1":"1 Elm St","city":"Bend","region":"OR","postal_code":"97702","country":"US"}}`},
		{"issue_refund", `{"order_id":"NW-5002","amount":"1.50","currency":"USD","reason":"a hole","another":true}`},
		{"escalate_to_human", `{"summary":"please call the customer back","category":"other","priority":"high"}`},
		{"no_such_tool", `[1,2,{"a":null}]`},
	} {
		request("tools/call", `{"name":"`+call[0]+`","arguments":`+call[1]+`}`)
	}
	for _, uri := range []string{"policy", "articles/HC-14", "approvals/AP-0001", "tickets/TK-0001", "no/such"} {
		request("resources/read", `{"uri":"countersign://`+uri+`"}`)
		request("resources/subscribe", `{"uri":"countersign://`+uri+`"}`)
		request("resources/unsubscribe", `{"uri":"countersign://`+uri+`"}`)
	}
	request("prompts/get", `{"name":"support","arguments":{}}`)
	request("logging/setLevel", `{"level":"debug"}`)
	request("completion/complete", `{"ref":{"type":"ref/prompt","name":"support"},"argument":{"name":"x","value":"y"}}`)
	request("subscriptions/listen", `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["countersign://policy"]}}`)
	for _, method := range []string{"ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list", "no/such"} {
		request(method, `{}`)
		request(method, `{"cursor":"x"}`)
	}
	return append(lines, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}`, `{"jsonrpc":"2.0","id":6,"error":{"code":-1,"message":"x"}}`)
}

// FuzzLines sends any bytes, as lines, to a server on a demo database.
func FuzzLines(f *testing.F) {
	lines := requests()
	all := strings.Join(lines, "\n")
	f.Add([]byte(all))
	f.Add([]byte(strings.ReplaceAll(all, "\n", "\r\n\n \t")))
	for _, line := range lines {
		f.Add([]byte(line))
		f.Add([]byte(initialize + "\n" + initialized + "\n" + line))
	}
	f.Add([]byte("\ufeff[]\n{}\nnull\n\"\"\n1e999\n{\"jsonrpc\":\"2.0\",\"id\":1.5}"))
	f.Add(bytes.Repeat([]byte("["), 3000))
	d := openDemo(f)
	d.desk.Faulted = func(action string, fault error) { panic(fmt.Sprint(action, ": ", fault)) }
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := d.survive(text); err != nil {
			t.Error(err)
		}
	})
}

// TestGeneratedLines sends mutations of valid requests, the same in every run.
func TestGeneratedLines(t *testing.T) {
	total := usualLines
	if text := os.Getenv(linesVariable); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", linesVariable, err)
		}
	}
	d := openDemo(t)
	var faults atomic.Int64
	d.desk.Faulted = func(action string, fault error) { faults.Add(1); t.Errorf("fault in %s: %v", action, fault) }
	var counting sync.Mutex
	counted := map[string]int{} // audit rows by action and outcome
	d.db.Audited = func(r store.AuditRow) {
		counting.Lock()
		defer counting.Unlock()
		counted[r.Action+" "+r.Outcome]++
	}
	m := mutator{rand.New(rand.NewPCG(2026, 5)), requests()}
	for sent := 0; sent < total && faults.Load() < 20; sent += linesEach {
		var text bytes.Buffer
		if m.IntN(10) > 0 { // nearly all sessions are opened as they should be
			text.WriteString(initialize + "\n" + initialized + "\n")
		}
		for range min(linesEach, total-sent) {
			text.Write(m.line())
			text.WriteByte('\n')
		}
		if err := d.survive(text.Bytes()); err != nil {
			t.Errorf("lines from %d on: %v", sent, err)
			faults.Add(1)
		}
		if sent%100_000 == 0 && sent > 0 {
			t.Logf("%d lines", sent)
		}
	}
	counting.Lock()
	defer counting.Unlock()
	t.Logf("%d lines in %d sessions; audit rows: %v", total, (total+linesEach-1)/linesEach, counted)
	for _, reached := range []string{"unknown invalid", "read_policy ok", "read_article ok", "read_ticket error", "support_prompt ok", "lookup_customer ok",
		"get_order ok", "get_order error", "get_order denied", "get_order invalid", "issue_refund ok", "issue_refund denied", "issue_refund pending_approval",
		"update_shipping_address ok", "escalate_to_human ok", "search_help_center ok"} {
		if counted[reached] == 0 {
			t.Errorf("no line was recorded as %s: the lines look past it", reached)
		}
	}
}

// A mutator makes lines of valid requests and spoils most of them.
type mutator struct {
	*rand.Rand
	requests []string
}

// pieces are what JSON and this protocol are sensitive to.
var pieces = []string{`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, `null`, `true`, `-0`, `1e400`, `9007199254740993`, `""`, `"id":1,`, `"jsonrpc":"2.0",`,
	`"method":"ping",`, `"params":null,`, `\ud800`, `\u0000`, "\x00", "\xff", "\ufeff", "\r", "\u2028", `{"a":{"a":{"a":`, `[[[[[[`, `"_meta":{},`,
	`"progressToken":7,`, `countersign://policy`, `NW-5002`, `NW-5101`, `AP-`, `%2F`, `' or 1=1 --`, `2026-07-28`, `2024-11-05`}

var anyID = regexp.MustCompile(`"id":[^,]*,`)

func (m mutator) pick(all []string) string { return all[m.IntN(len(all))] }

func (m mutator) line() []byte {
	line := []byte(m.pick(m.requests))
	if m.IntN(3) == 0 { // another id, so that not all are duplicates
		line = anyID.ReplaceAll(line, fmt.Appendf(nil, `"id":%d,`, m.IntN(1000)))
	}
	for range m.IntN(4) {
		line = m.spoil(line)
	}
	return bytes.ReplaceAll(line, []byte("\n"), nil)
}

// spoil changes one thing.
func (m mutator) spoil(line []byte) []byte {
	if len(line) == 0 {
		return []byte(m.pick(pieces))
	}
	at, end := m.IntN(len(line)), 0
	end = min(len(line), at+1+m.IntN(12))
	insert := func(text string) []byte {
		return append(append(bytes.Clone(line[:at]), text...), line[at:]...)
	}
	switch m.IntN(9) {
	case 0:
		line[at] = byte(m.IntN(256))
	case 1:
		line[at] ^= 1 << m.IntN(8)
	case 2:
		return append(bytes.Clone(line[:at]), line[end:]...)
	case 3:
		return insert(string(line[at:end]))
	case 4:
		return insert(m.pick(pieces))
	case 5:
		return append(append(bytes.Clone(line[:at]), m.pick(pieces)...), line[end:]...)
	case 6:
		return line[:at]
	case 7: // the rest of another request
		other := m.pick(m.requests)
		return append(bytes.Clone(line[:at]), other[m.IntN(len(other)):]...)
	case 8: // a string's contents
		quote := bytes.IndexByte(line[at:], '"')
		if quote >= 0 {
			at += quote + 1
			return insert(strings.Repeat(m.pick(pieces), 1+m.IntN(40)))
		}
	}
	return line
}
