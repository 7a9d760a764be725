package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/fixtures"
	"countersign/tools/client"
)

// A client that starts the server and never reads its stderr gets all its
// answers, far beyond what a pipe holds.
func TestStderrThatNobodyReads(t *testing.T) {
	unread, stderr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	server := exec.Command(os.Args[0], "--db", demo(t, nil), "--customer", "C-1001")
	server.Env = append(os.Environ(), "COUNTERSIGN_TOKEN="+fixtures.StaffToken, "BE_THE_SERVER=1")
	server.Stderr = stderr
	session, err := client.Start(t.Context(), server, "deaf")
	if err != nil {
		t.Fatal(err)
	}
	for range 400 { // some 450 bytes of stderr each; a pipe holds 64 KiB
		if _, err := session.Call(t.Context(), "get_order", map[string]any{"order_id": "NW-5001"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// Rows are told of in their order, though many calls run at once.
func TestLinesAreInOrder(t *testing.T) {
	var stderr bytes.Buffer
	server := exec.Command(os.Args[0], "--db", demo(t, nil), "--customer", "C-1001")
	server.Env = append(os.Environ(), "COUNTERSIGN_TOKEN="+fixtures.StaffToken, "BE_THE_SERVER=1")
	server.Stderr = &stderr
	session, err := client.Start(t.Context(), server, "many")
	if err != nil {
		t.Fatal(err)
	}
	const calls = 150
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			tool, arguments := "get_order", map[string]any{"order_id": "NW-5001"}
			if i%3 == 0 {
				tool, arguments = "escalate_to_human", map[string]any{"summary": fmt.Sprint("question ", i), "category": "other"}
			}
			if _, err := session.Call(t.Context(), tool, arguments); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	last, n := int64(0), 0
	for line := range strings.Lines(stderr.String()) {
		var row struct{ Seq int64 }
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Seq <= last {
			t.Errorf("after %d: %v, %s", last, err, line)
		}
		last, n = row.Seq, n+1
	}
	if n != calls {
		t.Errorf("%d lines", n)
	}
}

// Lines that are written together all arrive, in their order, those of the last
// moment too.
func TestLinesArrive(t *testing.T) {
	var got bytes.Buffer
	log := newLineLog(&got)
	var want strings.Builder
	for i := range 2000 {
		line := fmt.Sprintf("line %d\n", i)
		want.WriteString(line)
		if _, err := log.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			time.Sleep(2 * gatherFor)
		}
	}
	log.close()
	if got.String() != want.String() {
		t.Errorf("got %d bytes instead of %d", got.Len(), want.Len())
	}
	if _, err := log.Write([]byte("late\n")); err != nil {
		t.Error("a line after the end:", err)
	}
}
