//go:build unix

package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/store"
	"countersign/tools/client"
)

// A session with a server whose disk a test takes away and gives back.
type session struct {
	*client.Client
	t   *testing.T
	log *logged
	n   int // refunds asked for
}

// logged is what a running server has logged.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func connect(t *testing.T, cmd *exec.Cmd) *session {
	t.Helper()
	log := new(logged)
	cmd.Stderr = log
	c, err := client.Start(t.Context(), cmd, "disk")
	if err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	t.Cleanup(func() { c.Close() })
	return &session{Client: c, t: t, log: log}
}

// ask calls a tool and returns the answer's text.
func (s *session) ask(tool string, arguments map[string]any) (text string, isError bool) {
	s.t.Helper()
	answer, err := s.Call(context.Background(), tool, arguments)
	if err != nil {
		s.t.Fatalf("the server is gone: %v: %s", err, s.log)
	}
	return string(answer.JSON), answer.IsError
}

// refund asks for a refund that differs from all before.
func (s *session) refund() (text string, isError bool) {
	s.t.Helper()
	s.n++
	return s.ask("issue_refund", map[string]any{"order_id": fmt.Sprintf("A-%d", s.n%shopOrders+1), "amount": "1.00", "reason": "a hole", "another": true})
}

// closed expects that nothing is shown and nothing is done.
func (s *session) closed(path string) {
	s.t.Helper()
	for _, call := range []func() (string, bool){
		s.refund,
		func() (string, bool) { return s.ask("get_order", map[string]any{"order_id": "A-1"}) },
		func() (string, bool) { return s.ask("lookup_customer", map[string]any{}) },
		func() (string, bool) {
			return s.ask("escalate_to_human", map[string]any{"summary": "A question amid a fault.", "category": "other"})
		},
	} {
		text, isError := call()
		if !isError || !strings.Contains(text, `"error":"audit_unavailable"`) || strings.Contains(text, "Ava") || strings.Contains(text, "100.00") {
			s.t.Errorf("answered %.300s", text)
		}
	}
}

// open expects that reading and refunding work.
func (s *session) open() {
	s.t.Helper()
	for _, call := range []func() (string, bool){
		func() (string, bool) { return s.ask("get_order", map[string]any{"order_id": "A-1"}) }, s.refund,
	} {
		if text, isError := call(); isError {
			s.t.Errorf("it doesn't work again: %s; %s", text, s.log)
		}
	}
}

// done counts what the database holds of the calls.
func done(t *testing.T, path string) int {
	t.Helper()
	n, err := count(path, "select (select count(*) from audit) + 1000 * (select count(*) from refunds) + 1000000 * (select count(*) from tickets)")
	if err != nil {
		t.Error(err)
	}
	return n
}

// smallDisk mounts a file system of its own.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "countersign-test", folder).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return folder
}

// fill writes to a disk until it is full, and returns what frees it.
func fill(t *testing.T, folder string) (free func()) {
	t.Helper()
	file, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 1 << 16; size > 0; {
		if _, err := file.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(file.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk fills the disk under a running server and frees it again.
func TestFullDisk(t *testing.T) {
	folder := smallDisk(t)
	path := filepath.Join(folder, "shop.db")
	if err := shopAt(path); err != nil {
		t.Fatal(err)
	}
	s := connect(t, shopServer(t, path))
	s.open()
	free := fill(t, folder)
	before := done(t, path)
	s.closed(path)
	s.closed(path)
	if after := done(t, path); after != before {
		t.Errorf("half done on a full disk: %d, then %d", before, after)
	}
	s.says(store.ErrDiskFull.Error())
	lines := filepath.Join(t.TempDir(), "shop.jsonl")
	if err := os.WriteFile(lines, []byte(importedLines), 0o600); err != nil {
		t.Fatal(err)
	}
	manager := []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + managerToken}
	fails(t, program(t, "countersign", manager, "import", "native", lines), path, store.ErrDiskFull.Error())
	fails(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + filepath.Join(folder, "new", "demo.db")}, "demo", "reset"), folder)
	fails(t, program(t, "countersign", []string{"COUNTERSIGN_DB=" + filepath.Join(folder, "new.db"), "HOME=" + t.TempDir()}, "init"), folder)
	free()
	s.open()
	if out, err := program(t, "countersign", manager, "import", "native", lines).CombinedOutput(); err != nil {
		t.Errorf("importing again: %v: %s", err, out)
	}
	if err := balanced(path); err != nil {
		t.Error(err)
	}
	if out, err := program(t, "countersign", []string{"COUNTERSIGN_DB=" + filepath.Join(folder, "new", "demo.db")}, "demo", "reset").CombinedOutput(); err != nil {
		t.Errorf("making a demo database again: %v: %s", err, out)
	}
}

// fails expects that a program exits with 1 and says why on one line.
func fails(t *testing.T, cmd *exec.Cmd, words ...string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // the exit code tells
	if code := cmd.ProcessState.ExitCode(); code != 1 || len(out) > 0 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("%v: exit code %d, stdout %q, stderr %q", cmd.Args[1:], code, out, stderr.String())
	}
	for _, word := range words {
		if !strings.Contains(stderr.String(), word) {
			t.Errorf("%v: %q doesn't say %q", cmd.Args[1:], stderr.String(), word)
		}
	}
}

// TestFileSizeLimit lets a server run into the largest file that it may write.
func TestFileSizeLimit(t *testing.T) {
	path := shop(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	limited := func(cmd *exec.Cmd) *exec.Cmd { // in blocks of 512 or of 1024 bytes
		shell := exec.Command("sh", append([]string{"-c", fmt.Sprintf("ulimit -f %d; exec \"$0\" \"$@\"", info.Size()/512+64)}, cmd.Args...)...)
		shell.Env = cmd.Env
		return shell
	}
	s := connect(t, limited(shopServer(t, path)))
	until := func(call func() (string, bool)) (answered int) { // it meets the limit
		t.Helper()
		const most = 5000
		for ; answered < most; answered++ {
			if text, isError := call(); isError {
				if !strings.Contains(text, `"error":"audit_unavailable"`) {
					t.Errorf("answered %s", text)
				}
				return answered
			}
		}
		t.Fatal("the limit was never met")
		return 0
	}
	made := until(s.refund)
	until(func() (string, bool) { return s.ask("get_order", map[string]any{"order_id": "A-1"}) }) // smaller rows still fit
	before := done(t, path)
	s.closed(path)
	if after := done(t, path); after != before || before%1000000/1000 != made {
		t.Errorf("%d refunds were answered; the database says %d, then %d", made, before, after)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%v: %s", err, s.log)
	}
	s = connect(t, shopServer(t, path))
	s.n = made
	s.open()
	if err := balanced(path); err != nil {
		t.Error(err)
	}
}

// says waits for a text in the server's log, which is written a moment after
// the answer.
func (s *session) says(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(s.log.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Errorf("the log doesn't say %q: %s", text, s.log)
			return
		}
	}
}

// TestFileTakenAway moves the database of a running server away, puts it back,
// and puts another in its place.
func TestFileTakenAway(t *testing.T) {
	path := shop(t)
	s := connect(t, shopServer(t, path))
	s.open()
	before := done(t, path)
	aside := path + ".aside"
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(path, aside)
	s.closed(path)
	s.says(path + ": " + store.ErrMissing.Error())
	if _, err := os.Stat(path); err == nil {
		t.Error("a new file was made")
	}
	if err := shopAt(path); err != nil { // another one, restored from somewhere
		t.Fatal(err)
	}
	s.closed(path)
	s.says(path + ": " + store.ErrReplaced.Error())
	move(aside, path)
	if after := done(t, path); after != before {
		t.Errorf("half done: %d, then %d", before, after)
	}
	s.open()
	if err := balanced(path); err != nil {
		t.Error(err)
	}
	folder := filepath.Dir(path)
	move(folder, folder+"-aside")
	s.closed(path)
	move(folder+"-aside", folder)
	s.open()
}

// TestReadOnlyWhileRunning takes a server, which isn't root's, the right to
// write before it has written, and gives it back.
func TestReadOnlyWhileRunning(t *testing.T) {
	folder, err := os.MkdirTemp("", "countersign-public-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "shop.db")
	modes := func(folderMode, fileMode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.Chmod(folder, folderMode), os.Chmod(path, fileMode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(shopAt(path), os.Chmod(store.KeyPath(path), 0o444)); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string][2]os.FileMode{"file": {0o777, 0o444}, "folder": {0o555, 0o666}, "both": {0o555, 0o444}, "unreadable": {0o777, 0o000}} {
		t.Run(name, func(t *testing.T) {
			modes(0o777, 0o666)
			cmd := shopServer(t, path)
			asNobody(cmd)
			s := connect(t, cmd)
			before := done(t, path)
			modes(mode[0], mode[1])
			if name != "folder" { // in which it made its files already
				s.closed(path)
				s.says(path + ": " + store.ErrReadOnly.Error())
			}
			modes(0o777, 0o666)
			if after := done(t, path); after != before {
				t.Errorf("half done: %d, then %d", before, after)
			}
			for tries := 1; ; tries++ { // SQLite gives its log the database's new mode only as it next opens it
				if text, isError := s.ask("get_order", map[string]any{"order_id": "A-1"}); !isError {
					break
				} else if tries == 4 {
					t.Fatalf("it doesn't work again: %s, %s", text, s.log)
				}
			}
			s.open()
			if err := s.Close(); err != nil {
				t.Errorf("%v: %s", err, s.log)
			}
		})
	}
	if err := balanced(path); err != nil {
		t.Error(err)
	}
}

// asNobody makes a command run as a user that isn't root.
func asNobody(cmd *exec.Cmd) {
	const nobody = 65534
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
