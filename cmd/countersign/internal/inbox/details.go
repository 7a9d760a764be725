package inbox

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// details is the lower part of the screen: the selected item, whole.
type details struct {
	pager
	shown shown
	open  bool // it has the screen to itself
}

func (d *details) take(got shown) {
	if got.id != d.shown.id {
		d.pager = pager{}
	}
	d.shown = got
	d.set(got.text)
}

// viewInbox is the list with the details of what is selected below it.
func (m *model) viewInbox() ([]string, *tea.Cursor) {
	items, w := m.list.visible(), m.width
	header := between(bold.Render("Inbox")+" "+m.list.tabs(), m.print.Line(m.operator+" · "+filepath.Base(m.office.DB.Path())), w)
	status, cursor := m.viewStatus()
	lines, room := []string{header}, m.height-2-len(status)
	switch {
	case len(items) == 0:
		lines = append(lines, m.viewNothing(room)...)
		room = 0
	case !m.details.open:
		height := max(min(len(items), room*2/5), 3)
		height = min(height, len(items))
		lines = append(append(lines, headings(w)), m.list.rows(w, height)...)
		room -= height + 1
	}
	if item, ok := m.list.current(); ok {
		body := m.viewDetails(item, room-1)
		lines = append(append(lines, rule(string(item.Kind), m.details.where(), w)), body...)
	}
	return append(append(lines, status...), m.keys()), cursor
}

func (m *model) viewDetails(item Item, height int) []string {
	if m.details.shown.id != item.ID { // it is being read
		return make([]string, height)
	}
	return m.details.view(height)
}

// viewNothing fills the room of the list where it is empty.
func (m *model) viewNothing(room int) []string {
	text := bold.Render("Nothing waits.") + "\n\nWhat agents ask of a human appears here by itself."
	switch {
	case !m.list.loaded:
		text = "Reading …"
	case m.failed != "":
		text = ""
	case m.list.pattern.String() != "" || m.list.kind != "":
		text = bold.Render("Nothing of this fits.") + "\n\nesc shows all."
	}
	return strings.Split(lipgloss.Place(m.width, room, lipgloss.Center, lipgloss.Center, text), "\n")
}

// viewStatus is what stands above the keys: the filter, or what happened.
func (m *model) viewStatus() ([]string, *tea.Cursor) {
	l := &m.list
	if l.filtering {
		shown, row, column := l.pattern.view(m.width-10, 1)
		return []string{"filter: " + shown[0]}, tea.NewCursor(8+column, m.height-2+row)
	}
	switch {
	case m.failed != "":
		return m.sentence(m.failed), nil
	case m.status != "":
		return m.sentence(m.status), nil
	case l.pattern.String() != "":
		return []string{cut("filter: "+m.print.Line(l.pattern.String()), m.width)}, nil
	}
	notice := m.notice
	if item, ok := l.current(); ok && item.Waits && notice == "" {
		notice = item.Refused
	}
	return m.sentence(notice), nil
}

// sentence is text above the keys, on as many lines as it needs and there may be.
func (m *model) sentence(text string) []string {
	const most = 4
	lines := m.fold(text, m.width, most)
	for i := range lines {
		lines[i] = bold.Render(lines[i])
	}
	return lines
}

func (m *model) viewTooSmall() []string {
	text := []string{"This terminal is too small:", "the inbox needs 60 columns", "and 14 lines. What you", "typed is kept.", "ctrl-c leaves."}
	for i := range text {
		text[i] = cut(text[i], m.width)
	}
	return text[:min(len(text), m.height)]
}
