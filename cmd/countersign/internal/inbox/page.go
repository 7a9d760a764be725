package inbox

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"countersign/tools/settle"
)

// page is a deed on its way: what is entered for it, and then the whole request
// with the question whether it is meant.
type page struct {
	deed
	item    Item
	focus   int
	scroll  int  // the first line shown of the fields
	asking  bool // the question is on the screen
	armed   bool // it has been there for a moment
	working bool // the office is at it
	problem string
	shown   shown
	request pager
}

// deed is what an operator means to do.
type deed struct {
	action   string // the command that does the same, such as "approvals reject"
	title    string // such as "Reject AP-…"
	fields   []*field
	stays    bool // the item waits on, once it is done
	question func() string
	do       func(context.Context) (outcome string, err error)
}

// armed says that a question was on the screen long enough: what was typed ahead,
// or pasted where the terminal doesn't say so, is no answer to it.
type armed struct{ page *page }

const moment = 300 * time.Millisecond

// done is what the office said.
type done struct {
	page    *page
	outcome string
	err     error
}

// begin opens the page of a deed, with what was typed into it before.
func (m *model) begin(item Item, key, action string) tea.Cmd {
	d, asks := m.deedOf(item, key)
	d.action = action
	draft := item.ID + " " + key
	p := m.drafts[draft]
	if p == nil {
		p = &page{deed: d}
		m.drafts[draft] = p
	}
	p.item, p.problem, p.asking, p.focus, m.page = item, "", false, 0, p
	if m.details.shown.id == item.ID {
		p.shown = m.details.shown
	}
	if asks {
		return tea.Batch(p.ask(), m.load())
	}
	return m.load()
}

// take keeps a page up to date with what the database holds.
func (p *page) take(got loaded) {
	for _, item := range got.items {
		if item.ID == p.item.ID {
			p.item = item
		}
	}
	if got.shown.id == p.item.ID {
		p.shown = got.shown
	}
}

// ask puts the question on the screen.
func (p *page) ask() tea.Cmd {
	p.asking, p.armed, p.request = true, false, pager{}
	return tea.Tick(moment, func(time.Time) tea.Msg { return armed{p} })
}

func (p *page) press(m *model, key tea.KeyPressMsg) tea.Cmd {
	switch {
	case p.working:
		return nil
	case !p.asking:
		return p.enter(m, key)
	}
	switch name := key.String(); name {
	case "esc", "n", "q":
		m.page = nil
		return m.load()
	case "e":
		p.asking = len(p.fields) == 0
	case "y":
		if p.item.Refused != "" {
			return m.try(p.item, p.action)
		}
		if p.ready() {
			return p.perform(m)
		}
	default:
		p.request.press(name)
	}
	return nil
}

// ready reports whether a yes counts: the whole request has been on the screen.
func (p *page) ready() bool {
	return p.armed && p.item.Refused == "" && p.shown.id == p.item.ID && p.request.whole()
}

func (p *page) paste(text string) {
	if p.asking || p.working || len(p.fields) == 0 {
		return
	}
	if f := p.fields[p.focus]; f.choices == nil && !f.insert(text) {
		f.problem = "has no room for that much; nothing of it was taken"
	}
}

// perform has the office do it.
func (p *page) perform(m *model) tea.Cmd {
	p.working, p.problem = true, ""
	ctx := context.WithoutCancel(m.ctx) // what was begun is done and told
	return m.background(func() tea.Msg {
		outcome, err := p.do(ctx)
		return done{p, outcome, err}
	})
}

// finish shows what became of it. A page stays, with all that was typed, unless
// it is done.
func (m *model) finish(d done) (cmd tea.Cmd) {
	p := d.page
	p.working = false
	if m.leaving { // once it is seen what can go
		defer func() { m.leaving, cmd = false, tea.Batch(cmd, m.leave()) }()
	}
	if d.err == nil {
		maps.DeleteFunc(m.drafts, func(_ string, draft *page) bool { return draft == p || draft.item.ID == p.item.ID && !p.stays })
		m.page = nil
		m.say(d.outcome)
		if !p.stays {
			m.list.settled(p.item.ID)
		}
		return m.load()
	}
	p.problem = m.print.Line(d.err.Error())
	if refused := (*settle.Error)(nil); errors.As(d.err, &refused) && refused.Kind == settle.Invalid {
		p.asking = len(p.fields) == 0
		p.focus = max(slices.IndexFunc(p.fields, func(f *field) bool { return strings.HasPrefix(p.problem, f.name) }), 0)
	}
	return m.load()
}

func (p *page) view(m *model) (lines []string, cursor *tea.Cursor) {
	if !p.asking {
		return p.viewFields(m)
	}
	question := p.question()
	if p.item.Refused != "" { // nothing is asked that will be refused anyway
		question = ""
	}
	end := p.endLines(m, question)
	height := m.height - 2 - len(end)
	p.request.set(p.body(m))
	body := p.request.view(height)
	lines = append([]string{rule(bold.Render(p.title), p.request.where(), m.width)}, body...)
	return append(append(lines, end...), p.questionKeys(m)), nil
}

// body is the whole request, then what would be sent.
func (p *page) body(m *model) string {
	if p.shown.id != p.item.ID {
		return "Reading …"
	}
	var entered [][2]string
	for _, f := range p.fields {
		if text := f.entered(); text != "" {
			entered = append(entered, [2]string{"", f.name + ": " + text})
		}
	}
	if len(entered) == 0 {
		return p.shown.text
	}
	entered[0][0] = "you enter"
	return strings.TrimRight(p.shown.text, "\n") + "\n\n" + m.print.Fields(m.width, entered)
}

// endLines are what stands above the keys: a problem, and the question.
func (p *page) endLines(m *model, question string) (lines []string) {
	problem := p.problem
	switch {
	case problem != "":
	case !p.item.Waits:
		problem = "meanwhile: " + p.item.ID + " " + p.item.Outcome
	default:
		problem = p.item.Refused
	}
	if problem != "" {
		lines = append(lines, m.strong(problem)...)
	}
	if question != "" {
		lines = append(lines, m.strong(question)...)
	}
	const most = 4
	return lines[:min(len(lines), most)]
}

func (p *page) questionKeys(m *model) string {
	switch {
	case p.working:
		return "one moment …"
	case p.item.Refused != "":
		return hints(m.width, "esc", "back")
	case !p.request.whole():
		return hints(m.width, "space", "read on; it is decided once you have seen all of it", "esc", "back")
	case !p.ready():
		return hints(m.width, "esc", "back")
	case len(p.fields) == 0:
		return hints(m.width, "y", "yes", "esc", "back")
	}
	return hints(m.width, "y", "yes", "e", "edit what you enter", "esc", "back")
}

// strong is a sentence on as many lines as it needs.
func (m *model) strong(text string) (lines []string) {
	for line := range strings.SplitSeq(m.print.Fold(text, m.width), "\n") {
		lines = append(lines, bold.Render(line))
	}
	return lines
}

// fold breaks a text for people into at most some lines.
func (m *model) fold(text string, width, most int) []string {
	lines := strings.Split(m.print.Fold(text, width), "\n")
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], cut(strings.TrimRight(lines[most-1], " "), width-2)+" …")
	}
	return lines
}
