// Package inbox is a full-screen terminal program over everything that waits
// for an operator: approvals, requests and tickets. It decides through
// tools/settle alone, as the plain commands do, and shows what they print.
package inbox

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"countersign/approvals"
	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

// Kind is what an item is.
type Kind string

// The kinds of items.
const (
	Approval Kind = "approval"
	Request  Kind = "request"
	Ticket   Kind = "ticket"
)

// Item is one line of the inbox. Its texts are for people: on one line each,
// with nothing in them that a terminal obeys.
type Item struct {
	ID      string
	Kind    Kind
	Created time.Time
	Waits   bool
	State   string // in a word
	Outcome string // what became of one that no longer waits, such as "approved by ann"
	About   string
	Urgent  bool
	Amount  string
	Asked   string // the whole amount; an operator may approve less of it
	OrderID string
	AskedBy string
	Age     string
	Left    string // how long it waits yet, "" for ever
	Hurry   bool   // that is soon over
	Search  string // what a filter looks into, beside the above

	Brief string         // what it is about, on as many lines as it has
	Form  approvals.Form // of a request

	Refused string                  // why this operator may not decide it, "" if they may
	Less    func(text string) error // says what is wrong with an amount that is to be approved
}

// Printing is what the plain commands print, which the inbox shows.
type Printing struct {
	// List returns what waits, oldest first, and those of known that don't any more.
	List func(v *store.View, known []string) ([]Item, error)
	// Show returns an item as its show command prints it.
	Show func(v *store.View, item Item, width int) (string, error)
	// Fields returns labels and values in two columns.
	Fields func(width int, fields [][2]string) string
	// Fold breaks text into lines of at most width columns, between words.
	Fold func(text string, width int) string
	// Describe says what a field of a form takes.
	Describe func(approvals.Field) string
	// Decided says how an approval or request was decided.
	Decided func(store.Approval) string
	// Line is text on one line that a terminal can't obey.
	Line func(text string) string
}

// Terminal is where the inbox is shown.
type Terminal struct {
	In      *os.File
	Out     io.Writer
	Environ []string
}

// Run shows the inbox of an operator until they leave, or ctx is done.
func Run(ctx context.Context, office *settle.Office, printing Printing, terminal Terminal) error {
	m := &model{ctx: ctx, office: office, print: printing, drafts: map[string]*page{}}
	if err := office.Permit(ctx, action, policy.Staff); err != nil {
		return err
	}
	if err := m.greet(); err != nil {
		return err
	}
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(input{terminal.In, gone}), tea.WithOutput(terminal.Out),
		tea.WithEnvironment(terminal.Environ), tea.WithoutSignalHandler())
	_, err := program.Run()
	m.running.close()
	if ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic) {
		return nil // a signal or the terminal's end asked for just that
	}
	return err
}

// input is the terminal's. Where it ends, as when a connection is cut, nobody is
// left who could leave.
type input struct {
	*os.File
	gone context.CancelFunc
}

func (i input) Read(keys []byte) (int, error) {
	n, err := i.File.Read(keys)
	if err != nil {
		i.gone()
	}
	return n, err
}

// action is what the inbox is called where an operator may not look at it.
const action = "inbox"

// greet learns who the operator is and whether they may decide.
func (m *model) greet() error {
	if m.office.AgentShell {
		m.notice = "read only: this shell seems to be an agent's"
	} else if err := m.office.Permit(m.ctx, "inbox: decide", policy.Manager); err != nil {
		m.notice = "read only: deciding needs an operator of role manager"
	}
	return m.office.DB.View(m.ctx, func(v *store.View) error {
		p, err := v.PrincipalByToken(m.office.Caller.Token)
		m.operator = p.Name
		return err
	})
}

// background runs work on the database beside the screen.
func (m *model) background(work func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !m.running.begin() {
			return nil
		}
		defer m.running.group.Done()
		return work()
	}
}

// running counts the work in the background. Once it is closed none begins: the
// database is about to be closed.
type running struct {
	mu     sync.Mutex
	group  sync.WaitGroup
	closed bool
}

func (r *running) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.group.Add(1)
	}
	return !r.closed
}

// close waits for what has begun.
func (r *running) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.group.Wait()
}
