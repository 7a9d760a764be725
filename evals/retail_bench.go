package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"countersign/store"
)

// RetailReport is what came of the retail suite.
type RetailReport struct {
	Passes    []RetailPass     `json:"passes"`
	Strangers []StrangerReport `json:"strangers"`
}

// RetailPass is all of the benchmark's calls once, under one policy.
type RetailPass struct {
	Name     string   `json:"name"`
	Calls    int      `json:"calls"`
	Right    int      `json:"right"`
	Parked   int      `json:"parked"` // refunds that an operator approved
	Problems []string `json:"problems"`
}

// EverythingPasses is a policy that lets all amounts pass.
const EverythingPasses = `refund: {auto_limit: {USD: "1000000.00"}, customer_limit_24h: {USD: "1000000.00"}}`

// retailBench makes shops for the suite.
type retailBench struct {
	folder    string
	shops     shops
	customers []string            // ids, sorted
	facts     map[string][]string // what strangers must not learn, by customer
}

// RunRetail makes the benchmark's calls on the real desk: as its customers, with
// all amounts allowed and with an operator approving those over $100, and then as
// every kind of stranger to them. It leaves out tasks whose names only doesn't
// match. parallel pieces of work are done at once; progress, if it isn't nil, is
// called after each.
func RunRetail(ctx context.Context, only *regexp.Regexp, parallel int, progress func(done, total int)) (report RetailReport, err error) {
	tasks, err := ReadRetail()
	if err != nil {
		return report, err
	}
	tasks = slices.DeleteFunc(tasks, func(rows []RetailRow) bool { return !only.MatchString(rows[0].Task) })
	if len(tasks) == 0 {
		return report, fmt.Errorf("no task is named like %s", only)
	}
	b, err := newRetailBench(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	report.Passes = []RetailPass{{Name: "all amounts pass", Problems: []string{}}, {Name: "over $100 a human decides", Problems: []string{}}}
	report.Strangers = make([]StrangerReport, len(strangers))
	var work []func() error
	var mu sync.Mutex
	for i := range report.Passes {
		for _, rows := range tasks {
			work = append(work, func() error { return b.serve(ctx, rows, i == 1, &report.Passes[i], &mu) })
		}
	}
	for i, who := range strangers {
		work = append(work, func() (err error) {
			report.Strangers[i], err = b.visit(ctx, who, tasks)
			return err
		})
	}
	return report, together(work, parallel, progress)
}

// together does pieces of work, some at once.
func together(work []func() error, parallel int, progress func(done, total int)) error {
	pieces := make(chan func() error)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var faults []error
	done := 0
	for range max(parallel, 1) {
		workers.Go(func() {
			for piece := range pieces {
				err := piece()
				mu.Lock()
				faults = append(faults, err)
				if done++; progress != nil {
					progress(done, len(work))
				}
				mu.Unlock()
			}
		})
	}
	for _, piece := range work {
		pieces <- piece
	}
	close(pieces)
	workers.Wait()
	return errors.Join(faults...)
}

func newRetailBench(ctx context.Context) (b *retailBench, err error) {
	b = &retailBench{facts: map[string][]string{}}
	if b.folder, err = os.MkdirTemp("", "countersign-retail-"); err != nil {
		return nil, err
	}
	if b.shops, err = newShops(b.folder, store.Options{Now: new(clock).now}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.folder))
	}
	st, err := openInProcess(ctx, b.shops.template)
	if err == nil {
		err = errors.Join(st.bring(ctx, Rows(retailShop)), st.close(), b.readFacts())
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.folder))
	}
	return b, nil
}

// readFacts reads which customers there are, and what is theirs alone.
func (b *retailBench) readFacts() error {
	for line := range strings.Lines(string(retailShop)) {
		var row struct {
			Type, ID, Email string
			CustomerID      string `json:"customer_id"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return fmt.Errorf("retail shop: %w", err)
		}
		switch row.Type {
		case "customer":
			b.facts[row.ID] = append(b.facts[row.ID], row.Email, `"`+row.ID+`"`)
		case "order":
			b.facts[row.CustomerID] = append(b.facts[row.CustomerID], strings.TrimPrefix(row.ID, "#"))
		}
	}
	b.customers = slices.Sorted(maps.Keys(b.facts))
	return nil
}

// open opens a fresh copy of the shop.
func (b *retailBench) open(ctx context.Context, folder string) (*inProcess, error) {
	path, err := b.shops.copy(folder)
	if err != nil {
		return nil, err
	}
	return openInProcess(ctx, path)
}

// serve plays one task as its customer.
func (b *retailBench) serve(ctx context.Context, rows []RetailRow, parks bool, pass *RetailPass, mu *sync.Mutex) (err error) {
	folder, err := os.MkdirTemp(b.folder, "task-")
	if err != nil {
		return err
	}
	st, err := b.open(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close(), os.RemoveAll(folder)) }()
	s := Scenario{Role: "staff", Customer: rows[0].Customer}
	var decide func(string) error
	if parks {
		decide = func(id string) error { return st.decide(ctx, id, Decision{Verb: approve}) }
	} else {
		s.Policy = EverythingPasses
	}
	if err := st.prepare(ctx, s); err != nil {
		return err
	}
	session, err := st.connect(ctx, s, "retail")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	task := NewRetailTask(ctx, session, decide)
	right := 0
	for _, r := range rows {
		problems := len(task.Problems)
		if got := task.Play(r); !reflect.DeepEqual(got, r.Expect) {
			task.errorf("%s: %+v, want %+v", r.ID, got, r.Expect)
		}
		if len(task.Problems) == problems {
			right++
		}
	}
	mu.Lock()
	defer mu.Unlock()
	pass.Calls, pass.Right, pass.Parked = pass.Calls+len(rows), pass.Right+right, pass.Parked+task.Parked
	pass.Problems = append(pass.Problems, task.Problems...)
	return task.Fault
}

// Failed reports whether anything was wrong.
func (r RetailReport) Failed() bool {
	return slices.ContainsFunc(r.Passes, func(p RetailPass) bool { return p.Right != p.Calls }) ||
		slices.ContainsFunc(r.Strangers, func(s StrangerReport) bool { return len(s.Leaks) > 0 })
}

// Print writes the report for people.
func (r RetailReport) Print(w io.Writer) {
	fmt.Fprintln(w, bold.Render("as the customers themselves"))
	for _, p := range r.Passes {
		parked := ""
		if p.Parked > 0 {
			parked = fmt.Sprintf(", %d approved by a human", p.Parked)
		}
		printRetail(w, p.Name, fmt.Sprintf("%d of %d calls right%s", p.Right, p.Calls, parked), p.Problems)
	}
	fmt.Fprintln(w, "\n"+bold.Render("as strangers to them"))
	for _, s := range r.Strangers {
		printRetail(w, s.Kind, fmt.Sprintf("%d calls, %d leaks", s.Calls, len(s.Leaks)), s.Leaks)
	}
}

func printRetail(w io.Writer, name, text string, problems []string) {
	style := green
	if len(problems) > 0 {
		style = red
	}
	fmt.Fprintf(w, "  %-30s %s\n", name, style.Render(text))
	for _, p := range problems {
		fmt.Fprintf(w, "      ✗ %s\n", p)
	}
}
