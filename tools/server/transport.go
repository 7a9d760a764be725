package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxInFlight is how many requests run at once; more wait in the pipe.
	maxInFlight = 64
	// drainFor is how long calls in flight may take once the client has hung up.
	drainFor = 4 * time.Second
)

// pipe is an mcp.Transport, and its one connection, over a pair of streams. The
// SDK's own ends the process at the first malformed line and loses the answers
// of calls that run when the input ends; this one answers both.
//
// It gives each request a number of its own and puts the client's id back into
// the answer, so that any id comes back as it was.
type pipe struct {
	lines    lineReader
	turn     chan struct{}        // held by who reads
	resting  atomic.Int32         // how many wait for their turn to read
	messages chan jsonrpc.Message // for the SDK
	ended    error                // why there are no more
	slots    chan struct{}        // one per request in flight

	writing sync.Mutex // one line at a time; not under mu, as a client may not read
	out     io.Writer
	drained chan struct{} // closed when nobody waits for an answer any more
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

// flight is a request that waits for its answer.
type flight struct {
	id        json.RawMessage
	method    string
	params    json.RawMessage
	cancelled bool // nobody waits for the answer any more

	// Of a call that goes past the SDK:
	call func(ctx context.Context) (result json.RawMessage)
	ctx  context.Context
	stop context.CancelFunc
}

func newPipe(in io.Reader, out io.Writer) *pipe {
	p := &pipe{
		lines: newLineReader(in), turn: make(chan struct{}, 1), messages: make(chan jsonrpc.Message), slots: make(chan struct{}, maxInFlight), out: out, drained: make(chan struct{}),
		inFlight: map[int64]*flight{}, numbers: map[string]int64{},
	}
	p.idle = sync.NewCond(&p.mu)
	return p
}

// Connect starts to read and returns the pipe itself.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) {
	p.turn <- struct{}{}
	go p.work()
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

// work reads lines and makes the calls among them that go past the SDK. Whoever
// makes one lets another goroutine read on: so it starts at once, with no switch.
func (p *pipe) work() {
	p.resting.Add(1)
	for range p.turn {
		p.resting.Add(-1)
		number, f := p.next()
		if f == nil {
			return
		}
		if p.resting.Load() == 0 {
			go p.work()
		}
		p.turn <- struct{}{}
		p.run(number, f)
		p.resting.Add(1)
	}
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

// register notes a request that waits for its answer, under a number of its
// own; nil for one that won't get any other than the one it has got here.
func (p *pipe) register(e envelope) (number int64, f *flight) {
	f = &flight{id: e.ID, method: *e.Method, params: e.Params}
	p.mu.Lock()
	_, taken := p.numbers[string(e.ID)]
	if taken || p.stopped {
		p.mu.Unlock()
		if taken {
			p.answer(nil, nil, invalidRequest("the id is in use by a request in flight"))
		}
		return 0, nil
	}
	defer p.mu.Unlock()
	p.last++
	p.inFlight[p.last] = f
	p.numbers[string(e.ID)] = p.last
	if p.direct != nil && p.client != nil && f.method == "tools/call" {
		f.call = p.direct(*p.client, e.Params)
	}
	if f.call != nil {
		f.ctx, f.stop = context.WithCancel(context.Background())
	}
	return p.last, f
}

// run answers a call that the SDK doesn't know of.
func (p *pipe) run(number int64, f *flight) {
	defer f.stop()
	_ = p.finish(number, f.call(f.ctx), nil) // a client that is gone ends the reading too
}

// cancel marks a request's answer as unwanted and returns the notification's
// params with our number for it.
func (p *pipe) cancel(params json.RawMessage) json.RawMessage {
	var which struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if err := json.Unmarshal(params, &which); err != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	number, ok := p.numbers[string(which.RequestID)]
	if !ok || p.inFlight[number].method == "initialize" { // a client may not cancel that
		return nil
	}
	f := p.inFlight[number]
	f.cancelled = true
	if f.call != nil {
		f.stop()
		return nil
	}
	renumbered, err := json.Marshal(map[string]int64{"requestId": number})
	if err != nil {
		return nil
	}
	return renumbered
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

// finish answers the request of a number, unless nobody waits for that.
func (p *pipe) finish(number int64, result json.RawMessage, fault *jsonrpc.Error) (err error) {
	p.mu.Lock()
	f := p.inFlight[number]
	if f == nil {
		p.mu.Unlock()
		return nil
	}
	delete(p.numbers, string(f.id)) // from when it has the answer on, the client may use the id again
	if f.method == "initialize" && fault == nil {
		p.client = clientName(f.params)
	}
	wanted := !f.cancelled
	p.mu.Unlock()
	if wanted {
		err = p.write(f.id, result, fault)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.inFlight, number)
	<-p.slots
	p.idle.Broadcast()
	return err
}

// clientName is what a client calls itself in the params of initialize.
func clientName(params json.RawMessage) *string {
	var p mcp.InitializeParams
	if err := json.Unmarshal(params, &p); err != nil || p.ClientInfo == nil {
		return new(string)
	}
	return &p.ClientInfo.Name
}

// answer sends a response of our own.
func (p *pipe) answer(id, result json.RawMessage, fault *jsonrpc.Error) {
	_ = p.write(id, result, fault) // a client that is gone ends the reading too
}

// write sends a response.
func (p *pipe) write(id, result json.RawMessage, fault *jsonrpc.Error) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	line := append(make([]byte, 0, len(result)+128), `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	if fault == nil {
		line = append(append(line, `,"result":`...), result...)
	} else {
		text, err := json.Marshal(fault)
		if err != nil {
			return err
		}
		line = append(append(line, `,"error":`...), text...)
	}
	return p.send(append(line, '}'))
}

// send writes one line.
func (p *pipe) send(line []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.out.Write(append(line, '\n'))
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

// stop takes no further request and waits for those in flight.
func (p *pipe) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.drain()
}

func (p *pipe) hasStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// drain waits until every call in flight is answered, at most drainFor.
func (p *pipe) drain() {
	p.ending()
	late := false
	timer := time.AfterFunc(drainFor, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.idle.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !late && p.awaited() {
		p.idle.Wait()
	}
}

// awaited reports whether a request in flight will be answered by itself; a
// subscription stays open until the client hangs up.
func (p *pipe) awaited() bool {
	for _, f := range p.inFlight {
		if f.method != "subscriptions/listen" {
			return true
		}
	}
	return false
}

// Close has nothing to do: the streams belong to the process.
func (p *pipe) Close() error { return nil }
