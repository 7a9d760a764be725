package inbox

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// enter is a key while the fields of a page are filled in.
func (p *page) enter(m *model, key tea.KeyPressMsg) tea.Cmd {
	f := p.fields[p.focus]
	switch name := key.String(); name {
	case "esc":
		m.page = nil // the draft stays
		return m.load()
	case "enter", "tab":
		if !f.valid(m.print.Line) && name == "enter" {
			return nil
		}
		if p.focus+1 < len(p.fields) {
			p.focus++
			return nil
		}
		return p.submit(m)
	case "shift+tab":
		p.focus = max(p.focus-1, 0)
	case "ctrl+s":
		return p.submit(m)
	case "up", "down", "pgup", "pgdown":
		p.climb(m, name)
	case "ctrl+j", "alt+enter", "shift+enter":
		if f.choices == nil {
			f.insert("\n")
		}
	default:
		f.problem = ""
		if !f.press(key) && key.Text != "" && f.choices == nil {
			f.problem = "has no room for more"
		}
	}
	return nil
}

// climb goes up or down in the field's own rows, then to the next field.
func (p *page) climb(m *model, key string) {
	by := map[string]int{"up": -1, "down": 1, "pgup": -5, "pgdown": 5}[key]
	f := p.fields[p.focus]
	if f.choices == nil && (by == 1 || by == -1) && f.step(by, m.width-indent) {
		return
	}
	f.valid(m.print.Line)
	p.focus = max(min(p.focus+by, len(p.fields)-1), 0)
}

// submit shows what would be sent, or goes to the first field that isn't right.
func (p *page) submit(m *model) tea.Cmd {
	wrong := -1
	for i, f := range p.fields {
		if !f.valid(m.print.Line) && wrong < 0 {
			wrong = i
		}
	}
	if wrong >= 0 {
		p.focus = wrong
		return nil
	}
	p.problem = ""
	if p.item.Refused != "" {
		return m.try(p.item, p.action)
	}
	return tea.Batch(p.ask(), m.load())
}

const (
	indent   = 4 // of a value below its label
	tallest  = 8 // rows of a value that are shown at once
	briefest = 4 // lines of what it is about
)

// viewFields shows the fields, scrolled to the one that is filled in.
func (p *page) viewFields(m *model) ([]string, *tea.Cursor) {
	end := p.endLines(m, "")
	room := m.height - 2 - len(end)
	lines := []string{rule(bold.Render(p.title), p.progress(), m.width)}
	if brief := p.item.Brief; brief != "" {
		about := m.fold(brief, m.width, min(briefest, max(room-10, 1)))
		lines = append(append(lines, about...), "")
		room -= len(about) + 1
	}
	body, from, cursor, to := p.layout(m, room)
	p.scroll = max(min(p.scroll, from, len(body)-room), to-room, 0)
	at := len(lines) + cursor.Y - p.scroll
	lines = append(lines, body[p.scroll:min(p.scroll+room, len(body))]...)
	for len(lines) < m.height-1-len(end) {
		lines = append(lines, "")
	}
	keys := []string{"enter", "next", "↑↓", "fields"}
	if p.focus == len(p.fields)-1 {
		keys = []string{"enter", "see it and send", "↑↓", "fields"}
	}
	if len(p.fields) == 1 {
		keys = keys[:2]
	}
	if p.fields[p.focus].choices != nil {
		keys = append(keys, "←→", "choose")
	} else {
		keys = append(keys, "ctrl-j", "new line")
	}
	keys = append(keys, "esc", "back, keeping it")
	return append(append(lines, end...), hints(m.width, keys...)), tea.NewCursor(cursor.X, at)
}

func (p *page) progress() string {
	if len(p.fields) == 1 {
		return ""
	}
	return fmt.Sprintf("field %d of %d", p.focus+1, len(p.fields))
}

// layout is all fields on lines, with the lines from which and to which the
// field that is filled in goes and the cursor's place.
func (p *page) layout(m *model, room int) (body []string, from int, cursor tea.Position, to int) {
	for i, f := range p.fields {
		mark, style := "  ", lipgloss.NewStyle()
		if i == p.focus {
			mark, style, from = "> ", bold, len(body)
		}
		for n, line := range m.fold(m.print.Line(f.label), m.width-2, 3) {
			if n > 0 {
				mark = "  "
			}
			body = append(body, mark+style.Render(line))
		}
		rows, row, column := f.view(m.print.Line, m.width-indent, max(min(tallest, room-5), 1))
		if i == p.focus {
			cursor = tea.Position{X: indent + column, Y: len(body) + row}
		}
		if i != p.focus && len(f.text) == 0 && f.choices == nil {
			rows = []string{"–"}
		}
		for _, row := range rows {
			body = append(body, "    "+row)
		}
		if f.problem != "" {
			for _, line := range m.fold(f.problem, m.width-indent, 2) {
				body = append(body, "    "+bold.Render(line))
			}
		}
		body = append(body, "")
		if i == p.focus {
			to = len(body)
		}
	}
	return body, from, cursor, to
}
