//go:build unix

package cmd_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"

	"countersign/store"
)

// TestTortureAtEachStatement kills a process before and after each statement of
// each scene, and afterwards looks whether all of it happened or nothing, and
// whether the next run goes on. What many rows repeat is a point three times.
func TestTortureAtEachStatement(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.killAtEachPoint(t, name, nil)
		})
		if s.shared {
			t.Run(name+" by two at once", func(t *testing.T) {
				t.Parallel()
				s.killAtEachPoint(t, name, s.work)
			})
		}
	}
}

// killAtEachPoint kills the scene at its first point, at its second, and so on
// until it ends before it is killed. beside, if set, runs at the same time.
func (s scene) killAtEachPoint(t *testing.T, name string, beside func(string, store.Options) error) {
	const most = 2000
	folder := memory(t)
	nothing := 0
	for n := 1; n < most; n++ {
		path := filepath.Join(folder, strconv.Itoa(n), "shop.db")
		killed, happened, err := s.killAt(name, path, n, beside)
		if err != nil {
			t.Errorf("killed at point %d: %v", n, err)
		}
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		if !happened {
			nothing++
		}
		if !killed {
			t.Logf("killed at %d points; at %d of them nothing had happened", n-1, nothing)
			if nothing == 0 && beside == nil {
				t.Error("it happened before its first statement")
			}
			return
		}
	}
	t.Errorf("it doesn't end after %d points", most)
}

// killAt runs the scene in a child that is killed at its n-th point, and checks
// what that leaves.
func (s scene) killAt(name, path string, n int, beside func(string, store.Options) error) (killed, happened bool, err error) {
	if err := s.layOut(path); err != nil {
		return false, false, err
	}
	child := self("BE_KILLED", "SCENE="+name, "DATABASE="+path, "AT="+strconv.Itoa(n))
	var aside error
	var wg sync.WaitGroup
	if beside != nil {
		wg.Go(func() { aside = beside(path, store.Options{}) })
	}
	out, fault := child.CombinedOutput()
	wg.Wait()
	killed = wasKilled(child)
	if fault != nil && !killed {
		return false, false, fmt.Errorf("the child: %w\n%s", fault, out)
	}
	if aside != nil {
		return killed, false, fmt.Errorf("the process beside it: %w", aside)
	}
	happened, err = s.check(path)
	if !happened && (!killed || beside != nil) {
		err = errors.Join(err, errors.New("it was done and hasn't happened"))
	}
	return killed, happened, err
}

// memory is a temporary folder in memory, where there is one: what a killed
// process wrote is there as on a disk, and syncing takes no time.
func memory(t *testing.T) string {
	folder, err := os.MkdirTemp("/dev/shm", "countersign-torture-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

func wasKilled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func init() { children["BE_KILLED"] = beKilled }

// beKilled is a process that runs a scene and kills itself at a point of it.
func beKilled() error {
	at, err := strconv.Atoi(os.Getenv("AT"))
	if err != nil {
		return err
	}
	p := &points{left: at, met: map[string]int{}}
	if err := p.watchDriver(); err != nil {
		return err
	}
	return scenes[os.Getenv("SCENE")].work(os.Getenv("DATABASE"), store.Options{Statement: p.statement})
}

// points are where a process can kill itself.
type points struct {
	mu   sync.Mutex
	left int
	met  map[string]int
}

func (p *points) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left--; p.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// statement is a point twice for each run of a statement, at most three runs.
func (p *points) statement(text string) {
	const most = 2 * 3
	p.mu.Lock()
	p.met[text]++
	passed := p.met[text] > most
	p.mu.Unlock()
	if !passed {
		p.pass()
	}
}

// watchDriver makes points inside scripts of many statements, where the store
// sees one: SQLite asks for permission as it begins with each statement that
// makes or drops something.
func (p *points) watchDriver() error {
	db, err := sql.Open("sqlite3", "")
	if err != nil {
		return err
	}
	driver, ok := db.Driver().(*sqlite3.SQLiteDriver)
	if !ok {
		return fmt.Errorf("the driver is a %T", db.Driver())
	}
	driver.ConnectHook = func(conn *sqlite3.SQLiteConn) error {
		conn.RegisterAuthorizer(func(action int, _, _, _ string) int {
			switch action {
			case sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_CREATE_TRIGGER, sqlite3.SQLITE_DROP_TABLE,
				sqlite3.SQLITE_DROP_TRIGGER, sqlite3.SQLITE_PRAGMA:
				p.pass()
			}
			return sqlite3.SQLITE_OK
		})
		return nil
	}
	return db.Close()
}
