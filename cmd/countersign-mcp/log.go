package main

import (
	"fmt"
	"io"
	"log/slog"

	"countersign/audit"
	"countersign/store"
	"countersign/tools"
)

// waitingLines is how many lines may wait for a client that doesn't read stderr;
// the audit table has what is dropped after them.
const waitingLines = 4096

// lineLog writes lines to stderr from a goroutine of its own: a client that
// starts a server and never reads its stderr must not stop its calls.
type lineLog struct {
	lines chan []byte
	done  chan struct{} // closed when the last line is written
}

func newLineLog(w io.Writer) *lineLog {
	l := &lineLog{lines: make(chan []byte, waitingLines), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := <-l.lines; line != nil; line = <-l.lines {
			_, _ = w.Write(line) // a client that closed its end doesn't want them
		}
	}()
	return l
}

// Write takes one line, or drops it where too many wait.
func (l *lineLog) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
	}
	return len(line), nil
}

// close waits until all lines so far are written; later ones are dropped.
func (l *lineLog) close() {
	l.lines <- nil
	<-l.done
}

// logTo writes each audit row and each fault as one JSON line.
func logTo(w io.Writer, desk *tools.Desk, level slog.Level) {
	logger := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	if level <= slog.LevelInfo {
		desk.Recorded = func(row store.AuditRow) { fmt.Fprintf(w, "%s\n", audit.JSON(row)) }
	}
	desk.Faulted = func(action string, fault error) {
		logger.Error("call failed", "action", action, "fault", fault.Error())
	}
}
