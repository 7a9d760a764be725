// Package storetest opens databases for tests: real files, with a clock that
// stands until it is moved and ids that count.
package storetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/store"
	"countersign/store/ingest"
)

// Each database of a test has a key of its own; one of this shell's would stand for
// all of them.
func init() { os.Unsetenv("COUNTERSIGN_KEY") }

// Start is what a [Clock] shows until it is set.
var Start = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

// New returns an empty database in a temporary file, open until the test ends.
// Its clock stands at [Start] unless an option says otherwise; its ids count by
// prefix: RF-0001, RF-0002.
func New(t testing.TB, opts ...func(*store.Options)) *store.DB {
	t.Helper()
	o := store.Options{Now: new(Clock).Now, NewID: new(ids).next}
	for _, opt := range opts {
		opt(&o)
	}
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := store.Create(path, o, nil); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// WithClock makes the database take its time from c.
func WithClock(c *Clock) func(*store.Options) {
	return func(o *store.Options) { o.Now = c.Now }
}

// Shop imports a shop in the native format, as of the database's time, and fails
// the test if anything is wrong with it.
func Shop(t testing.TB, db *store.DB, jsonl string) {
	t.Helper()
	batch, err := ingest.Read(strings.NewReader(jsonl), db.Now())
	if err != nil {
		t.Fatal(err)
	}
	var report ingest.Report
	err = db.Tx(context.Background(), func(tx *store.Tx) (err error) {
		report, err = batch.Store(tx, ingest.Options{})
		return err
	})
	for _, p := range report.Problems {
		t.Error(p)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A Clock shows one moment until it is moved. The zero Clock shows [Start]. It is
// safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration // of Start
}

// Now returns the moment the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Start.Add(c.ahead)
}

// Set makes the clock show t, which may be earlier than what it shows.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = t.Sub(Start)
}

// Advance moves the clock by d, which may be negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// ids counts by prefix.
type ids struct {
	mu   sync.Mutex
	used map[string]int
}

func (i *ids) next(prefix string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.used == nil {
		i.used = map[string]int{}
	}
	i.used[prefix]++
	return fmt.Sprintf("%s%04d", prefix, i.used[prefix])
}
