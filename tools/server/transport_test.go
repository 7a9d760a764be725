package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/tools/server"
)

// session is a server under test: lines go in, lines come out.
type session struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	ended chan error
	stop  context.CancelFunc

	opens   chan struct{} // each value lets one call of the tool "shut" go on
	hangUp  func() error  // takes no answers any more
	counted atomic.Int32  // how often the tool "count" was called
}

// eachWay runs a test twice on a server with tools that echo, are slow, are shut
// until the test opens them, and hang: with calls that take the SDK's way, and with
// such that go past it. The session is initialized.
func eachWay(t *testing.T, test func(t *testing.T, x *session)) {
	for way, direct := range map[string]bool{"by the SDK": false, "direct": true} {
		t.Run(way, func(t *testing.T) { test(t, serve(t, direct)) })
	}
}

func serve(t *testing.T, direct bool) *session {
	t.Helper()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	x := &session{t: t, ended: make(chan error, 1), opens: make(chan struct{}, 1)}
	acts := map[string]func(context.Context) string{
		"count": func(context.Context) string { x.counted.Add(1); return "counted" },
		"echo":  func(context.Context) string { return "echo" },
		"slow":  func(context.Context) string { time.Sleep(50 * time.Millisecond); return "slow" },
		"shut":  func(context.Context) string { <-x.opens; return "open" },
		"hang": func(ctx context.Context) string {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return "hung"
		},
	}
	s := server.Server{MCP: mcp.NewServer(&mcp.Implementation{Name: "test"}, nil)}
	for name, act := range acts {
		s.MCP.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if direct {
					t.Error("a call took the SDK's way")
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: act(ctx)}}}, nil
			})
	}
	if direct {
		s.Direct = func(_ string, params json.RawMessage) server.Call {
			var p struct{ Name string }
			if err := json.Unmarshal(params, &p); err != nil || acts[p.Name] == nil {
				return nil
			}
			return func(ctx context.Context, room []byte) json.RawMessage {
				return append(room, `"`+acts[p.Name](ctx)+`"`...)
			}
		}
	}
	in, client := io.Pipe()
	out, answers := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	x.in, x.out, x.stop, x.hangUp = client, bufio.NewReaderSize(out, 4<<20), stop, out.Close
	go func() {
		x.ended <- server.Serve(ctx, s, in, answers, func() {})
		answers.Close()
	}()
	t.Cleanup(stop)
	x.send(initialize)
	if got := x.receive(); got.Error != nil {
		t.Fatalf("initialize: %+v", got)
	}
	x.send(initialized)
	return x
}

type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (x *session) send(line string) {
	x.t.Helper()
	if _, err := io.WriteString(x.in, line+"\n"); err != nil {
		x.t.Fatal(err)
	}
}

func (x *session) receive() (a answer) {
	x.t.Helper()
	line, err := x.out.ReadString('\n')
	if err != nil {
		x.t.Fatalf("no answer: %v", err)
	}
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		x.t.Fatalf("%q: %v", line, err)
	}
	return a
}

func callOf(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

func TestEveryLineIsSurvived(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for name, c := range map[string]struct {
		line string
		id   string
		code int // 0: a result
	}{
		"not JSON":               {`garbage`, `null`, -32700},
		"half an object":         {`{"jsonrpc":"2.0","id":1,`, `null`, -32700},
		"two messages":           {`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, `null`, -32700},
		"byte order mark":        {"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `1`, 0},
		"CRLF":                   {`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", `1`, 0},
		"blanks around":          {"\t " + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "  ", `1`, 0},
		"bare number":            {`5`, `null`, -32600},
		"null":                   {`null`, `null`, -32600},
		"batch":                  {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `null`, -32600},
		"no version":             {`{"id":1,"method":"ping"}`, `1`, -32600},
		"no method":              {`{"jsonrpc":"2.0","id":1}`, `1`, -32600},
		"method of another type": {`{"jsonrpc":"2.0","id":1,"method":5}`, `1`, -32600},
		"id true":                {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `null`, -32600},
		"id null":                {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `null`, -32600},
		"id 1.5":                 {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `null`, -32600},
		"id of bytes":            {"{\"jsonrpc\":\"2.0\",\"id\":\"a\xffb\",\"method\":\"ping\"}", `null`, -32600},
		"id beyond 2^53":         {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `9007199254740993`, 0},
		"id with escapes":        {`{"jsonrpc":"2.0","id":"\u0041\"","method":"ping"}`, `"\u0041\""`, 0},
		"params an array":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, `1`, -32600},
		"params of wrong types":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{"secret":"4242"}}}`, `1`, -32602},
		"deep":                   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":` + deep + `}}`, `1`, -32600},
		"1 MiB":                  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, `null`, -32600},
		"20 MiB":                 {strings.Repeat("x", 20<<20), `null`, -32600},
		"just under 1 MiB":       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":"` + strings.Repeat("x", 1<<20-200) + `"}}}`, `1`, 0},
		"unknown method":         {`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `1`, -32601},
		"second initialize":      {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `1`, -32600},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, x *session) {
				x.send(c.line)
				got := x.receive()
				code := 0
				if got.Error != nil {
					code = got.Error.Code
					if strings.Contains(got.Error.Message, "4242") || strings.Contains(got.Error.Message, "Go ") {
						t.Errorf("the message quotes: %s", got.Error.Message)
					}
				}
				if string(got.ID) != c.id || code != c.code {
					t.Errorf("id %s code %d, want id %s code %d", got.ID, code, c.id, c.code)
				}
				x.send(callOf(`"next"`, "echo"))
				if got := x.receive(); string(got.ID) != `"next"` || got.Error != nil {
					t.Errorf("the next call got %+v", got)
				}
			})
		})
	}
}

func TestLinesThatGetNoAnswer(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		for _, line := range []string{
			``, `   `, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/no-such"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		} {
			x.send(line)
		}
		x.send(callOf(`2`, "echo"))
		if got := x.receive(); string(got.ID) != `2` {
			t.Errorf("got an answer to %s first", got.ID)
		}
	})
}

func TestDuplicateIDIsRefusedWhileInFlight(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		x.send(callOf(`7`, "hang"))
		x.send(callOf(`7`, "echo"))
		if got := x.receive(); string(got.ID) != `null` || got.Error == nil || got.Error.Code != -32600 {
			t.Errorf("second call of the same id got %+v", got)
		}
	})
}

func TestCancelledCallGetsNoAnswer(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		x.send(callOf(`7`, "hang"))
		x.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		x.send(callOf(`8`, "slow"))
		if got := x.receive(); string(got.ID) != `8` {
			t.Errorf("got an answer to %s", got.ID)
		}
	})
}

func TestManyCallsAtOnceAreAllAnswered(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		const calls = 500
		go func() {
			for i := range calls {
				io.WriteString(x.in, callOf(fmt.Sprint(i), "echo")+"\n")
			}
		}()
		seen := map[string]bool{}
		for range calls {
			seen[string(x.receive().ID)] = true
		}
		if len(seen) != calls {
			t.Errorf("%d of %d calls answered", len(seen), calls)
		}
	})
}

func TestCallsInFlightAreAnsweredAtTheEndOfInput(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		const calls = 20
		for i := range calls {
			x.send(callOf(fmt.Sprint(i), "slow"))
		}
		x.in.Close()
		for range calls {
			if got := x.receive(); got.Error != nil {
				t.Errorf("%s: %+v", got.ID, got.Error)
			}
		}
		if err := <-x.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestCallsInFlightAreAnsweredAtASignal(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		x.send(callOf(`1`, "shut"))
		x.send(callOf(`2`, "echo"))
		if got := x.receive(); string(got.ID) != `2` {
			t.Fatalf("got %s first", got.ID)
		}
		x.stop()                          // what a signal does
		time.Sleep(20 * time.Millisecond) // enough for a server that doesn't wait to end
		x.opens <- struct{}{}
		if got := x.receive(); string(got.ID) != `1` || got.Error != nil {
			t.Errorf("got %+v", got)
		}
		if err := <-x.ended; err != nil {
			t.Error(err)
		}
	})
}

// Whoever has an answer may use its id again at once.
func TestIDCanBeUsedAgain(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		for range 500 {
			x.send(callOf(`7`, "echo"))
			if got := x.receive(); string(got.ID) != `7` || got.Error != nil {
				t.Fatalf("%+v", got)
			}
		}
	})
}

// Nothing more is done for a client that takes no answers any more.
func TestNothingIsDoneForAClientThatIsGone(t *testing.T) {
	eachWay(t, func(t *testing.T, x *session) {
		x.hangUp()
		t.Cleanup(func() { x.in.Close() })
		for i := range 100 {
			go io.WriteString(x.in, callOf(fmt.Sprint(i), "count")+"\n") // the last ones are never read
		}
		select {
		case err := <-x.ended:
			if !errors.Is(err, server.ErrClientGone) {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("it goes on")
		}
		if n := x.counted.Load(); n > 70 { // those that were begun before the first answer failed
			t.Errorf("%d calls were made", n)
		}
	})
}
