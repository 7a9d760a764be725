package server

import (
	"time"
)

// drainFor is how long calls in flight may take once the client has hung up.
const drainFor = 4 * time.Second

// stop takes no further request and waits for those in flight.
func (p *pipe) stop() {
	p.refuse()
	p.drain()
}

func (p *pipe) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// refuse takes no further request.
func (p *pipe) refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
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
