package push_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/approvals/push"
	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
)

// desk is a database in which things start to wait, and a webhook.
type desk struct {
	t       *testing.T
	db      *store.DB
	clock   storetest.Clock
	agent   store.Principal
	courier push.Courier
	why     []error
	last    string

	mu   sync.Mutex
	told []string // ids
}

// newDesk makes a desk whose webhook answers by answer.
func newDesk(t *testing.T, answer http.HandlerFunc) *desk {
	t.Helper()
	return newDeskWith(t, "COUNTERSIGN_WEBHOOK_URL", "/5ecret?key=5ecret", answer)
}

// newDeskWith makes one that a variable gives a receiver's address.
func newDeskWith(t *testing.T, variable, path string, answer http.HandlerFunc) *desk {
	t.Helper()
	d := &desk{t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		d.told = append(d.told, r.Header.Get("webhook-id")+r.Header.Get("X-Sequence-ID"))
		d.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	d.courier.Targets = targets(t, variable, server.URL+path)
	d.courier.Failed = func(_, _ string, why error) { d.why = append(d.why, why) }
	d.db = storetest.New(t, storetest.WithClock(&d.clock), func(o *store.Options) { o.Outbox = push.Names(d.courier.Targets) })
	d.courier.DB = d.db
	d.tx(func(tx *store.Tx) (err error) {
		d.agent, err = tx.AddPrincipal(store.Principal{Name: "agent", Kind: policy.Operator, Role: policy.Manager}, "a")
		return err
	})
	return d
}

func targets(t *testing.T, variable, value string) []push.Target {
	t.Helper()
	targets, err := push.Targets(func(name string) string { return map[string]string{variable: value}[name] })
	if err != nil || len(targets) != 1 {
		t.Fatal(targets, err)
	}
	return targets
}

func (d *desk) tx(work func(*store.Tx) error) {
	d.t.Helper()
	if err := d.db.Tx(context.Background(), work); err != nil {
		d.t.Fatal(err)
	}
}

// asks files a request that waits for three days.
func (d *desk) asks() {
	d.t.Helper()
	d.tx(func(tx *store.Tx) error {
		a, err := tx.AddApproval(store.Approval{Tool: store.RequestTool, Arguments: json.RawMessage("{}"), AskedBy: d.agent.ID, Expires: tx.Now.Add(72 * time.Hour)})
		d.last = a.ID // one transaction at a time
		return err
	})
}

func (d *desk) ids() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.told)
}

// round delivers what is due and returns how often the webhook was told in all,
// and what is left.
func (d *desk) round() (told int, left int64) {
	d.t.Helper()
	d.courier.DeliverDue(d.t.Context(), 100)
	err := d.db.View(d.t.Context(), func(v *store.View) (err error) {
		left, _, err = v.UndeliveredPushes(time.Time{})
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return len(d.ids()), left
}

func (d *desk) expect(wantTold int, wantLeft int64) {
	d.t.Helper()
	if told, left := d.round(); told != wantTold || left != wantLeft {
		d.t.Errorf("told %d times and %d left, want %d and %d", told, left, wantTold, wantLeft)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, "5ecret words of the receiver")
	}
}

// What fails is tried after ever longer pauses, for a day.
func TestPauses(t *testing.T) {
	d := newDesk(t, status(503))
	d.asks()
	d.expect(1, 1)
	d.expect(1, 1)
	d.clock.Advance(5 * time.Second)
	d.expect(2, 1)
	d.clock.Advance(9 * time.Second)
	d.expect(2, 1)
	d.clock.Advance(time.Second)
	d.expect(3, 1)
	rounds := 3
	for range 26 * 60 {
		d.clock.Advance(time.Minute)
		if told, left := d.round(); told > rounds {
			rounds = told
		} else if left == 0 {
			break
		}
	}
	if told, left := d.round(); left != 0 || told < 20 || told > 40 {
		t.Errorf("told %d times, %d left", told, left)
	}
	for _, id := range d.ids() {
		if id != d.last {
			t.Errorf("told of %q", id)
		}
	}
	for _, why := range d.why {
		if !errors.Is(why, push.ErrRefused) || strings.Contains(why.Error(), "5ecret") {
			t.Error(why)
		}
	}
}

// ntfy gets the headers that it documents, with values that it takes.
func TestNtfyHeaders(t *testing.T) {
	var got []*http.Request
	d := newDeskWith(t, "COUNTERSIGN_NTFY_URL", "/topic", func(_ http.ResponseWriter, r *http.Request) { got = append(got, r) })
	d.asks()
	d.expect(1, 0)
	r := got[0]
	headers := map[string]string{"X-Title": "A request waits", "X-Priority": "3", "X-Sequence-ID": d.last,
		"Title": "", "Priority": "", "Authorization": "", "Content-Type": ""}
	for name, want := range headers {
		if value := r.Header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	if r.Method != http.MethodPost || r.URL.Path != "/topic" || !regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`).MatchString(d.last) {
		t.Errorf("%s %s, sequence %q", r.Method, r.URL.Path, d.last)
	}
}

// Where ntfy says that a message, a topic or a token isn't right, it isn't asked
// again and again: it shuts such addresses out. Anything else passes.
func TestNtfyRefusals(t *testing.T) {
	for code, soon := range map[int]bool{400: false, 401: false, 403: false, 404: false, 413: false, 408: true, 429: true, 500: true, 503: true, 507: true} {
		d := newDeskWith(t, "COUNTERSIGN_NTFY_URL", "/topic", status(code))
		d.asks()
		d.expect(1, 1)
		d.clock.Advance(5 * time.Second)
		told := 1
		if soon {
			told++
		}
		d.expect(told, 1)
		d.clock.Advance(time.Hour)
		d.expect(told+1, 1)
		for _, why := range d.why {
			if want := fmt.Sprintf("it doesn't take it: status %d", code); !errors.Is(why, push.ErrRefused) || why.Error() != want {
				t.Errorf("%v, want %s", why, want)
			}
		}
	}
	d := newDesk(t, status(404)) // who knows what a webhook means by it
	d.asks()
	d.expect(1, 1)
	d.clock.Advance(5 * time.Second)
	d.expect(2, 1)
}

// An address of ntfy's without a topic is told at once.
func TestNtfyTopic(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://ntfy.sh/ours-1_A": true, "https://push.example/ntfy/ours?auth=x": true, "http://u:p@localhost:8080/" + strings.Repeat("a", 64): true,
		"https://ntfy.sh": false, "https://ntfy.sh/": false, "https://ntfy.sh/ours/": false, "https://ntfy.sh/our.s": false,
		"https://ntfy.sh/a,b": false, "https://ntfy.sh/" + strings.Repeat("a", 65): false,
	} {
		_, err := push.Targets(func(name string) string { return map[string]string{"COUNTERSIGN_NTFY_URL": address}[name] })
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "ours") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Nobody is told of what doesn't wait any more.
func TestWhatWaitsNoMore(t *testing.T) {
	d := newDesk(t, status(200))
	d.asks()
	d.tx(func(tx *store.Tx) error {
		_, err := tx.Decide(store.Approval{ID: d.last, State: store.Rejected, DecidedBy: d.agent.ID})
		return err
	})
	d.expect(0, 0)
	d.asks()
	d.clock.Advance(72 * time.Hour)
	d.expect(0, 0)
}

// What is undone is not told, nor what a process without a target adds.
func TestOnlyWhatIsCommitted(t *testing.T) {
	d := newDesk(t, status(200))
	failed := errors.New("undone")
	err := d.db.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.AddApproval(store.Approval{Tool: store.RequestTool, Arguments: json.RawMessage("{}"), AskedBy: d.agent.ID, Expires: tx.Now.Add(time.Hour)})
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	d.expect(0, 0)
	d.asks()
	d.expect(1, 0)
}

// A redirect isn't followed, to another host or the same.
func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was called") }))
	defer other.Close()
	for _, code := range []int{301, 302, 307, 308} {
		d := newDesk(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) })
		d.asks()
		d.expect(1, 1)
		d = newDesk(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", code) })
		d.asks()
		d.expect(1, 1)
	}
}

// Errors say what is wrong and nothing of the address.
func TestErrorsKeepTheAddress(t *testing.T) {
	d := newDesk(t, status(200))
	for address, want := range map[string]error{
		"http://127.0.0.1:1/5ecret": push.ErrUnreachable, "https://user:5ecret@127.0.0.1:1/": push.ErrUnreachable,
		"http://5ecret.invalid/": push.ErrUnreachable,
	} {
		d.why = nil
		d.asks()
		d.courier.Targets = targets(t, "COUNTERSIGN_WEBHOOK_URL", address)
		d.round()
		if len(d.why) != 1 || !errors.Is(d.why[0], want) || strings.Contains(d.why[0].Error(), "5ecret") || strings.Contains(d.why[0].Error(), "127") {
			t.Errorf("%s: %v", address, d.why)
		}
	}
}

// One that is too slow for a program that ends soon is left for later.
func TestSlowReceiver(t *testing.T) {
	ended := make(chan struct{})
	d := newDesk(t, func(http.ResponseWriter, *http.Request) { <-ended })
	defer close(ended)
	d.asks()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	d.courier.DeliverDue(ctx, 100)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(d.why) != 1 || !errors.Is(d.why[0], push.ErrTimeout) {
		t.Error(d.why)
	}
	d.expect(1, 1) // it has its pause
}

// Couriers of several processes send each push once.
func TestCouriersAtOnce(t *testing.T) {
	const pushes = 30
	told := make(chan string, 10*pushes)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("X-Sequence-ID") }))
	defer server.Close()
	all := targets(t, "COUNTERSIGN_NTFY_URL", server.URL+"/topic")
	path := filepath.Join(t.TempDir(), "shop.db")
	opts := store.Options{Outbox: push.Names(all)}
	if err := store.Create(path, opts, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 4 {
		db, err := store.Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if n == 0 {
			d := &desk{t: t, db: db}
			d.tx(func(tx *store.Tx) (err error) {
				d.agent, err = tx.AddPrincipal(store.Principal{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, "a")
				return err
			})
			for range pushes {
				d.asks()
			}
		}
		courier := push.Courier{DB: db, Targets: all, Failed: func(_, _ string, why error) { t.Error(why) }}
		wg.Go(func() { courier.DeliverDue(context.Background(), pushes) })
	}
	wg.Wait()
	close(told)
	times := map[string]int{}
	for id := range told {
		times[id]++
	}
	if len(times) != pushes {
		t.Errorf("told of %d", len(times))
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("told of %s %d times", id, n)
		}
	}
}

// A courier that runs tells of what comes while it does, and of nothing before
// it begins; its end is prompt, whether it ever began.
func TestRounds(t *testing.T) {
	told := make(chan struct{}, 100)
	d := newDesk(t, func(http.ResponseWriter, *http.Request) { told <- struct{}{} })
	d.courier.Prepare()
	d.asks()
	d.courier.Wake()
	select {
	case <-told:
		t.Fatal("told before it began")
	default:
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(d.courier.Begin)
	}
	all.Wait()
	<-told
	for range 10 {
		all.Go(func() {
			d.asks()
			d.courier.Wake()
		})
	}
	all.Wait()
	for range 10 {
		<-told
	}
	d.courier.End()
	d.expect(11, 0)

	var idle push.Courier
	idle.Prepare()
	idle.End()
	idle.Begin() // too late: it does nothing
}
