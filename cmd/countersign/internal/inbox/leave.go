package inbox

import tea "charm.land/bubbletea/v2"

// leave ends the program, once what is being decided is decided, and what was
// typed and not sent may go.
func (m *model) leave() tea.Cmd {
	switch {
	case m.page != nil && m.page.working:
		m.leaving = true
		return nil
	case m.typed():
		m.discarding = true
		return nil
	}
	return tea.Quit
}

// typed reports whether something was typed that isn't sent.
func (m *model) typed() bool {
	for _, draft := range m.drafts {
		for _, f := range draft.fields {
			if len(f.text) > 0 {
				return true
			}
		}
	}
	return false
}

// discard takes the answer to whether what was typed may go. Another ctrl-c is
// a yes: who presses it twice wants to leave.
func (m *model) discard(key string) tea.Cmd {
	m.discarding = false
	if key == "y" || key == "ctrl+c" {
		return tea.Quit
	}
	return nil
}

// askToDiscard puts the question in place of the screen's last lines.
func (m *model) askToDiscard(lines []string) []string {
	end := []string{
		bold.Render(cut("Discard what you typed? y", m.width)),
		hints(m.width, "y", "discard it and leave", "esc", "stay, keeping it"),
	}
	end = end[:min(len(end), m.height)]
	return append(lines[:max(min(len(lines), m.height-len(end)), 0):len(lines)], end...)
}
