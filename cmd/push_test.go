//go:build unix

package cmd_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
)

// receiver is a server that is pushed to, and what came.
type receiver struct {
	t   *testing.T
	url string

	mu   sync.Mutex
	got  []received
	came chan string // the id of each push that was answered
}

type received struct {
	header http.Header
	body   []byte
	wire   string // every byte
}

// receives starts a receiver. answer may wait, and returns the status.
func receives(t *testing.T, answer func(nth int, ended <-chan struct{}) (status int)) *receiver {
	t.Helper()
	r := &receiver{t: t, came: make(chan string, 1000)}
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		wire, _ := httputil.DumpRequest(req, true)
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, received{req.Header, body, string(wire)})
		nth := len(r.got)
		r.mu.Unlock()
		status := answer(nth, ended)
		w.WriteHeader(status)
		r.came <- fmt.Sprint(status, " ", req.Header.Get("webhook-id"), req.Header.Get("X-Sequence-ID"))
	}))
	t.Cleanup(func() {
		close(ended)
		server.Close()
	})
	r.url = server.URL + "/topic-5ecret"
	return r
}

func takes(int, <-chan struct{}) int { return http.StatusNoContent }

func hangs(_ int, ended <-chan struct{}) int {
	<-ended
	return http.StatusOK
}

// next waits for the next push.
func (r *receiver) next() string {
	r.t.Helper()
	select {
	case came := <-r.came:
		return came
	case <-time.After(time.Minute):
		r.t.Fatal("nothing came")
		return ""
	}
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// nowhere is an address at which nobody listens any more.
func nowhere() string {
	server := httptest.NewServer(nil)
	defer server.Close()
	return server.URL + "/topic-5ecret"
}

func undelivered(t *testing.T, path string) (n int64) {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(context.Background(), func(v *store.View) error {
		n, _, err = v.UndeliveredPushes(time.Time{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// acts runs an operator's command that changes something and waits for nobody.
func acts(t *testing.T, path, url, name string) {
	t.Helper()
	cmd := program(t, "countersign", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + managerToken, "COUNTERSIGN_WEBHOOK_URL=" + url},
		"tokens", "create", name, "--role", "viewer")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "5ecret") {
		t.Errorf("%v: %s", err, out)
	}
}

const largeRefund = `{"order_id":"A-1","reason":"a Reason of theirs"}`

// Whatever starts to wait is told once to each target, signed, and without a
// word that a person or a model wrote.
func TestPushes(t *testing.T) {
	topic, hook := receives(t, takes), receives(t, takes)
	path := shop(t)
	w := wiredWith(t, path, []string{"COUNTERSIGN_CUSTOMER=" + shopCustomer, "COUNTERSIGN_NTFY_URL=" + topic.url, "COUNTERSIGN_NTFY_TOKEN=tk_5ecret",
		"COUNTERSIGN_WEBHOOK_URL=" + hook.url, "COUNTERSIGN_WEBHOOK_SECRET=whsec_NWVjcmV0"}, "--log-level", "debug")
	w.asks(1, "issue_refund", largeRefund)
	w.asks(2, "request_human", `{"title":"A Title of theirs","instructions":"Instructions of theirs","context":"Context of theirs","category":"Category of theirs",`+
		`"timeout_seconds":0,"fields":[{"name":"FIELD","label":"Label of theirs","type":"string"}]}`)
	w.asks(3, "escalate_to_human", `{"summary":"A Summary of theirs","category":"shipping","priority":"urgent","order_id":"A-2"}`)
	w.asks(4, "issue_refund", largeRefund)                                           // a repeat starts nothing
	w.asks(5, "issue_refund", `{"order_id":"A-3","amount":"1.00","reason":"small"}`) // nor does what nobody decides
	for id := 1; id <= 5; id++ {
		w.receive(`"result"`)
	}
	for range 3 {
		topic.next()
		hook.next()
	}
	w.hangUp()
	if n := undelivered(t, path); n != 0 {
		t.Errorf("%d pushes are left", n)
	}
	bodies := map[string]map[string]any{}
	for _, got := range hook.all() {
		mac := hmac.New(sha256.New, []byte("5ecret"))
		fmt.Fprintf(mac, "%s.%s.%s", got.header.Get("webhook-id"), got.header.Get("webhook-timestamp"), got.body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); got.header.Get("webhook-signature") != want {
			t.Errorf("signature %q, want %q", got.header.Get("webhook-signature"), want)
		}
		var body map[string]any
		if err := json.Unmarshal(got.body, &body); err != nil || body["id"] != got.header.Get("webhook-id") {
			t.Fatalf("%v: %s", err, got.wire)
		}
		for _, moment := range []string{"created_at", "expires_at"} {
			if text, ok := body[moment].(string); ok {
				if _, err := time.Parse(time.RFC3339, text); err != nil {
					t.Error(err)
				}
				body[moment] = "T"
			}
		}
		id := body["id"].(string)
		body["id"] = id[:3]
		bodies[id[:3]] = body
	}
	want := map[string]map[string]any{
		"AP-": {"id": "AP-", "kind": "approval", "tool": "issue_refund", "priority": "normal", "created_at": "T", "expires_at": "T"},
		"RQ-": {"id": "RQ-", "kind": "request", "tool": "request_human", "priority": "normal", "created_at": "T", "expires_at": "T"},
		"TK-": {"id": "TK-", "kind": "ticket", "tool": "escalate_to_human", "category": "shipping", "priority": "urgent", "created_at": "T"},
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for name, r := range map[string]*receiver{"ntfy": topic, "webhook": hook} {
		all := r.all()
		if len(all) != 3 {
			t.Errorf("%s was told %d times", name, len(all))
		}
		for _, got := range all {
			if token := got.header.Get("Authorization"); (token == "Bearer tk_5ecret") != (name == "ntfy") {
				t.Errorf("%s: authorization %q", name, token)
			}
			for _, word := range []string{"theirs", "FIELD", "Ava", "ava@", "Birch", "A-1", "A-2", "C-1", "100.00", "agent"} {
				if strings.Contains(got.wire, word) {
					t.Errorf("%s was told %q:\n%s", name, word, got.wire)
				}
			}
		}
	}
	for where, text := range map[string]string{"stdout": w.out.String(), "stderr": w.log.String()} {
		if strings.Contains(text, "5ecret") {
			t.Errorf("%s holds a secret: %s", where, text)
		}
	}
}

// While its receiver is down a server works as ever; the next program that does
// something tells, once, whoever else tries.
func TestPushOfTheNextProcess(t *testing.T) {
	t.Parallel()
	path := shop(t)
	w := wiredWith(t, path, []string{"COUNTERSIGN_CUSTOMER=" + shopCustomer, "COUNTERSIGN_WEBHOOK_URL=" + nowhere()})
	w.asks(1, "issue_refund", largeRefund)
	if got := w.answer(1); !strings.Contains(got, `"status":"pending_approval"`) {
		t.Fatal(got)
	}
	w.hangUp()
	if n := undelivered(t, path); n != 1 {
		t.Fatalf("%d pushes are left", n)
	}
	if log := w.log.String(); strings.Contains(log, "5ecret") || strings.Contains(log, "127.0.0.1") {
		t.Errorf("the log names the address: %s", log)
	}
	r := receives(t, takes)
	for round := 0; undelivered(t, path) > 0 && round < 100; round++ { // until its pause is over
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() { acts(t, path, r.url, fmt.Sprintf("agent-%d-%d", round, n)) })
		}
		all.Wait()
	}
	if n := len(r.all()); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// A receiver that never answers holds nobody up: no call, no end of a server, no
// command for long.
func TestPushToWhoHangs(t *testing.T) {
	t.Parallel()
	r, path := receives(t, hangs), shop(t)
	w := wiredWith(t, path, []string{"COUNTERSIGN_CUSTOMER=" + shopCustomer, "COUNTERSIGN_WEBHOOK_URL=" + r.url, "COUNTERSIGN_NTFY_URL=" + r.url})
	began := time.Now()
	for id := 1; id <= 20; id++ {
		w.asks(id, "issue_refund", fmt.Sprintf(`{"order_id":"A-%d","reason":"too large"}`, id))
		w.answer(id)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("20 calls took %s", took)
	}
	if err := w.in.Close(); err != nil {
		t.Fatal(err)
	}
	w.ends(2 * time.Second)
	if n := undelivered(t, path); n != 40 {
		t.Errorf("%d pushes are left of 40", n)
	}
	began = time.Now()
	acts(t, path, r.url, "another")
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("a command took %s", took)
	}
}

// A receiver that fails is told again, by the same id.
func TestPushIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := receives(t, func(nth int, _ <-chan struct{}) int { return map[bool]int{true: 500, false: 200}[nth == 1] })
	path := shop(t)
	w := wiredWith(t, path, []string{"COUNTERSIGN_CUSTOMER=" + shopCustomer, "COUNTERSIGN_WEBHOOK_URL=" + r.url})
	w.asks(1, "escalate_to_human", `{"summary":"Please call back today","category":"other"}`)
	first, second := r.next(), r.next()
	if !strings.HasPrefix(first, "500 TK-") || second != "200"+first[3:] {
		t.Errorf("%q, then %q", first, second)
	}
	w.hangUp()
	if log := w.log.String(); !strings.Contains(log, `"msg":"push failed","target":"webhook","id":"TK-`) || !strings.Contains(log, "status 500") {
		t.Error(log)
	}
	if n := undelivered(t, path); n != 0 {
		t.Errorf("%d pushes are left", n)
	}
}

// A server that is killed while it tells leaves it to the next one, once nobody
// can think any more that it still does.
func TestPushOfAKilledServer(t *testing.T) {
	t.Parallel()
	hung, path := receives(t, hangs), shop(t)
	w := wiredWith(t, path, []string{"COUNTERSIGN_CUSTOMER=" + shopCustomer, "COUNTERSIGN_WEBHOOK_URL=" + hung.url})
	w.asks(1, "issue_refund", largeRefund)
	w.answer(1)
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = w.cmd.Wait()
	r := receives(t, takes)
	w = wiredWith(t, path, []string{"COUNTERSIGN_WEBHOOK_URL=" + r.url})
	if got := r.next(); !strings.HasPrefix(got, "204 AP-") {
		t.Error(got)
	}
	w.hangUp()
	if n := undelivered(t, path); n != 0 {
		t.Errorf("%d pushes are left", n)
	}
}

// An address that can't be meant is told at the start, without what it is.
func TestPushToNoAddress(t *testing.T) {
	path := shop(t)
	for variable, value := range map[string]string{
		"COUNTERSIGN_NTFY_URL": "ntfy.sh/topic-5ecret", "COUNTERSIGN_WEBHOOK_URL": "ftp://5ecret.example/", "COUNTERSIGN_NTFY_TOKEN": "5ecret\n",
		"COUNTERSIGN_WEBHOOK_SECRET": "whsec_5ecret!",
	} {
		for name, want := range map[string]int{"countersign": 2, "countersign-mcp": 1} {
			args := map[string][]string{"countersign": {"approvals", "list"}}[name]
			cmd := program(t, name, []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + managerToken, variable + "=" + value}, args...)
			out, err := cmd.CombinedOutput()
			text := string(out)
			if cmd.ProcessState.ExitCode() != want || strings.Count(text, "\n") != 1 || !strings.Contains(text, variable+" ") || strings.Contains(text, "5ecret") {
				t.Errorf("%s with %s: %v: %s", name, variable, err, text)
			}
		}
	}
}
