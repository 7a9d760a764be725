package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/tools"
)

// atOnce runs n commands at the same time and counts their exit codes.
func atOnce(t *testing.T, n int, command func(i int) result) (results []result, codes map[int]int) {
	t.Helper()
	results, codes = make([]result, n), map[int]int{}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			<-start
			results[i] = command(i)
		})
	}
	close(start)
	wg.Wait()
	for _, r := range results {
		codes[r.code]++
	}
	return results, codes
}

// parked makes a demo database in which one refund waits, and returns its id.
func parked(t *testing.T, path string) string {
	t.Helper()
	demoAt(t, path, nil)
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := tools.NewRulebook(context.Background(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	caller := tools.Caller{Token: fixtures.StaffToken, Customer: "C-1001", Door: audit.MCP, Session: "test"}
	res := tools.NewDesk(db, rules, tools.All).Call(context.Background(), caller, "issue_refund",
		json.RawMessage(`{"order_id":"NW-5001","reason":"don't fit"}`))
	var answer struct {
		ID string `json:"approval_id"`
	}
	if err := json.Unmarshal(res.JSON, &answer); err != nil || answer.ID == "" {
		t.Fatalf("%v: %s", err, res.JSON)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return answer.ID
}

// Of twenty operators who approve the same request at once one does it; the
// others learn who did.
func TestTwentyApproveAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	id := parked(t, path)
	env := []string{"COUNTERSIGN_DB=" + path}
	results, codes := atOnce(t, 20, func(int) result {
		return run(t, program(t, "countersign", env, "approvals", "approve", id, "--yes"))
	})
	if diff := cmp.Diff(map[int]int{exitDone: 1, exitConflict: 19}, codes); diff != "" {
		t.Errorf("exit codes: -want +got\n%s%v", diff, results)
	}
	late := regexp.MustCompile(`^countersign: ` + id + ` was approved by demo-manager at 20\S+Z\n$`)
	for _, r := range results {
		if r.code == exitConflict && !late.MatchString(r.stderr) {
			t.Errorf("a late one was told %q", r.stderr)
		}
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(context.Background(), func(v *store.View) error {
		refunds, err := v.Refunds("NW-5001")
		if len(refunds) != 1 || refunds[0].Amount != 14400 {
			t.Errorf("refunds: %+v", refunds)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if head, err := audit.Verify(context.Background(), db, nil); err != nil || head.Seq != 21 {
		t.Errorf("audit: %v, %v", head, err)
	}
}

// Of ten scripts that refund the same at once one does it.
func TestTenRefundTheSameAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	demoAt(t, path, nil)
	results, codes := atOnce(t, 10, func(int) result {
		return run(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + path},
			"refunds", "issue", "NW-5001", "--amount", "10.00", "--note", "goodwill", "--yes"))
	})
	if diff := cmp.Diff(map[int]int{exitDone: 1, exitConflict: 9}, codes); diff != "" {
		t.Errorf("exit codes: -want +got\n%s%v", diff, results)
	}
	again := regexp.MustCompile(`^countersign: the same was refunded at 20\S+Z as RF-\w+; if a second one is meant, say --another\n$`)
	for _, r := range results {
		if r.code == exitConflict && !again.MatchString(r.stderr) {
			t.Errorf("a late one was told %q", r.stderr)
		}
	}
	whole(t, path, 10)
}

// Of several that make the same database one wins, and its credential works.
func TestInitAtOnce(t *testing.T) {
	t.Parallel()
	for range 4 {
		folder := t.TempDir()
		path := filepath.Join(folder, "shop.db")
		env := []string{"COUNTERSIGN_DB=" + path, "HOME=" + folder}
		results, codes := atOnce(t, 4, func(int) result { return run(t, program(t, "countersign", env, "init")) })
		if diff := cmp.Diff(map[int]int{exitDone: 1, exitFailure: 3}, codes); diff != "" {
			t.Errorf("exit codes: -want +got\n%s%v", diff, results)
		}
		for _, r := range results {
			if r.code != exitDone {
				refused(t, r, path, "there is a file here already; it is left as it is")
			}
		}
		if r := run(t, program(t, "countersign", env, "approvals", "list")); r.code != exitDone {
			t.Errorf("afterwards: %+v", r)
		}
		noDrafts(t, folder)
	}
}

// Servers that start at once on a missing demo database all serve, on one.
func TestDemoServersAtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "new", "demo.db")
	results, _ := atOnce(t, 5, func(i int) result {
		cmd := program(t, "countersign-mcp", []string{"COUNTERSIGN_TOKEN=" + fixtures.StaffToken}, "--demo", "--db", path, "--customer", "C-1001")
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_order","arguments":{"order_id":"NW-5001"}}}
`)
		return run(t, cmd)
	})
	for _, r := range results {
		if r.code != 0 || !strings.Contains(r.stdout, `\"refundable\":\"144.00\"`) {
			t.Errorf("%+v", r)
		}
	}
	whole(t, path, 5)
	noDrafts(t, folder)
}

// A kill while a demo database is being made leaves nothing or all of it, and
// what it leaves is in nobody's way.
func TestKilledWhileCreating(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	made := 0
	for i := range 24 {
		path := filepath.Join(folder, fmt.Sprint(i/3), "demo.db") // some start on what a killed one left
		server := program(t, "countersign-mcp", nil, "--demo", "--db", path)
		stdin, err := server.StdinPipe() // open: it serves until it is killed
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i*i/2) * time.Millisecond)
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait() // it was killed
		stdin.Close()
		if _, err := os.Stat(path); err == nil {
			made++
			whole(t, path, 0)
		}
	}
	t.Logf("%d of 24 were made before the kill", made)
	for i := range 8 {
		path := filepath.Join(folder, fmt.Sprint(i), "demo.db")
		if r := run(t, program(t, "countersign-mcp", nil, "--demo", "--db", path)); r.code != 0 {
			t.Errorf("a later start: %+v", r)
		}
		whole(t, path, 0)
	}
}

// whole checks that a demo database has all of the demo shop, and a number of
// audit rows.
func whole(t *testing.T, path string, rows int64) {
	t.Helper()
	db, err := fixtures.OpenDemo(path, store.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close()
	err = db.View(context.Background(), func(v *store.View) error {
		_, err := v.OrderByID("NW-5201")
		if err != nil {
			return err
		}
		p, err := v.PrincipalByToken(fixtures.ManagerToken)
		if p.Name != "demo-manager" {
			t.Errorf("the manager is %+v", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if head, err := audit.Verify(context.Background(), db, nil); err != nil || head.Seq != rows {
		t.Errorf("audit: %v, %v; want %d rows", head, err, rows)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func noDrafts(t *testing.T, folder string) {
	t.Helper()
	for name := range snapshot(t, folder) {
		if strings.Contains(name, ".countersign-") || strings.Contains(name, ".credentials-") || strings.HasSuffix(name, "-wal") {
			t.Errorf("left behind: %s", name)
		}
	}
}
