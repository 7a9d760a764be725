package store

import (
	"os"
	"sync/atomic"
	"time"
)

// queueFor is how long a writer waits in the queue before it goes on without it
// and leaves the waiting to SQLite's own busy timeout.
const queueFor = 5 * time.Second

// queue lets writers of several processes wait for each other in the kernel, by
// a lock on a file beside the database: SQLite alone would poll with sleeps. It
// is a courtesy and not needed for safety; where the file can't be locked,
// writers go on without it. A process uses it from one goroutine at a time.
type queue struct {
	path  string
	file  *os.File
	stuck atomic.Bool // a writer that gave up still stands in the queue
}

// enter waits for this process's turn and returns what ends it.
func (q *queue) enter() (leave func()) {
	none := func() {}
	if q == nil || q.stuck.Load() || !q.open() {
		return none
	}
	free := func() { _ = unlock(q.file) } // the kernel frees it at the latest when the process ends
	if tryLock(q.file) == nil {
		return free
	}
	granted, givenUp := make(chan error), make(chan struct{})
	go func() {
		err := waitLock(q.file)
		select {
		case granted <- err:
		case <-givenUp: // and nobody here has used the file since
			free()
			q.stuck.Store(false)
		}
	}()
	timer := time.NewTimer(queueFor)
	defer timer.Stop()
	select {
	case err := <-granted:
		if err != nil {
			return none
		}
		return free
	case <-timer.C: // who holds it may be stopped: nobody else here lines up behind it
		q.stuck.Store(true)
		close(givenUp)
		return none
	}
}

func (q *queue) open() bool {
	if q.file == nil {
		file, err := os.OpenFile(q.path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return false
		}
		q.file = file
	}
	return true
}

func (q *queue) close() error {
	if q == nil || q.file == nil || q.stuck.Load() { // one that waits still needs it
		return nil
	}
	return q.file.Close()
}
