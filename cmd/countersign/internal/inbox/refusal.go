package inbox

import tea "charm.land/bubbletea/v2"

// refusal is what the office said to something that this operator may not do, or
// can't any more.
type refusal struct {
	id  string
	err error
}

// try has the office say why it refuses an action, in its words for the plain
// command, and keep a record of that.
func (m *model) try(item Item, action string) tea.Cmd {
	return m.background(func() tea.Msg { return refusal{item.ID, m.office.Try(m.ctx, action, item.ID)} })
}

// refuse says it: on the page with what was typed, where that is open.
func (m *model) refuse(r refusal) tea.Cmd {
	if r.err == nil { // it isn't refused any more
		return m.load()
	}
	if m.page != nil && m.page.item.ID == r.id {
		m.page.problem = m.print.Line(r.err.Error())
		return nil
	}
	m.say(r.err.Error())
	return nil
}
