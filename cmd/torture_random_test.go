//go:build unix

package cmd_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
)

// killsVariable says how many kills TestTortureAtRandom makes; without it they
// go on for killsFor.
const (
	killsVariable = "COUNTERSIGN_TORTURE"
	killsFor      = 15 * time.Second
)

// TestTortureAtRandom kills the real programs at random moments, on databases
// that live through many kills while others work on them, and checks everything
// after each.
func TestTortureAtRandom(t *testing.T) {
	if _, err := programs(); err != nil {
		t.Fatal(err)
	}
	most, until := int64(math.MaxInt64), time.Now().Add(killsFor)
	if text := os.Getenv(killsVariable); text != "" {
		var err error
		if most, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
		until = time.Now().Add(24 * time.Hour)
	}
	var kills, midWork, failures atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			w := &torturer{t: t, folder: memory(t)}
			for kills.Load() < most && time.Now().Before(until) && failures.Load() < 20 {
				interrupted, err := w.round()
				if err != nil {
					failures.Add(1)
					t.Errorf("%s: %v", w.what, err)
					w.path = "" // begin anew
				}
				midWork.Add(int64(interrupted))
				if n := kills.Add(int64(w.killed)); n%500 < int64(w.killed) {
					t.Logf("%d kills, %d of them amid work", n, midWork.Load())
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d kills, %d of them amid work, %d violations", kills.Load(), midWork.Load(), failures.Load())
	if midWork.Load() == 0 || midWork.Load() < kills.Load()/10 {
		t.Error("the kills come too early or too late to interrupt anything")
	}
}

// A torturer lets programs work on one database after the other and kills them.
type torturer struct {
	t      *testing.T
	folder string
	path   string // of the database; "": a new one is due
	rounds int    // on it
	calls  int    // made on it: no two ask for the same
	serial int
	what   string // the round did
	killed int    // processes in the round
	usual  map[string]time.Duration
}

// round lets programs work, kills one or two, and checks. It returns how many
// were killed before they were done.
func (w *torturer) round() (interrupted int, err error) {
	const roundsOnOne = 60
	if w.rounds++; w.path == "" || w.rounds > roundsOnOne {
		w.serial++
		w.rounds, w.calls, w.path = 0, 0, filepath.Join(w.folder, fmt.Sprint(w.serial), "shop.db")
		if err := os.RemoveAll(filepath.Join(w.folder, fmt.Sprint(w.serial-1))); err != nil {
			return 0, err
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(w.path), 0o700), shopAt(w.path)); err != nil {
			return 0, err
		}
	}
	w.killed = 0
	switch n := rand.IntN(10); {
	case n < 5:
		return w.callsRound()
	case n < 6:
		return w.approveRound()
	case n < 7:
		return w.importRound()
	default:
		return w.sceneRound([]string{"migration", "demo", "reset"}[n-7])
	}
}

// moment is a random part of how long a piece of work takes.
func (w *torturer) moment(work string) time.Duration {
	usual := w.usual[work]
	if usual == 0 {
		usual = 60 * time.Millisecond
	}
	return time.Duration(rand.Float64() * 1.2 * float64(usual))
}

// took learns how long a piece of work takes here and now.
func (w *torturer) took(work string, d time.Duration) {
	if w.usual == nil {
		w.usual = map[string]time.Duration{}
	}
	if w.usual[work] == 0 {
		w.usual[work] = d
	}
	w.usual[work] = (7*w.usual[work] + d) / 8
}

// runAndKill runs a command and kills it at a random moment.
func (w *torturer) runAndKill(work string, cmd *exec.Cmd) (interrupted bool, out string, err error) {
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return false, "", err
	}
	timer := time.AfterFunc(w.moment(work), func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	w.killed = 1
	if wasKilled(cmd) {
		w.took(work, max(w.usual[work], time.Since(start))*101/100) // perhaps it takes longer than thought
		return true, output.String(), nil
	}
	w.killed = 0
	w.took(work, time.Since(start))
	return false, output.String(), err
}

// shopQuestion is a call that no other call on the database equals.
type shopQuestion struct {
	tool, arguments string
	asked           string // a query that counts how often it has happened
}

func (w *torturer) question() shopQuestion {
	w.calls++
	n := w.calls
	order := fmt.Sprintf("A-%d", n%shopOrders+1)
	cents := 100 + n/shopOrders*7%900
	switch n % 8 {
	case 0:
		return shopQuestion{"escalate_to_human", fmt.Sprintf(`{"summary":"Question number %d of the customer.","category":"other"}`, n),
			fmt.Sprintf("select count(*) from tickets where summary = 'Question number %d of the customer.'", n)}
	case 1:
		return shopQuestion{"update_shipping_address", fmt.Sprintf(
			`{"order_id":"P-%d","address":{"line1":"%d Elm Street","city":"Bend","region":"OR","postal_code":"97702","country":"US"}}`, n%shopOrders+1, n),
			fmt.Sprintf("select count(*) from orders where line1 = '%d Elm Street'", n)}
	case 2:
		return shopQuestion{"get_order", fmt.Sprintf(`{"order_id":%q}`, order), "select 1"}
	case 3: // above the limit: parked
		cents += 4000
		return shopQuestion{"issue_refund", fmt.Sprintf(`{"order_id":%q,"amount":"%d.%02d","reason":"a hole"}`, order, cents/100, cents%100),
			fmt.Sprintf("select count(*) from approvals where order_id = '%s' and amount = %d", order, cents)}
	}
	return shopQuestion{"issue_refund", fmt.Sprintf(`{"order_id":%q,"amount":"%d.%02d","reason":"a hole"}`, order, cents/100, cents%100),
		fmt.Sprintf(`select (select count(*) from refunds where order_id = '%s' and amount = %d and approval_id is null)
			+ (select count(*) from approvals where order_id = '%[1]s' and amount = %d)`, order, cents, cents)}
}

// serving is a server with calls on their way to it.
type serving struct {
	cmd       *exec.Cmd
	stdin     io.WriteCloser
	questions []shopQuestion
	answers   map[int]string // by the question's place
	faults    []string
	log       strings.Builder
	all       chan struct{} // closed when every answer is in, or the server has ended
}

func (w *torturer) serve(questions []shopQuestion) (*serving, error) {
	s := &serving{questions: questions, answers: map[int]string{}, all: make(chan struct{})}
	s.cmd = program(w.t, "countersign-mcp", []string{"COUNTERSIGN_TOKEN=" + agentToken, "COUNTERSIGN_LOG=warn"}, "--db", w.path, "--customer", shopCustomer)
	s.cmd.Stderr = &s.log
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.read(stdout)
	_, err = io.WriteString(s.stdin, lines(questions))
	if errors.Is(err, syscall.EPIPE) {
		err = nil // it was killed already
	}
	return s, err
}

// lines are a session's start and its calls.
func lines(questions []shopQuestion) string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`)
	for i, q := range questions {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", i, q.tool, q.arguments)
	}
	return b.String()
}

// read takes the answers in until all are there or the server has ended.
func (s *serving) read(stdout io.Reader) {
	defer close(s.all)
	for scanner := bufio.NewScanner(stdout); len(s.answers) < len(s.questions) && scanner.Scan(); {
		var line struct {
			ID     json.RawMessage
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
			Error json.RawMessage
		}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			continue // the end of one that was killed amid a write
		}
		place, err := strconv.Atoi(string(line.ID))
		if err != nil {
			continue
		}
		if line.Error != nil || len(line.Result.Content) != 1 {
			s.faults = append(s.faults, scanner.Text())
			continue
		}
		s.answers[place] = line.Result.Content[0].Text
		for _, code := range []string{"busy", "internal", "audit_unavailable"} {
			if strings.Contains(s.answers[place], `"error":"`+code+`"`) {
				s.faults = append(s.faults, s.answers[place])
			}
		}
	}
}

// callsRound lets two servers answer calls on the same database, kills one of
// them or both, and asks again what was asked.
func (w *torturer) callsRound() (interrupted int, err error) {
	const each = 6
	w.what = "two servers"
	both := rand.IntN(2) == 0
	var servers []*serving
	start := time.Now()
	for range 2 {
		var questions []shopQuestion
		for range each {
			questions = append(questions, w.question())
		}
		s, err := w.serve(questions)
		if err != nil {
			return 0, err
		}
		servers = append(servers, s)
	}
	for i, s := range servers {
		if i == 0 || both {
			select {
			case <-s.all:
				w.took(w.what, time.Since(start))
			case <-time.After(w.moment(w.what)):
				interrupted++
			}
			if err := s.cmd.Process.Kill(); err != nil {
				return interrupted, err
			}
			w.killed++
		}
		<-s.all
		s.stdin.Close()
		fault := s.cmd.Wait()
		if !wasKilled(s.cmd) && fault != nil {
			err = errors.Join(err, fmt.Errorf("the other server: %w: %s", fault, s.log.String()))
		}
		if !wasKilled(s.cmd) && len(s.answers) < each {
			err = errors.Join(err, fmt.Errorf("the other server gave %d answers", len(s.answers)))
		}
		if len(s.faults) > 0 || strings.Contains(s.log.String(), "holds this database") {
			err = errors.Join(err, fmt.Errorf("faults %q, log %q", s.faults, s.log.String()))
		}
	}
	if err := errors.Join(err, balanced(w.path, twice)); err != nil {
		return interrupted, err
	}
	return interrupted, w.askAgain(servers)
}

// askAgain asks the servers' questions again and expects that each has happened
// once: what was answered, before that already.
func (w *torturer) askAgain(servers []*serving) error {
	return atDesk(w.path, store.Options{}, func(ask func(tool, arguments string) tools.Result) error {
		return queries(w.path, func(db *sql.DB) (err error) {
			for _, s := range servers {
				for i, q := range s.questions {
					err = errors.Join(err, q.askAgain(db, s.answers[i], ask))
				}
			}
			return err
		})
	})
}

func (q shopQuestion) askAgain(db *sql.DB, answer string, ask func(tool, arguments string) tools.Result) error {
	var before, after int
	if err := db.QueryRow(q.asked).Scan(&before); err != nil {
		return err
	}
	if answer != "" && !strings.Contains(answer, `"error":`) && before != 1 {
		return fmt.Errorf("%s %s was answered %s and has happened %d times", q.tool, q.arguments, answer, before)
	}
	res := ask(q.tool, q.arguments)
	if err := db.QueryRow(q.asked).Scan(&after); err != nil {
		return err
	}
	if refused := res.IsError && after == 0 && res.Code != policy.Busy && res.Code != policy.Internal; !refused && after != 1 {
		return fmt.Errorf("%s %s, asked again: %s, and has happened %d times", q.tool, q.arguments, res.JSON, after)
	}
	return nil
}

// approveRound kills an operator who approves, and approves again.
func (w *torturer) approveRound() (interrupted int, err error) {
	w.what = "countersign approvals approve"
	w.calls++
	cents := 3100 + w.calls%5000
	order := fmt.Sprintf("A-%d", w.calls%shopOrders+1)
	arguments := fmt.Sprintf(`{"order_id":%q,"amount":"%d.%02d","reason":"a hole"}`, order, cents/100, cents%100)
	res, err := call(w.path, store.Options{}, "issue_refund", arguments)
	if err != nil || res.IsError { // nothing is left to refund on this order
		return 0, err
	}
	var answer struct {
		ID string `json:"approval_id"`
	}
	if err := json.Unmarshal(res.JSON, &answer); err != nil || answer.ID == "" {
		return 0, fmt.Errorf("not parked: %s", res.JSON)
	}
	run := func() *exec.Cmd {
		return program(w.t, "countersign", []string{"COUNTERSIGN_TOKEN=" + managerToken}, "--db", w.path, "approvals", "approve", answer.ID, "--yes")
	}
	killed, out, err := w.runAndKill(w.what, run())
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	state := fmt.Sprintf(`select 2 * (state = 'approved') + (select count(*) from refunds where approval_id = '%s') from approvals where id = '%[1]s'`, answer.ID)
	n, err := count(w.path, state)
	if err != nil || n != 0 && n != 3 || n == 0 && !killed {
		return 0, fmt.Errorf("half approved, or not: %d, %w, %s", n, err, out)
	}
	if killed {
		interrupted = 1
		again := run()
		text, err := again.CombinedOutput()
		if code := again.ProcessState.ExitCode(); n == 0 && code != 0 || n == 3 && code != 5 {
			return 1, fmt.Errorf("approved again: %w: %s", err, text)
		}
	}
	if n, err := count(w.path, state); err != nil || n != 3 {
		return interrupted, fmt.Errorf("afterwards: %d, %w", n, err)
	}
	return interrupted, balanced(w.path, twice)
}

// importRound kills an import, and imports again.
func (w *torturer) importRound() (interrupted int, err error) {
	const orders = 12
	w.what = "countersign import"
	w.calls++
	prefix := fmt.Sprintf("I%d-", w.calls)
	file := filepath.Join(filepath.Dir(w.path), prefix+"shop.jsonl")
	if err := os.WriteFile(file, []byte(shopLines(prefix, orders)), 0o600); err != nil {
		return 0, err
	}
	run := func() *exec.Cmd {
		return program(w.t, "countersign", []string{"COUNTERSIGN_TOKEN=" + managerToken}, "--db", w.path, "import", "native", file)
	}
	killed, out, err := w.runAndKill(w.what, run())
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	query := fmt.Sprintf("select count(*) from orders where id like '%s%%'", prefix)
	n, err := count(w.path, query)
	if err != nil || n != 0 && n != 2*orders || n == 0 && !killed {
		return 0, fmt.Errorf("half imported, or not: %d, %w, %s", n, err, out)
	}
	if killed {
		interrupted = 1
		if text, err := run().CombinedOutput(); err != nil {
			return 1, fmt.Errorf("imported again: %w: %s", err, text)
		}
	}
	if n, err := count(w.path, query); err != nil || n != 2*orders {
		return interrupted, fmt.Errorf("afterwards: %d, %w", n, err)
	}
	return interrupted, balanced(w.path, twice)
}

// sceneRound kills a program that migrates, makes or resets a database.
func (w *torturer) sceneRound(name string) (interrupted int, err error) {
	w.what = name
	path := filepath.Join(w.folder, "scene", "shop.db")
	if err := errors.Join(os.RemoveAll(filepath.Dir(path)), scenes[name].layOut(path)); err != nil {
		return 0, err
	}
	cmd := map[string]func() *exec.Cmd{
		"migration": func() *exec.Cmd { return program(w.t, "countersign-mcp", nil, "--db", path) },
		"demo":      func() *exec.Cmd { return program(w.t, "countersign-mcp", nil, "--demo", "--db", path) },
		"reset":     func() *exec.Cmd { return program(w.t, "countersign", nil, "--db", path, "demo", "reset") },
	}[name]()
	killed, out, err := w.runAndKill(name, cmd)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	happened, err := scenes[name].check(path)
	if err == nil && !killed && !happened {
		err = fmt.Errorf("it was done and hasn't happened: %s", out)
	}
	if killed {
		interrupted = 1
	}
	if name == "demo" {
		db, fault := fixtures.OpenDemo(path, store.Options{})
		if fault == nil {
			fault = db.Close()
		}
		err = errors.Join(err, fault)
	}
	return interrupted, err
}
