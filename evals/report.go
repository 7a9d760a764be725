package evals

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

const columns = 80

var (
	green = lipgloss.NewStyle().Foreground(lipgloss.Green)
	red   = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)
	faint = lipgloss.NewStyle().Faint(true)
	bold  = lipgloss.NewStyle().Bold(true)
)

// Print writes the report as a table of 80 columns, by category, with what was
// wrong below each scenario that failed.
func (r Report) Print(w io.Writer, took time.Duration) {
	for _, category := range r.categories() {
		fmt.Fprintf(w, "%s\n", bold.Render(category))
		for _, s := range r.Scenarios {
			if s.Category == category {
				s.print(w)
			}
		}
		fmt.Fprintln(w)
	}
	r.printTotals(w, took)
}

// categories are in the order in which scenarios name them first.
func (r Report) categories() (names []string) {
	seen := map[string]bool{}
	for _, s := range r.Scenarios {
		if !seen[s.Category] {
			names = append(names, s.Category)
		}
		seen[s.Category] = true
	}
	return names
}

func (s ScenarioReport) print(w io.Writer) {
	mark := green.Render("pass")
	switch {
	case s.Skipped != "":
		mark = faint.Render("skip")
	case s.Passed < len(s.Trials):
		mark = red.Render("FAIL")
	}
	score, checks := 0, 0
	for _, t := range s.Trials {
		score, checks = score+t.Score, checks+len(t.Checks)
	}
	right := fmt.Sprintf("%d/%d", score, checks)
	if len(s.Trials) > 1 {
		right = fmt.Sprintf("%s  %d of %d", right, s.Passed, len(s.Trials))
	}
	if s.Usage != nil {
		right = s.Usage.short() + "  " + right
	}
	if s.Skipped != "" {
		right = "-"
	}
	number, _, _ := strings.Cut(s.ID, "-")
	left := fmt.Sprintf("  %-3s %s", number, s.Title)
	if strings.HasSuffix(s.ID, cleanSuffix) {
		left = "      the same without the attack"
	}
	room := columns - len("pass") - 3 - lipgloss.Width(right)
	left = shorten(left, room)
	fmt.Fprintf(w, "%s%s  %s %s\n", left, strings.Repeat(" ", room-lipgloss.Width(left)), faint.Render(right), mark)
	if s.Skipped == "" && s.Passed < len(s.Trials) {
		s.printFaults(w)
	}
}

// printFaults says what was wrong, in the first trial that failed.
func (s ScenarioReport) printFaults(w io.Writer) {
	const indent = 6
	for i, t := range s.Trials {
		if t.Passed {
			continue
		}
		lines := []string{s.ID}
		if len(s.Trials) > 1 {
			lines[0] += fmt.Sprintf(", trial %d", i+1)
		}
		if t.Fault != "" {
			lines = append(lines, "✗ "+t.Fault)
		}
		for _, c := range t.Checks {
			if !c.Passed {
				lines = append(lines, fmt.Sprintf("✗ %s; got: %s", c.What, c.Got))
			}
		}
		if len(t.Happened) > 0 {
			lines = append(lines, "it called: "+strings.Join(t.Happened, " · "))
		}
		for _, line := range lines {
			fmt.Fprintln(w, trimmed(lipgloss.NewStyle().Width(columns).PaddingLeft(indent).Render(line)))
		}
		return
	}
}

func (r Report) printTotals(w io.Writer, took time.Duration) {
	verdict := green.Render("all passed")
	if r.Failed > 0 {
		verdict = red.Render(fmt.Sprintf("%d failed", r.Failed))
	}
	fmt.Fprintf(w, "%d scenarios, %s, %d of %d checks, by %s in %s\n",
		len(r.Scenarios)-r.Skipped, verdict, r.Score, r.Checks, r.Agent, took.Round(100*time.Millisecond))
	if r.Usage != nil {
		fmt.Fprintln(w, r.Usage)
	}
	reasons := map[string]int{}
	for _, s := range r.Scenarios {
		if s.Skipped != "" {
			reasons[s.Skipped]++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(w, "%d skipped: %s\n", reasons[why], why)
	}
	if len(r.PassHat) > 1 {
		fmt.Fprint(w, "all of k trials pass:")
		for k, rate := range r.PassHat {
			fmt.Fprintf(w, "  pass^%d %.1f%%", k+1, 100*rate)
		}
		fmt.Fprintln(w)
	}
}

// shorten cuts text to a width.
func shorten(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	runes := []rune(text)
	return strings.TrimRight(string(runes[:width-1]), " ") + "…"
}

func trimmed(block string) string {
	lines := strings.Split(block, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
