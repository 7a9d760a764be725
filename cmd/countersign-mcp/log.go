package main

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"

	"countersign/approvals/push"
	"countersign/audit"
	"countersign/store"
	"countersign/tools"
)

const (
	// gatherFor is how long lines are gathered before they are written together:
	// a write for each would cost a call a tenth of its time.
	gatherFor = 50 * time.Millisecond
	// quietRounds is how often none may come before the goroutine waits to be
	// woken: that costs a call some of its time, too.
	quietRounds = 20
	// mostWaiting is how many lines, of some 500 bytes, may wait for a client that
	// doesn't read stderr; the audit table has what is dropped after them.
	mostWaiting = 4096
	// keptLines is how many bytes of room for lines are kept.
	keptLines = 64 << 10
)

// lineLog writes lines to stderr from a goroutine of its own: a client that
// starts a server and never reads its stderr must not stop its calls.
type lineLog struct {
	mu      sync.Mutex
	waiting []func() []byte // a line is put together when it is written: no call waits for that
	awake   bool            // the goroutine looks for lines by itself: to wake it takes a call some time
	closed  bool

	begun   chan struct{} // has a token when it shall wake; closed at the end
	closing chan struct{} // closed when it shall wait for no more lines
	done    chan struct{} // closed when the last line is written
}

func newLineLog(w io.Writer) *lineLog {
	l := &lineLog{begun: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return l
}

func (l *lineLog) run(w io.Writer) {
	defer close(l.done)
	var text bytes.Buffer
	for range l.begun {
		for quiet := 0; quiet < quietRounds; {
			quiet++
			lines := l.gather(quiet < quietRounds)
			if lines == nil {
				continue
			}
			quiet = 0
			for _, line := range lines {
				text.Write(line())
			}
			_, _ = w.Write(text.Bytes()) // a client that closed its end doesn't want them
			text.Reset()
			if text.Cap() > keptLines {
				text = bytes.Buffer{}
			}
		}
	}
}

// gather returns the lines that came within gatherFor, or nil if none did. Unless
// the goroutine stays awake all the same, the next one wakes it then.
func (l *lineLog) gather(stays bool) []func() []byte {
	select {
	case <-time.After(gatherFor):
	case <-l.closing:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.waiting
	l.waiting = nil
	l.awake = stays || lines != nil
	return lines
}

// Write takes one line, or drops it where too much waits.
func (l *lineLog) Write(line []byte) (int, error) {
	kept := bytes.Clone(line)
	l.add(func() []byte { return kept })
	return len(line), nil
}

// add is Write of a line that is still to be put together.
func (l *lineLog) add(line func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == mostWaiting || l.closed {
		return
	}
	l.waiting = append(l.waiting, line)
	if !l.awake {
		l.awake = true
		l.begun <- struct{}{} // there is room: it slept, and one token woke it
	}
}

// close waits until all lines so far are written; later ones are dropped.
func (l *lineLog) close() {
	l.mu.Lock()
	l.closed = true
	close(l.closing)
	close(l.begun)
	l.mu.Unlock()
	<-l.done
}

// logTo writes each audit row, each fault and each push that failed as one JSON line.
func logTo(log *lineLog, db *store.DB, desk *tools.Desk, courier *push.Courier, level slog.Level) {
	logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: level}))
	if level <= slog.LevelInfo {
		db.Audited = func(row store.AuditRow) { log.add(func() []byte { return append(audit.JSON(row), '\n') }) }
	}
	desk.Faulted = func(action string, fault error) {
		logger.Error("call failed", "action", action, "fault", fault.Error())
	}
	courier.Failed = func(target, id string, why error) {
		logger.Warn("push failed", "target", target, "id", id, "why", why.Error())
	}
}
