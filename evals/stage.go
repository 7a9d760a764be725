package evals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools/client"
)

// A stage is where one scenario is played: a fresh demo shop, the real server in
// front of it, and an operator.
type stage interface {
	// prepare brings the shop's rows, then its rules, before the server starts.
	prepare(ctx context.Context, s Scenario) error
	// connect opens the agent's session with the server.
	connect(ctx context.Context, s Scenario, agent string) (*client.Client, error)
	// server is how an agent starts a server of its own; nil where it can't.
	server(s Scenario) *Server
	// decide has an operator decide a request. That the decision is refused, as for
	// a stale request, is no error; that a form doesn't take the answers is
	// [errUnfit].
	decide(ctx context.Context, approval string, d Decision) error
	// bring imports rows as the shop's own system would.
	bring(ctx context.Context, rows Rows) error
	// advance moves the clock.
	advance(d time.Duration)
	// database is what the grader reads.
	database() *store.DB
	// said is what the server logged and the operator's programs printed.
	said() string
	close() error
}

// epoch is when a scenario begins where the clock is ours.
var epoch = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

// clock shows one moment until it is moved. It is safe for concurrent use.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return epoch.Add(time.Duration(c.ahead.Load())) }

// shops are copies of one demo shop.
type shops struct{ template string }

// newShops makes the demo shop, as of a clock, in a folder. It has a key file of its
// own, which its copies need, whatever key the shell holds for another database.
func newShops(folder string, opts store.Options) (shops, error) {
	os.Unsetenv("COUNTERSIGN_KEY")
	s := shops{filepath.Join(folder, "template", "shop.db")}
	return s, fixtures.CreateDemo(s.template, opts)
}

// copy puts a fresh shop into a folder and returns its path.
func (s shops) copy(folder string) (string, error) {
	path := filepath.Join(folder, "shop.db")
	for _, suffix := range []string{"", ".key"} {
		text, err := os.ReadFile(s.template + suffix)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(path+suffix, text, 0o600); err != nil {
			return "", err
		}
	}
	return path, nil
}

// firstPending returns what has waited longest for such a decision.
func firstPending(ctx context.Context, db *store.DB, d Decision) (a store.Approval, err error) {
	err = db.View(ctx, func(v *store.View) error {
		list := v.Approvals
		if d.aboutRequest() {
			list = v.Requests
		}
		waiting, err := list(false)
		if err == nil && len(waiting) == 0 {
			err = errNothingWaits
		}
		if err == nil {
			a = waiting[0]
		}
		return err
	})
	return a, err
}

var errNothingWaits = errors.New("nothing waits for a decision")

// rulesIn are a scenario's rules in full.
func rulesIn(p Policy) (string, error) {
	rules, err := policy.Parse([]byte(p))
	if err != nil {
		return "", fmt.Errorf("policy: %w", err)
	}
	return string(rules.YAML()), nil
}
