package server

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxInFlight is how many requests run at once; more wait in the pipe.
const maxInFlight = 64

// keptLine is how many bytes of room for answers are kept between them: an answer
// of every day stands twice in its line.
const keptLine = 32 << 10

// pipe is an mcp.Transport, and its one connection, over a pair of streams. The
// SDK's own ends the process at the first malformed line and loses the answers
// of calls that run when the input ends; this one answers both.
//
// It gives each request a number of its own and puts the client's id back into
// the answer, so that any id comes back as it was.
type pipe struct {
	lines    lineReader
	turn     *turn                // to read
	messages chan jsonrpc.Message // for the SDK
	ended    error                // why there are no more
	slots    chan struct{}        // one per request in flight

	writing sync.Mutex // one line at a time; not under mu, as a client may not read
	line    []byte     // the last one, for the room that it has
	out     io.Writer
	drained chan struct{} // closed when nobody waits for an answer any more
	gone    chan struct{} // closed when the client takes no answers any more
	leaving sync.Once     // closes gone
	ending  func()        // called when no further request comes
	direct  Direct        // nil: everything is for the SDK

	mu       sync.Mutex
	last     int64
	inFlight map[int64]*flight
	numbers  map[string]int64 // of the requests in flight, by the client's id
	stopped  bool
	client   *string    // the client's name for itself, once the session is initialized
	idle     *sync.Cond // signalled when an answer has gone
}

func newPipe(in io.Reader, out io.Writer) *pipe {
	p := &pipe{
		lines: newLineReader(in), messages: make(chan jsonrpc.Message),
		slots: make(chan struct{}, maxInFlight), out: out, drained: make(chan struct{}), gone: make(chan struct{}),
		inFlight: map[int64]*flight{}, numbers: map[string]int64{},
	}
	p.idle = sync.NewCond(&p.mu)
	p.turn = newTurn(p.work)
	return p
}

// Connect starts to read and returns the pipe itself.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) {
	p.turn.pass()
	return p, nil
}

// SessionID is empty: one pipe is one session.
func (p *pipe) SessionID() string { return "" }

// Read returns the next message for the SDK.
func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	if msg, ok := <-p.messages; ok {
		return msg, nil
	}
	return nil, p.ended
}

// work reads lines and makes the calls among them that go past the SDK. While it
// makes one another goroutine reads on, unless there is nothing else to do.
func (p *pipe) work() {
	var room []byte
	for p.turn.wait() {
		for kept := true; kept; {
			number, f := p.next()
			if f == nil {
				p.turn.end()
				return
			}
			if p.alone() {
				p.turn.keep(number)
			} else {
				p.turn.pass()
			}
			room = p.run(number, f, room)
			kept = p.turn.kept(number)
		}
	}
}

// alone reports whether no request but one is in flight or known to come.
func (p *pipe) alone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.inFlight) == 1 && p.lines.in.Buffered() == 0
}

// next reads up to the next call that goes past the SDK. It answers what makes no
// sense and hands the SDK the rest. At the end of the input it waits for the
// calls in flight and returns nil.
func (p *pipe) next() (number int64, f *flight) {
	for !p.hasStopped() {
		line, err := p.lines.next()
		switch {
		case err == errLongLine:
			p.answer(nil, nil, invalidRequest("a line holds less than 1 MiB"))
			continue
		case err != nil:
			p.drain()
			close(p.drained)
			p.end(err)
			return 0, nil
		}
		e, fault := parseEnvelope(line)
		if fault != nil {
			p.answer(e.ID, nil, fault)
			continue
		}
		msg, number, f := p.accept(e)
		if f != nil {
			return number, f
		}
		if msg != nil {
			p.messages <- msg
		}
	}
	p.end(io.EOF)
	return 0, nil
}

func (p *pipe) end(err error) {
	p.ended = err
	close(p.messages)
}

// accept turns an envelope into a message for the SDK, or into a call that goes
// past it; nil where it is neither.
func (p *pipe) accept(e envelope) (msg jsonrpc.Message, number int64, f *flight) {
	if e.isResponse() {
		return nil, 0, nil // this server asks clients nothing
	}
	req := &jsonrpc.Request{Method: *e.Method, Params: e.Params}
	if e.ID == nil {
		if *e.Method == "notifications/cancelled" {
			req.Params = p.cancel(e.Params)
		}
		return req, 0, nil
	}
	p.slots <- struct{}{}
	number, f = p.register(e)
	if f == nil {
		<-p.slots
		return nil, 0, nil
	}
	if f.call != nil {
		return nil, number, f
	}
	req.ID, _ = jsonrpc.MakeID(float64(number)) // a float64 is always an id
	return req, 0, nil
}

// Write sends the SDK's message to the client.
func (p *pipe) Write(_ context.Context, msg jsonrpc.Message) error {
	res, ok := msg.(*jsonrpc.Response)
	if !ok {
		text, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return err
		}
		return p.send(text)
	}
	number, ok := res.ID.Raw().(int64)
	if !ok {
		return nil
	}
	return p.finish(number, res.Result, wireError(res.Error))
}

// Close has nothing to do: the streams belong to the process.
func (p *pipe) Close() error { return nil }
