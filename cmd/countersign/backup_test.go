package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/tools/client"
)

// heavy makes a demo database with megabytes more in it, so that copying it
// takes a while.
func heavy(t *testing.T, path string, megabytes int) {
	t.Helper()
	demoAt(t, path, nil)
	sqlite(t, path, fmt.Sprintf(`create table ballast (filler blob); insert into ballast with recursive n (i) as
		(select 1 union all select i + 1 from n where i < %d) select randomblob(100000) from n`, megabytes*10))
}

// Backups made while two servers write and an operator imports are each of one
// moment, and lose nobody a call.
func TestBackupAmidWriters(t *testing.T) {
	t.Parallel()
	const servers, backups, fewest = 2, 4, 20
	folder := t.TempDir()
	path := filepath.Join(folder, "demo.db")
	heavy(t, path, 40)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	calls := make([]int, servers)
	for n := range servers {
		wg.Go(func() {
			cmd := program(t, "countersign-mcp", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + fixtures.StaffToken,
				"COUNTERSIGN_CUSTOMER=C-1001", "COUNTERSIGN_LOG=error"})
			session, err := client.Start(t.Context(), cmd, "writer")
			if err != nil {
				t.Error(err)
				return
			}
			defer session.Close()
			for i := 0; ; i++ {
				select {
				case <-stop:
					if i >= fewest {
						return
					}
				default:
				}
				answer, err := session.Call(t.Context(), "issue_refund", map[string]any{"order_id": "NW-5002", "amount": "0.01",
					"reason": fmt.Sprintf("hole %d of server %d", i, n), "another": true})
				if err != nil || answer.IsError {
					t.Errorf("refund %d of server %d: %s, %v", i, n, answer.JSON, err)
					return
				}
				calls[n]++
			}
		})
	}
	rows := []int64{}
	for i := range backups {
		to := filepath.Join(folder, fmt.Sprintf("copy-%d.db", i))
		if r := run(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + path}, "backup", to)); r.code != exitDone || r.stderr != "" {
			t.Errorf("%+v", r)
		}
		rows = append(rows, consistent(t, to))
	}
	close(stop)
	wg.Wait()
	last := consistent(t, path)
	t.Logf("refunds by each server: %v; audit rows in the copies %v, at last %d", calls, rows, last)
	for i, n := range rows {
		if i > 0 && n <= rows[i-1] || n >= last {
			t.Errorf("the copies have %v rows, the database %d: nothing was written amid them", rows, last)
			break
		}
	}
	if want := int64(calls[0] + calls[1] + backups); last != want {
		t.Errorf("%d audit rows, want %d", last, want)
	}
	noDrafts(t, folder)
}

// consistent checks that a database is sound and that its money and its log tell
// the same, and returns how many audit rows it has.
func consistent(t *testing.T, path string) int64 {
	t.Helper()
	ctx := context.Background()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Error(err)
		return 0
	}
	head, err := audit.Verify(ctx, db, nil)
	err = errors.Join(err, db.View(ctx, func(v *store.View) error {
		faults, err := v.Faults(ctx)
		dangling, fault := v.Dangling(ctx)
		if len(faults)+len(dangling) > 0 {
			t.Errorf("%s: %v %v", path, faults, dangling)
		}
		return errors.Join(err, fault)
	}), db.Close())
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	behind, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer behind.Close()
	for what, query := range map[string]string{
		"orders that don't add up": `select count(*) from orders o where refunded <> source_refunded +
			(select coalesce(sum(amount), 0) from refunds where order_id = o.id)`,
		"refunds without a row, or rows without one": `select abs((select count(*) from refunds) -
			(select count(*) from audit where action = 'issue_refund' and outcome = 'ok'))`,
	} {
		n := 0
		if err := behind.QueryRow(query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d %s, %v", path, n, what, err)
		}
	}
	return head.Seq
}

// A kill amid a backup leaves no file of its name, or a whole one, and nothing
// that is in the way of the next.
func TestKilledWhileBackingUp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "demo.db")
	heavy(t, path, 40)
	env := []string{"COUNTERSIGN_DB=" + path}
	unfinished := 0
	for i := range 10 {
		target := filepath.Join(folder, "copies", fmt.Sprint(i))
		if err := os.MkdirAll(target, 0o700); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(target, "copy.db")
		cmd := program(t, "countersign", env, "backup", to)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		underWay(t, target)
		time.Sleep(time.Duration(i*i*4) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		if _, err := os.Stat(to); err == nil {
			consistent(t, to)
			continue
		}
		unfinished++
		if r := run(t, program(t, "countersign", env, "backup", to)); r.code != exitDone {
			t.Errorf("the next: %+v", r)
		}
		consistent(t, to)
	}
	t.Logf("%d of 10 were killed before the end", unfinished)
	if unfinished == 0 {
		t.Error("every backup was done before the kill")
	}
	consistent(t, path)
}

// A backup that its operator interrupts says so and leaves nothing.
func TestInterruptedBackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	heavy(t, path, 40)
	for range 10 {
		folder := t.TempDir()
		to := filepath.Join(folder, "copy.db")
		cmd := program(t, "countersign", []string{"COUNTERSIGN_DB=" + path}, "backup", to)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		underWay(t, folder)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the code tells
		if cmd.ProcessState.ExitCode() == exitDone {
			continue // it was faster
		}
		if code := cmd.ProcessState.ExitCode(); code != exitFailure || stderr.String() != "countersign: "+to+": interrupted, there is no backup\n" {
			t.Errorf("exit code %d, %q", code, stderr.String())
		}
		if names := snapshot(t, folder); len(names) != 1 {
			t.Errorf("left behind: %v", names)
		}
		return
	}
	t.Error("every backup was done before it was interrupted")
}

// underWay waits until a backup has begun in an empty folder: with the key's
// draft, then the database's.
func underWay(t *testing.T, folder string) {
	t.Helper()
	for range 60_000 {
		names, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(names) >= 2 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the backup never began")
}
