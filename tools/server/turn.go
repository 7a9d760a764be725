package server

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A call that is made by who reads is looked at every patience: one that takes
// longer than that loses the turn to read. After tidyLooks at which no call was new
// the garbage of the calls before is collected, so that fewer of them wait for it,
// and after quietLooks the watch ends: to begin one anew costs a call what it is
// to save.
const (
	patience   = 20 * time.Millisecond
	tidyLooks  = 2
	quietLooks = 50
)

// turn is the right to read, which one goroutine has at a time. With nothing else
// to do it may be kept through the call that was read: to wake another goroutine
// for the next line costs a tenth of that call.
type turn struct {
	work    func()        // what another goroutine does: it waits for its turn, and reads
	free    chan struct{} // closed when there is nothing more to read
	resting atomic.Int32  // how many wait for their turn

	mu       sync.Mutex
	keptFor  int64 // the call that is made with the turn in hand; 0: none
	latest   int64 // the last such call
	watching bool
}

func newTurn(work func()) *turn { return &turn{work: work, free: make(chan struct{}, 1)} }

// wait reports whether the caller has the turn now; false: nobody has it any more.
func (t *turn) wait() bool {
	t.resting.Add(1)
	_, ok := <-t.free
	t.resting.Add(-1)
	return ok
}

// pass gives the turn to another goroutine.
func (t *turn) pass() {
	if t.resting.Load() == 0 {
		go t.work()
	}
	t.free <- struct{}{}
}

// end lets nobody have the turn any more.
func (t *turn) end() { close(t.free) }

// keep keeps the turn through a call, by its number, unless that takes long.
func (t *turn) keep(call int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keptFor, t.latest = call, call
	if !t.watching {
		t.watching = true
		go t.watch()
	}
}

// kept reports whether the turn was kept through a call that is over.
func (t *turn) kept(call int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keptFor != call {
		return false
	}
	t.keptFor = 0
	return true
}

// watch passes the turn on from calls that take long, until none is new for a while.
func (t *turn) watch() {
	var seen int64
	for quiet := 0; quiet < quietLooks; quiet++ {
		time.Sleep(patience)
		t.mu.Lock()
		stuck := t.keptFor != 0 && t.keptFor == seen
		if stuck {
			t.keptFor = 0
		}
		if t.latest != seen {
			seen, quiet = t.latest, 0
		}
		t.watching = quiet+1 < quietLooks
		t.mu.Unlock()
		if stuck {
			t.pass()
		}
		if quiet == tidyLooks {
			runtime.GC()
		}
	}
}
