package inbox

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

// The screen must have room for the list's columns and some lines of details.
const (
	narrowest = 60
	lowest    = 14
)

// model is what is on the screen.
type model struct {
	ctx      context.Context
	office   *settle.Office
	print    Printing
	operator string
	notice   string // why nothing can be decided, if that is known
	running  running

	width, height int

	list    list
	details details
	help    *pager // nil: not shown
	page    *page  // nil: the list is shown
	drafts  map[string]*page

	loading, again bool   // the database is being read; and has to be once more
	failed         string // why it couldn't be read
	status         string // what became of what the operator did
	leaving        bool   // as soon as what is being decided is
	discarding     bool   // it is asked whether what was typed may go
}

// tick asks for the next look at the database.
type tick struct{}

// loaded is what the database held.
type loaded struct {
	items []Item
	asked shown // which item was to be printed
	shown shown // it, if there is one
	err   error
}

// shown is an item as it was printed.
type shown struct {
	id    string
	width int
	text  string
}

func (m *model) Init() tea.Cmd { return tea.Batch(m.load(), nextTick()) }

func nextTick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} })
}

// load reads the list and the selected item, at the screen's width.
func (m *model) load() tea.Cmd {
	if m.loading {
		m.again = true
		return nil
	}
	m.loading, m.again = true, false
	known, id, width := m.list.ids(), m.list.selected, m.width
	if m.page != nil {
		id = m.page.item.ID
	}
	return m.background(func() tea.Msg {
		got := loaded{asked: shown{id: id, width: width}}
		if got.err = m.office.Permit(m.ctx, action, policy.Staff); got.err != nil {
			return got
		}
		got.err = m.office.DB.View(m.ctx, func(v *store.View) (err error) {
			if got.items, err = m.print.List(v, known); err != nil {
				return err
			}
			for _, item := range got.items {
				if item.ID == id && width > 0 {
					got.shown = got.asked
					got.shown.text, err = m.print.Show(v, item, width)
				}
			}
			return err
		})
		return got
	})
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, m.load()
	case tick:
		return m, tea.Batch(m.load(), nextTick())
	case loaded:
		return m, m.take(msg)
	case armed:
		msg.page.armed = true
	case done:
		return m, m.finish(msg)
	case refusal:
		return m, m.refuse(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

// take puts what was read on the screen.
func (m *model) take(got loaded) tea.Cmd {
	m.loading, m.failed = false, ""
	if got.err != nil {
		m.failed = m.print.Line(got.err.Error())
		if refused := (*settle.Error)(nil); errors.As(got.err, &refused) {
			m.list, m.details = list{}, details{} // who may not look any more sees nothing
		}
		return nil
	}
	if news := m.list.take(got.items); news != "" {
		m.say(news)
	}
	if m.page != nil {
		m.page.take(got)
	}
	wanted := m.list.selected
	if m.page != nil {
		wanted = m.page.item.ID
	}
	if got.shown.id == m.list.selected {
		m.details.take(got.shown)
	}
	if m.again || wanted != got.asked.id || m.width != got.asked.width {
		return m.load()
	}
	return nil
}

// say puts a sentence on the line above the keys.
func (m *model) say(text string) { m.status = m.print.Line(text) }

func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.discarding:
		return m.discard(key.String())
	case key.String() == "ctrl+c":
		return m.leave()
	case m.tooSmall():
		if key.String() == "q" && m.page == nil {
			return m.leave()
		}
		return nil
	case m.page != nil:
		return m.page.press(m, key)
	case m.help != nil:
		if name := key.String(); !m.help.press(name) && (name == "?" || name == "esc" || name == "q") {
			m.help = nil
		}
		return nil
	case m.list.filtering:
		if m.list.press(key) {
			return m.load()
		}
		return nil
	}
	return m.command(key.String())
}

func (m *model) paste(text string) {
	switch {
	case m.tooSmall(), m.discarding:
	case m.page != nil:
		m.page.paste(text)
	case m.list.filtering:
		m.list.pattern.insert(strings.Join(strings.Fields(text), " "))
	}
}

func (m *model) tooSmall() bool { return m.width < narrowest || m.height < lowest }

func (m *model) View() tea.View {
	v := tea.View{AltScreen: true}
	var lines []string
	switch {
	case m.width == 0:
	case m.tooSmall():
		lines = m.viewTooSmall()
	case m.page != nil:
		lines, v.Cursor = m.page.view(m)
	case m.help != nil:
		lines = m.viewHelp()
	default:
		lines, v.Cursor = m.viewInbox()
	}
	if m.discarding {
		lines, v.Cursor = m.askToDiscard(lines), nil
	}
	v.Content = strings.Join(lines, "\n")
	return v
}
