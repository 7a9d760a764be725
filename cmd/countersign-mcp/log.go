package main

import (
	"fmt"
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
	gatherFor = 10 * time.Millisecond
	// mostWaiting is how many bytes may wait for a client that doesn't read stderr;
	// the audit table has what is dropped after them.
	mostWaiting = 2 << 20
)

// lineLog writes lines to stderr from a goroutine of its own: a client that
// starts a server and never reads its stderr must not stop its calls.
type lineLog struct {
	mu      sync.Mutex
	waiting []byte
	begun   chan struct{} // has a token while lines wait; closed at the end
	done    chan struct{} // closed when the last line is written
}

func newLineLog(w io.Writer) *lineLog {
	l := &lineLog{begun: make(chan struct{}, 1), done: make(chan struct{})}
	begun := l.begun
	go func() {
		defer close(l.done)
		for range begun {
			time.Sleep(gatherFor)
			_, _ = w.Write(l.take()) // a client that closed its end doesn't want them
		}
	}()
	return l
}

// Write takes one line, or drops it where too much waits.
func (l *lineLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting)+len(line) > mostWaiting || l.begun == nil {
		return len(line), nil
	}
	if len(l.waiting) == 0 {
		l.begun <- struct{}{} // there is room: the last token was taken before its lines were
	}
	l.waiting = append(l.waiting, line...)
	return len(line), nil
}

func (l *lineLog) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.waiting
	l.waiting = nil
	return lines
}

// close waits until all lines so far are written; later ones are dropped.
func (l *lineLog) close() {
	l.mu.Lock()
	close(l.begun)
	l.begun = nil
	l.mu.Unlock()
	<-l.done
}

// logTo writes each audit row, each fault and each push that failed as one JSON line.
func logTo(w io.Writer, desk *tools.Desk, courier *push.Courier, level slog.Level) {
	logger := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	if level <= slog.LevelInfo {
		desk.Recorded = func(row store.AuditRow) { fmt.Fprintf(w, "%s\n", audit.JSON(row)) }
	}
	desk.Faulted = func(action string, fault error) {
		logger.Error("call failed", "action", action, "fault", fault.Error())
	}
	courier.Failed = func(target, id string, why error) {
		logger.Warn("push failed", "target", target, "id", id, "why", why.Error())
	}
}
