package inbox

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// deeds are what can be done to an item of a kind, by key.
var deeds = map[Kind][]struct{ key, name string }{
	Approval: {{"a", "approve"}, {"l", "less"}, {"r", "reject"}},
	Request:  {{"a", "answer"}, {"d", "decline"}},
	Ticket:   {{"r", "reply"}, {"c", "close"}},
}

// command does what a key means on the list.
func (m *model) command(key string) tea.Cmd {
	was := m.list.selected
	if m.status != "" {
		m.say("", false)
	}
	switch key {
	case "q":
		return m.leave()
	case "?":
		m.help = &pager{}
		m.help.set(helpText)
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
		return tea.Suspend
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
			m.say(item.ID+" "+item.Outcome, true)
			return nil
		}
		delete(m.list.fresh, item.ID)
		return m.begin(item, key)
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
	if ok && item.Waits {
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

const helpText = `What waits for a human, oldest first; it is read anew every second. What came
since you looked is marked *; what was decided stays, with who decided it.

  ↑ ↓  j k          select            home end  g G     first, last
  enter             open and close the whole item
  space b           read on, back     J K               by lines
  tab  1 2 3 4      all, approvals, requests, tickets
  /                 show what has all the words that you type; esc shows all
  x                 clear away what waits no longer
  q  ctrl-c         leave             ctrl-z            suspend

  on an approval    a approve         l approve less    r reject
  on a request      a answer          d decline
  on a ticket       r reply           c close

You see the whole request before anything is decided, and y decides it. What you
type stays until it is sent: esc leaves it, the same key returns to it.

  enter             next field; after the last one: see it, and send it with y
  tab shift-tab     next field, field before            ctrl-j     new line
  ← → space         choices           ctrl-u ctrl-k     erase before, after`

func (m *model) viewHelp() []string {
	lines := []string{rule(bold.Render("Help"), "", m.width)}
	body := m.help.view(m.height - 2)
	for i := range body {
		body[i] = cut(body[i], m.width)
	}
	pairs := []string{"esc", "back"}
	if where := strings.TrimSpace(m.help.where()); where != "" {
		pairs = append(pairs, "space", "more ("+where+")")
	}
	return append(append(lines, body...), hints(m.width, pairs...))
}
