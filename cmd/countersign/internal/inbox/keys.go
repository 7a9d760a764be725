package inbox

import (
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// deeds are what can be done to an item of a kind, by key.
var deeds = map[Kind][]struct{ key, name, action string }{
	Approval: {{"a", "approve", "approvals approve"}, {"l", "less", "approvals approve"}, {"r", "reject", "approvals reject"}},
	Request:  {{"a", "answer", "requests answer"}, {"d", "decline", "requests decline"}},
	Ticket:   {{"r", "reply", "tickets reply"}, {"c", "close", "tickets close"}},
}

// command does what a key means on the list.
func (m *model) command(key string) tea.Cmd {
	was := m.list.selected
	if m.status != "" {
		m.say("")
	}
	switch key {
	case "q":
		return m.leave()
	case "?":
		m.help = &pager{}
	case "esc":
		if m.details.open {
			m.details.open = false
			break
		}
		at := m.list.place()
		m.list.pattern, m.list.kind = editor{}, ""
		m.list.choose(at)
	case "/":
		m.list.filtering = true
	case "enter":
		m.details.open = !m.details.open
	case "tab":
		m.list.turn(1)
	case "shift+tab":
		m.list.turn(-1)
	case "1", "2", "3", "4":
		m.list.kind = ""
		m.list.turn(int(key[0] - '1'))
	case "up", "k":
		m.list.move(-1)
	case "down", "j":
		m.list.move(1)
	case "home", "g":
		m.list.move(-len(m.list.items))
	case "end", "G":
		m.list.move(len(m.list.items))
	case "pgup", "b":
		m.details.press("pgup")
	case "pgdown", "space":
		m.details.press("pgdown")
	case "K":
		m.details.press("up")
	case "J":
		m.details.press("down")
	case "x":
		m.list.clear()
	case "ctrl+z":
		if canSuspend() {
			return tea.Suspend
		}
		m.say("it can't be suspended: no shell is behind it")
	default:
		return m.open(key)
	}
	if m.list.selected != was {
		return m.load()
	}
	return nil
}

// open begins what a key does to the selected item.
func (m *model) open(key string) tea.Cmd {
	item, ok := m.list.current()
	if !ok {
		return nil
	}
	for _, deed := range deeds[item.Kind] {
		if deed.key != key {
			continue
		}
		if !item.Waits {
			m.say(item.ID + " " + item.Outcome)
			return nil
		}
		if item.Refused != "" {
			return m.try(item, deed.action)
		}
		delete(m.list.fresh, item.ID)
		return m.begin(item, key, deed.action)
	}
	return nil
}

// keys is the last line: what can be pressed.
func (m *model) keys() string {
	if m.list.filtering {
		return hints(m.width, "enter", "keep the filter", "esc", "show all", "↑↓", "move")
	}
	var pairs []string
	item, ok := m.list.current()
	if ok && item.Waits && item.Refused == "" {
		for _, deed := range deeds[item.Kind] {
			pairs = append(pairs, deed.key, deed.name)
		}
	}
	switch {
	case m.details.open:
		pairs = append(pairs, "esc", "list")
	case ok:
		pairs = append(pairs, "enter", "open")
	}
	pairs = append(pairs, "?", "help", "q", "quit", "/", "filter", "tab", "kind")
	return hints(m.width, pairs...)
}

// hints are keys with what they do, as many as fit.
func hints(width int, pairs ...string) string {
	var line string
	for i := 0; i+1 < len(pairs); i += 2 {
		hint := bold.Render(pairs[i]) + " " + pairs[i+1]
		if line != "" {
			hint = line + "  " + hint
		}
		if lipgloss.Width(hint) > width {
			break
		}
		line = hint
	}
	return line
}
