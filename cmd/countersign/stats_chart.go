package main

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
)

// parts are what a bar is made of, from left to right. Each has a shade of its
// own: a terminal without colours tells them apart as well.
var parts = []struct {
	name  string
	style lipgloss.Style
	shade string
	of    func(statView) int64
}{
	{"approved or closed", green, "█", func(s statView) int64 {
		if s.Approved == nil {
			return s.Decided
		}
		return *s.Approved
	}},
	{"rejected", red, "▓", func(s statView) int64 {
		if s.Approved == nil {
			return 0
		}
		return s.Decided - *s.Approved
	}},
	{"open", yellow, "▒", func(s statView) int64 { return s.Open }},
	{"expired or stale", lipgloss.NewStyle(), "░", func(s statView) int64 { return s.Expired + s.Stale }},
}

// printCharts prints the figures of each tool and, under it, of each of its
// categories, with a bar before them where there is room for both.
func (a *app) printCharts(s statsView) {
	const widest, name, least = 80, 24, 5 // columns: of all, of a name at most, of a bar at least
	columns := min(a.columns(), widest)
	var lines []statView
	for _, tool := range s.ByTool {
		lines = append(lines, tool)
		for _, category := range s.ByCategory {
			if category.Tool == tool.Tool {
				lines = append(lines, category)
			}
		}
	}
	names, most := 0, int64(1)
	for _, s := range lines {
		names, most = max(names, lipgloss.Width(s.chartName())), max(most, s.Asked)
	}
	names = min(names, name)
	heading := figures("ASKED", "OPEN", "APPROVED", "MEDIAN", "P90")
	bars := columns - names - lipgloss.Width(heading)
	switch {
	case bars < 0:
		a.printFigures(lines, columns)
		return
	case bars <= least:
		bars = 0
	}
	left := lipgloss.NewStyle().Inline(true).Width(names).MaxWidth(names)
	fmt.Fprintln(a.out, strings.Repeat(" ", names+bars)+heading)
	for _, s := range lines {
		line := left.Render(s.chartName())
		if bars > 0 {
			line += " " + s.bar(bars-1, most)
		}
		line += figures(strconv.FormatInt(s.Asked, 10), strconv.FormatInt(s.Open, 10), s.shareText(), secondsText(s.Median), secondsText(s.P90))
		fmt.Fprintln(a.out, strings.TrimRight(line, " "))
	}
	if bars > 0 {
		a.printLegend(columns)
	}
}

// printFigures prints a sentence for each line, where a table has no room.
func (a *app) printFigures(lines []statView, columns int) {
	for _, s := range lines {
		text := fmt.Sprintf("asked %d, open %d, approved %s, median %s, p90 %s", s.Asked, s.Open, s.shareText(), secondsText(s.Median), secondsText(s.P90))
		fmt.Fprintln(a.out, fold(strings.TrimSpace(s.chartName())+": "+text, columns))
	}
}

// printLegend says what the shades of a bar are, none apart from its name.
func (a *app) printLegend(columns int) {
	lines := []string{""}
	for _, part := range parts {
		entry, last := part.style.Render(part.shade)+" "+part.name, len(lines)-1
		switch {
		case lines[last] == "":
			lines[last] = entry
		case lipgloss.Width(lines[last])+2+lipgloss.Width(entry) > columns:
			lines = append(lines, entry)
		default:
			lines[last] += "  " + entry
		}
	}
	fmt.Fprintln(a.out)
	fmt.Fprintln(a.out, strings.Join(lines, "\n"))
}

// figures are the columns beside a bar.
func figures(asked, open, approved, median, p90 string) string {
	return fmt.Sprintf("%7s%6s%10s%8s%6s", asked, open, approved, median, p90)
}

// chartName is what a line of the chart is about: a tool, or one of its categories.
func (s statView) chartName() string {
	if s.Category == nil {
		return s.Tool
	}
	return "  " + s.categoryText()
}

// bar is a bar of what was asked, and what became of it, in width columns: a
// full one stands for most. Rounding never makes it longer than its sum, and
// what happened at all shows.
func (s statView) bar(width int, most int64) string {
	var b strings.Builder
	drawn, sum := 0, int64(0)
	for _, part := range parts {
		n := part.of(s)
		sum += n
		end := int(sum * int64(width) / most)
		if n > 0 && end == drawn && drawn < width {
			end++
		}
		if end > drawn {
			b.WriteString(part.style.Render(strings.Repeat(part.shade, end-drawn)))
			drawn = end
		}
	}
	return b.String() + strings.Repeat(" ", width-drawn)
}
