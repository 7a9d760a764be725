package audit

import (
	"context"
	"errors"
	"sync"

	"countersign/store"
)

// Recorder runs calls that only read, and appends their rows. Calls that arrive
// while a commit runs share the next one, so that many readers wait for few
// syncs. It is safe for concurrent use and needs no goroutine of its own.
type Recorder struct {
	db *store.DB

	mu      sync.Mutex
	busy    bool // somebody commits
	waiting []*waiting
}

// waiting is a call that waits for its row.
type waiting struct {
	read  func(*store.View) Entry
	entry Entry
	err   error
	turn  chan bool // true: commit for all who wait; false: err is set
}

// NewRecorder returns a recorder on db.
func NewRecorder(db *store.DB) *Recorder { return &Recorder{db: db} }

// Record runs read, appends the entry that it gives, and returns once that is
// committed. Where the commit of several fails, read runs once more.
func (r *Recorder) Record(read func(*store.View) Entry) error {
	w := &waiting{read: read, turn: make(chan bool, 1)}
	r.mu.Lock()
	r.waiting = append(r.waiting, w)
	lead := !r.busy
	r.busy = true
	r.mu.Unlock()
	if lead || <-w.turn {
		r.lead(w)
	}
	return w.err
}

// lead commits the rows of all who wait, its own among them, and then hands the
// lead to the first of those who came meanwhile.
func (r *Recorder) lead(self *waiting) {
	r.mu.Lock()
	batch := r.waiting
	r.waiting = nil
	r.mu.Unlock()

	r.commit(batch)
	for _, w := range batch {
		if w != self {
			w.turn <- false
		}
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		r.busy = false
		return
	}
	r.waiting[0].turn <- true
}

// commit writes a batch in one transaction. If that fails, each row is tried by
// itself: one that can't be written must not take the others with it.
func (r *Recorder) commit(batch []*waiting) {
	err := r.append(batch)
	if err == nil {
		return
	}
	alone := len(batch) > 1 && !errors.Is(err, store.ErrLocked) // a lock is nobody's fault, and each try waits for it
	for _, w := range batch {
		if alone {
			err = r.append([]*waiting{w})
		}
		w.err = err
	}
}

func (r *Recorder) append(batch []*waiting) error {
	read := func(v *store.View) error {
		for _, w := range batch {
			w.entry = w.read(v)
		}
		return nil
	}
	return r.db.ReadThenWrite(context.Background(), read, func(tx *store.Tx) error {
		for _, w := range batch {
			if err := Append(tx, w.entry); err != nil {
				return err
			}
		}
		return nil
	})
}
