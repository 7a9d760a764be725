package inbox

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// help is what the keys do: labels with texts, two pairs on a line where both fit;
// a text alone is a paragraph, and nothing a line between.
var help = [][]string{
	{"What waits for a human, oldest first; it is read anew every second. What came since you looked is marked *; what was decided stays, with what became of it."},
	{},
	{"↑ ↓  j k", "select", "home end  g G", "first, last"},
	{"enter", "open and close the whole item"},
	{"space b", "read on, back", "J K", "by lines"},
	{"tab  1 2 3 4", "all, approvals, requests, tickets"},
	{"/", "show what has all the words that you type; esc shows all"},
	{"x", "clear away what waits no longer"},
	{"q  ctrl-c", "leave", "ctrl-z", "suspend"},
	{},
	{"on an approval", "a approve   l approve less   r reject"},
	{"on a request", "a answer   d decline"},
	{"on a ticket", "r reply   c close"},
	{},
	{"You see the whole request before anything is decided, and y decides it. What you type stays until it is sent: esc leaves it, the same key returns to it."},
	{},
	{"enter", "next field; after the last one: see it, and send it with y"},
	{"tab shift-tab", "next field, before", "ctrl-j", "new line"},
	{"← → space", "choices", "ctrl-u ctrl-k", "erase before, after"},
}

// helpText is the help in lines of at most width columns: nothing of it is cut.
func (m *model) helpText(width int) string {
	const label, text = 18, 20 // columns
	var lines []string
	pair := func(keys, does string) {
		hanging := strings.Repeat(" ", 2+label)
		does = strings.ReplaceAll(m.print.Fold(does, width-2-label), "\n", "\n"+hanging)
		lines = append(lines, "  "+left(keys, label)+does)
	}
	for _, entry := range help {
		switch {
		case len(entry) == 0:
			lines = append(lines, "")
		case len(entry) == 1:
			lines = append(lines, m.print.Fold(entry[0], width))
		case len(entry) == 2:
			pair(entry[0], entry[1])
		case 2+label+text+label+lipgloss.Width(entry[3]) <= width:
			lines = append(lines, "  "+left(entry[0], label)+left(entry[1], text)+left(entry[2], label)+entry[3])
		default:
			pair(entry[0], entry[1])
			pair(entry[2], entry[3])
		}
	}
	return strings.Join(lines, "\n")
}

func (m *model) viewHelp() []string {
	m.help.set(m.helpText(m.width))
	lines := []string{rule(bold.Render("Help"), "", m.width)}
	lines = append(lines, m.help.view(m.height-2)...)
	pairs := []string{"esc", "back"}
	if where := strings.TrimSpace(m.help.where()); where != "" {
		pairs = append(pairs, "space", "more ("+where+")")
	}
	return append(lines, hints(m.width, pairs...))
}
