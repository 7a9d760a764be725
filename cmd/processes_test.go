//go:build unix

package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/audit"
	"countersign/store"
	"countersign/tools/client"
)

// shopServer returns the command of a server for the shop's agent.
func shopServer(t testing.TB, path string) *exec.Cmd {
	t.Helper()
	return program(t, "countersign-mcp", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + agentToken, "COUNTERSIGN_CUSTOMER=" + shopCustomer})
}

// TestManyProcesses lets eight servers and two operators work on one file: none
// is ever told to wait, no order is paid back more than was paid, and every call
// has its row.
func TestManyProcesses(t *testing.T) {
	const servers, atOnce, operators = 8, 4, 2
	each := 100
	if os.Getenv(killsVariable) != "" {
		each = 1000
	}
	path := shop(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	codes, commands, slowest := map[string]int{}, 0, time.Duration(0)
	for n := range servers {
		wg.Go(func() {
			cmd := shopServer(t, path)
			var log bytes.Buffer
			cmd.Stderr = &log
			session, err := client.Start(t.Context(), cmd, "many")
			if err != nil {
				t.Error(err)
				return
			}
			var calls sync.WaitGroup
			for m := range atOnce {
				calls.Go(func() {
					for i := m; i < each; i += atOnce {
						tool, arguments := mixedCall(n, i)
						start := time.Now()
						answer, err := session.Call(t.Context(), tool, arguments)
						took := time.Since(start)
						var refusal struct{ Error string }
						if err != nil || json.Unmarshal(answer.JSON, &refusal) != nil {
							t.Errorf("server %d: %v: %s", n, err, answer.JSON)
							return
						}
						mu.Lock()
						codes[tool+" "+refusal.Error]++
						slowest = max(slowest, took)
						mu.Unlock()
					}
				})
			}
			calls.Wait()
			if err := session.Close(); err != nil {
				t.Errorf("server %d: %v", n, err)
			}
			for _, word := range []string{"locked", "busy", "holds this database", "call failed"} {
				if at := strings.Index(log.String(), word); at >= 0 {
					t.Errorf("server %d logged %q: %s", n, word, log.String()[max(0, at-200):])
				}
			}
		})
	}
	for n := range operators {
		wg.Go(func() {
			o := operator{t: t, path: path, name: fmt.Sprint("O", n)}
			for i := range each {
				o.command(i)
			}
			mu.Lock()
			commands += o.audited
			mu.Unlock()
		})
	}
	wg.Wait()
	t.Logf("answers: %v; the slowest took %v", codes, slowest)
	for answer, n := range codes {
		for _, code := range []string{"busy", "internal", "audit_unavailable"} {
			if strings.HasSuffix(answer, " "+code) {
				t.Errorf("%d × %s", n, answer)
			}
		}
	}
	if err := balanced(path); err != nil {
		t.Error(err)
	}
	for query, want := range map[string]int{
		"select count(*) from audit where door = 'mcp'": servers * each,
		"select count(*) from audit where door = 'cli'": commands,
		// no call was repeated here, so that each refund has a row of its own
		`select count(*) - (select count(*) from refunds where approval_id is null) from audit
			where action = 'issue_refund' and outcome = 'ok' and approval_id = ''`: 0,
	} {
		if n, err := count(path, query); err != nil || n != want {
			t.Errorf("%d, want %d, %v: %s", n, want, err, query)
		}
	}
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestTwoServersWriteOneChain lets two servers write 500 rows each.
func TestTwoServersWriteOneChain(t *testing.T) {
	const servers, each = 2, 500
	path := shop(t)
	var wg sync.WaitGroup
	for range servers {
		wg.Go(func() {
			session, err := client.Start(t.Context(), shopServer(t, path), "chain")
			if err != nil {
				t.Error(err)
				return
			}
			for range each {
				if answer, err := session.Call(t.Context(), "get_order", map[string]any{"order_id": "A-1"}); err != nil || answer.IsError {
					t.Errorf("%v: %s", err, answer.JSON)
					break
				}
			}
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	head, err := audit.Verify(t.Context(), db, nil)
	if err != nil || head.Seq != servers*each {
		t.Errorf("%v, %v", head, err)
	}
	for query, want := range map[string]int{
		"select count(*) from audit":                servers * each,
		"select count(distinct session) from audit": servers,
	} {
		if n, err := count(path, query); err != nil || n != want {
			t.Errorf("%d, want %d, %v: %s", n, want, err, query)
		}
	}
}

// mixedCall is the i-th call of the n-th server; no two refunds are alike, and
// together they ask for far more than was paid.
func mixedCall(n, i int) (tool string, arguments map[string]any) {
	order := fmt.Sprintf("A-%d", i%3+1)
	switch i % 8 {
	case 0:
		return "lookup_customer", map[string]any{}
	case 1:
		return "track_shipment", map[string]any{"order_id": order}
	case 2:
		return "search_help_center", map[string]any{"query": "returns"}
	case 3:
		return "escalate_to_human", map[string]any{"summary": fmt.Sprintf("Question %d of server %d.", i, n), "category": "other"}
	case 4:
		return "update_shipping_address", map[string]any{"order_id": fmt.Sprintf("P-%d", i%7+1),
			"address": map[string]any{"line1": fmt.Sprintf("%d Elm Street", n*10000+i), "city": "Bend", "region": "OR", "postal_code": "97702", "country": "US"}}
	case 5:
		return "get_order", map[string]any{"order_id": order}
	}
	return "issue_refund", map[string]any{"order_id": order, "amount": fmt.Sprintf("%d.%02d", (n*1000+i)/100+1, (n*1000+i)%100), "reason": "a hole"}
}

// An operator runs commands on the shop's database, one after the other.
type operator struct {
	t       *testing.T
	path    string
	name    string
	audited int // commands that leave a row
}

// command runs the i-th command. It may lose a request to another operator, and
// nothing else.
func (o *operator) command(i int) {
	switch i % 5 {
	case 0, 1:
		var waiting []struct {
			ID string `json:"approval_id"`
		}
		if err := json.Unmarshal(o.run("approvals", "list", "--json"), &waiting); err != nil {
			o.t.Error(err)
		}
		if len(waiting) == 0 {
			return
		}
		o.audited++
		o.run("approvals", map[bool]string{true: "approve", false: "reject"}[i%2 == 0], waiting[0].ID, "--yes", "--note", "seen")
	case 2:
		o.run("audit", "verify")
	case 3:
		o.run("tickets", "list")
	case 4:
		file := filepath.Join(o.t.TempDir(), "shop.jsonl")
		if err := os.WriteFile(file, []byte(shopLines(fmt.Sprint(o.name, "-", i, "-"), 2)), 0o600); err != nil {
			o.t.Error(err)
		}
		o.audited++
		o.run("import", "native", file)
	}
}

func (o *operator) run(args ...string) (stdout []byte) {
	const conflict = 5
	cmd := program(o.t, "countersign", []string{"COUNTERSIGN_DB=" + o.path, "COUNTERSIGN_TOKEN=" + managerToken}, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != conflict {
		o.t.Errorf("%v: %v: %s", args, err, stderr.String())
	}
	return stdout
}

// leftovers are the files beside a database but its key and its queue.
func leftovers(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		switch filepath.Join(filepath.Dir(path), entry.Name()) {
		case path, store.KeyPath(path), path + ".lock":
		default:
			names = append(names, entry.Name())
		}
	}
	return names
}

// A running server that a test talks to by its raw streams.
type running struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	log    bytes.Buffer
}

func start(t *testing.T, path string) *running {
	t.Helper()
	s := &running{cmd: shopServer(t, path)}
	s.cmd.Stderr = &s.log
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err == nil {
		s.stdout, err = s.cmd.StdoutPipe()
	}
	if err = errors.Join(err, s.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	if _, err := io.WriteString(s.stdin, lines(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.stdout.Read(make([]byte, 1)); err != nil { // it serves
		t.Fatal(err)
	}
	return s
}

// ends waits for a server to exit with 0, and returns how long that took.
func (s *running) ends(t *testing.T, within time.Duration) {
	t.Helper()
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%v: %s", err, s.log.String())
		}
		t.Logf("it ended after %v", time.Since(began))
	case <-time.After(within):
		t.Errorf("it still runs after %v", within)
		_ = s.cmd.Process.Kill()
		<-ended
	}
}

// What ends a server, and how soon: idle within a second, and never later than
// after five; the bounds are wider, for a busy machine.
const (
	endsIdle = 4 * time.Second
	endsEver = 9 * time.Second
)

func TestServerEnds(t *testing.T) {
	terminals := make(chan os.Signal, 1)
	signal.Notify(terminals, syscall.SIGHUP) // or programs would ignore it where nohup runs this test
	t.Cleanup(func() { signal.Stop(terminals) })
	for name, end := range map[string]func(*running) error{
		"end of input": func(s *running) error { return s.stdin.Close() },
		"SIGTERM":      func(s *running) error { return s.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":       func(s *running) error { return s.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGINT":       func(s *running) error { return s.cmd.Process.Signal(syscall.SIGINT) },
		"SIGINT, SIGTERM": func(s *running) error { // as Claude Code does it
			return errors.Join(s.cmd.Process.Signal(syscall.SIGINT), s.cmd.Process.Signal(syscall.SIGTERM))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := shop(t)
			s := start(t, path)
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			s.ends(t, endsIdle)
			if left := leftovers(t, path); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
		t.Run(name+", answers unread", func(t *testing.T) {
			t.Parallel()
			path := shop(t)
			s := start(t, path)
			var many []shopQuestion
			for range 40 { // answers: more than a pipe holds; calls: fewer than wait for a place
				many = append(many, shopQuestion{tool: "lookup_customer", arguments: "{}"})
			}
			go io.WriteString(s.stdin, lines(many)) // it may never be read to its end
			time.Sleep(time.Second)
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			s.ends(t, endsEver)
			if err := balanced(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// A server that was started with nohup outlives its terminal.
func TestServerStaysUnderNohup(t *testing.T) {
	t.Parallel()
	server := shopServer(t, shop(t))
	nohup := exec.Command("/bin/sh", "-c", `trap '' HUP; exec "$0"`, server.Path)
	nohup.Env = server.Env
	session, err := client.Start(t.Context(), nohup, "nohup")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := session.Call(t.Context(), "get_order", map[string]any{"order_id": "A-1"}); err != nil {
			t.Error(err)
		}
		if err := nohup.Process.Signal(syscall.SIGHUP); err != nil {
			t.Error(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

func init() { children["BE_A_CLIENT"] = beAClient }

// beAClient is a client that starts a server, with what it has for stderr, and
// waits to be killed.
func beAClient() error {
	server := exec.Command(os.Getenv("SERVER"))
	server.Env, server.Stderr = os.Environ(), os.Stderr
	session, err := client.Start(context.Background(), server, "client")
	if err != nil {
		return err
	}
	if os.Getenv("CALLS") != "" {
		for range 16 {
			go func() {
				for {
					if _, err := session.Call(context.Background(), "lookup_customer", map[string]any{}); err != nil {
						return
					}
				}
			}()
		}
	}
	fmt.Println("ready")
	select {}
}

// TestNoOrphans kills clients: their servers end.
func TestNoOrphans(t *testing.T) {
	for name, calls := range map[string]string{"idle": "", "amid calls": "yes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := shop(t)
			server := shopServer(t, path)
			c := self("BE_A_CLIENT", append(server.Env, "SERVER="+server.Path, "CALLS="+calls, "COUNTERSIGN_LOG=warn")...)
			alive, theirs, err := os.Pipe() // at its end once both processes have ended
			if err != nil {
				t.Fatal(err)
			}
			defer alive.Close()
			c.Stderr = theirs
			ready, err := c.StdoutPipe()
			if err = errors.Join(err, c.Start(), theirs.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := ready.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // it was killed
			if err := alive.SetReadDeadline(time.Now().Add(endsEver)); err != nil {
				t.Fatal(err)
			}
			if said, err := io.ReadAll(alive); err != nil {
				t.Errorf("the server outlives its client: %v, %s", err, said)
			}
			if err := balanced(path); err != nil {
				t.Error(err)
			}
		})
	}
}
