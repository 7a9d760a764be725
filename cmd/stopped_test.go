//go:build unix

package cmd_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/store"
	"countersign/tools/client"
)

func init() { children["BE_STOPPED"] = beStopped }

// beStopped is a process that stops itself while it stands first in the queue
// of writers, in a transaction or before it.
func beStopped() error {
	path := os.Getenv("DATABASE")
	stop := func() error {
		fmt.Println("inside")
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	if os.Getenv("WRITES") == "" {
		file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_EX), stop(), file.Close())
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	err = db.Tx(context.Background(), func(tx *store.Tx) error {
		return errors.Join(tx.SetSetting("stopped", "yes"), stop())
	})
	return errors.Join(err, db.Close())
}

// TestStoppedWriter stops a process that holds what writers need. The others get
// an answer in time, and go on once it does, or is killed.
func TestStoppedWriter(t *testing.T) {
	for name, test := range map[string]struct {
		writes string
		end    syscall.Signal
		busy   bool
	}{
		"in the queue":             {"", syscall.SIGCONT, false},
		"in a transaction":         {"yes", syscall.SIGCONT, true},
		"in a transaction, killed": {"yes", syscall.SIGKILL, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := shop(t)
			session, err := client.Start(t.Context(), shopServer(t, path), "stopped")
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			holder := self("BE_STOPPED", "DATABASE="+path, "WRITES="+test.writes)
			out, err := holder.StdoutPipe()
			if err = errors.Join(err, holder.Start()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = holder.Process.Kill() })
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					began := time.Now()
					tool, arguments := "issue_refund", map[string]any{"order_id": fmt.Sprintf("A-%d", i+1), "amount": "1.00", "reason": "a hole"}
					if i%2 == 0 {
						tool, arguments = "get_order", map[string]any{"order_id": "A-1"}
					}
					answer, err := session.Call(t.Context(), tool, arguments)
					took := time.Since(began)
					t.Logf("%s after %v: %.60s", tool, took, answer.JSON)
					if busy := strings.Contains(string(answer.JSON), `"error":"busy"`); err != nil || busy != test.busy || answer.IsError != busy {
						t.Errorf("%s: %v, %s", tool, err, answer.JSON)
					}
					const answersWithin = 30 * time.Second
					if took > answersWithin {
						t.Errorf("%s took %v", tool, took)
					}
				})
			}
			wg.Wait()
			if err := holder.Process.Signal(test.end); err != nil {
				t.Fatal(err)
			}
			if err := holder.Wait(); (err != nil) != (test.end == syscall.SIGKILL) {
				t.Error(err)
			}
			answer, err := session.Call(t.Context(), "issue_refund", map[string]any{"order_id": "A-30", "amount": "1.00", "reason": "a hole"})
			if err != nil || answer.IsError {
				t.Errorf("afterwards: %v, %s", err, answer.JSON)
			}
			if err := balanced(path, twice); err != nil {
				t.Error(err)
			}
			if test.busy {
				if n, err := count(path, "select count(*) from refunds"); err != nil || n != 1 {
					t.Errorf("%d refunds, %v: busy ones were made", n, err)
				}
			}
		})
	}
}
