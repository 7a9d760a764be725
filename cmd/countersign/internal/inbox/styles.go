package inbox

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// The styles keep the terminal's own text colour on its own background: of the
// sixteen colours, and of faint text, none can be read on both a light and a dark
// one.
var (
	bold     = lipgloss.NewStyle().Bold(true)
	selected = lipgloss.NewStyle().Reverse(true)
)

// cut shortens a line to a number of columns, with a sign that there was more.
func cut(line string, width int) string {
	if lipgloss.Width(line) <= width {
		return line
	}
	if width <= 1 {
		return lipgloss.NewStyle().MaxWidth(max(width, 0)).Render(line)
	}
	return lipgloss.NewStyle().MaxWidth(width-1).Render(line) + "…"
}

// left and right fill a line up to a number of columns, or shorten it.
func left(line string, width int) string {
	line = cut(line, width)
	return line + strings.Repeat(" ", max(width-lipgloss.Width(line), 0))
}

func right(line string, width int) string {
	line = cut(line, width)
	return strings.Repeat(" ", max(width-lipgloss.Width(line), 0)) + line
}

// between sets two texts at both ends of a line, or the first one alone where both
// don't fit.
func between(start, end string, width int) string {
	if lipgloss.Width(start)+2+lipgloss.Width(end) > width {
		return cut(start, width)
	}
	return left(start, width-lipgloss.Width(end)) + end
}

// rule is a line across the screen, with words on it.
func rule(start, end string, width int) string {
	line := "── " + start + " "
	if end != "" {
		end = " " + end + " ──"
	}
	dashes := width - lipgloss.Width(line) - lipgloss.Width(end)
	return cut(line+strings.Repeat("─", max(dashes, 0))+end, width)
}
