package tools

import (
	"context"
	"sync"

	"countersign/store"
)

// sessions remember the case that each session works on: the first one, and
// then the one whose customer it was shown last. A server process is one
// session and serves no other; it starts without a case, since it has shown
// nobody anything.
type sessions struct {
	mu    sync.Mutex
	cases map[string]string // a case's id by session
}

func (s *sessions) shown(session string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cases[session]
}

func (s *sessions) show(session, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(session, id)
}

// begin makes id a session's case if it has none yet, and returns the one it has.
func (s *sessions) begin(session, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cases[session] == "" {
		s.put(session, id)
	}
	return s.cases[session]
}

func (s *sessions) put(session, id string) {
	if s.cases == nil {
		s.cases = map[string]string{}
	}
	s.cases[session] = id
}

// followCase gives a call the customer of the open case, unless the session
// didn't know of that case when the call arrived: what was meant for one
// customer must not happen to the next one. Only the tool that shows the
// customer goes on then.
func (d *Desk) followCase(c *call, open store.Case) {
	if c.shown == "" {
		c.shown = d.sessions.begin(c.caller.Session, open.ID)
	}
	if c.shown == open.ID || c.tool == lookupCustomer {
		c.scope.Customer = open.Customer
	}
}

// showCase remembers that a session was shown the customer of the case that is
// open now. An answer that nobody waits for any more shows nothing.
func (d *Desk) showCase(ctx context.Context, c *call, res Result) {
	if c.tool == lookupCustomer && c.opened != "" && c.shown != c.opened && !res.IsError && ctx.Err() == nil {
		d.sessions.show(c.caller.Session, c.opened)
	}
}
