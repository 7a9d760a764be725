package server

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// flight is a request that waits for its answer.
type flight struct {
	id        json.RawMessage
	method    string
	params    json.RawMessage
	cancelled bool // nobody waits for the answer any more

	// Of a call that goes past the SDK:
	call Call
	ctx  context.Context
	stop context.CancelFunc
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

// run answers a call that the SDK doesn't know of. It returns room with the result
// in it, as room for the next.
func (p *pipe) run(number int64, f *flight, room []byte) []byte {
	defer f.stop()
	result := f.call(f.ctx, room[:0])
	_ = p.finish(number, result, nil) // send sees to a client that is gone
	if cap(result) > keptLine {
		return nil
	}
	return result
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

// clientName is what a client calls itself in the params of initialize, "" where
// it doesn't.
func clientName(params json.RawMessage) *string {
	var p, info map[string]json.RawMessage // a struct would take "Name" for "name"
	var name string
	if json.Unmarshal(params, &p) == nil && json.Unmarshal(p["clientInfo"], &info) == nil {
		_ = json.Unmarshal(info["name"], &name)
	}
	return &name
}
