package main

import (
	"os"
	"os/exec"
	"testing"

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
