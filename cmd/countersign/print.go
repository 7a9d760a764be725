package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"countersign/policy/money"
	"countersign/store"
	"countersign/tools"
)

var (
	bold = lipgloss.NewStyle().Bold(true) // nothing is faint: on few backgrounds can that be read

	green   = lipgloss.NewStyle().Foreground(lipgloss.Green)
	yellow  = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	red     = lipgloss.NewStyle().Foreground(lipgloss.Red)
	blue    = lipgloss.NewStyle().Foreground(lipgloss.Blue)
	magenta = lipgloss.NewStyle().Foreground(lipgloss.Magenta)
)

// printJSON prints one document, indented. What a terminal would obey or hide is
// escaped, which JSON reads as the same text.
func printJSON(w io.Writer, value any) error {
	var document bytes.Buffer
	encoder := json.NewEncoder(&document)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(w, escapeHidden(document.String()))
	return err
}

// escapeHidden writes control and formatting characters as \u escapes.
func escapeHidden(document string) string {
	var b strings.Builder
	for _, r := range document {
		if char := string(r); r < unicode.MaxASCII || tools.Visible(char) == char {
			b.WriteString(char)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return b.String()
}

// inQuotes is what somebody wrote, in quotes on one line. What a terminal would obey
// or hide is written out as everywhere else.
func inQuotes(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(tools.Visible(text)) + `"`
}

// printTable prints rows under headings, without lines; nothing of a row is cut.
func printTable(w io.Writer, headings []string, rows [][]string) {
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "\t", " ") // the table would end a cell there
		}
	}
	t := table.New().Headers(headings...).Rows(rows...).Wrap(false).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).
		StyleFunc(func(row, _ int) lipgloss.Style {
			style := lipgloss.NewStyle().PaddingRight(2)
			return style.Bold(row == table.HeaderRow)
		})
	for line := range strings.SplitSeq(t.String(), "\n") {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// printFields prints labels and values in two columns; an empty value is left out.
func printFields(w io.Writer, width int, fields [][2]string) {
	const labels = 12
	for _, f := range fields {
		if f[1] == "" {
			continue
		}
		printBeside(w, lipgloss.NewStyle().Width(labels).Render(f[0]), fold(f[1], max(width-labels, 20)))
	}
}

// printBeside prints two blocks of text beside each other.
func printBeside(w io.Writer, left, right string) {
	fmt.Fprintln(w, trimLines(lipgloss.JoinHorizontal(lipgloss.Top, left, right)))
}

// fold breaks text into lines of at most width columns, between words.
func fold(text string, width int) string {
	const unbreakable = "\u2011" // lipgloss breaks at hyphens: an id or a date would fall apart
	text = strings.ReplaceAll(text, "-", unbreakable)
	text = lipgloss.NewStyle().Width(width).Render(text)
	return trimLines(strings.ReplaceAll(text, unbreakable, "-"))
}

// columns is how wide text for people may be.
func (a *app) columns() int {
	const usual = 80
	if a.width == 0 {
		return usual
	}
	return a.width
}

func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// stateWord colours the state of an approval or the outcome of a call.
func stateWord(state string) string {
	switch state {
	case store.Approved, store.Answered, "ok":
		return green.Render(state)
	case store.Pending:
		return yellow.Render(state)
	case store.Rejected, store.Declined, "denied", "error":
		return red.Render(state)
	}
	return state
}

// amountText is an amount for people, empty where there is none.
func amountText(minor int64, currency string) string {
	if currency == "" || minor == 0 {
		return ""
	}
	return money.Amount{Minor: minor, Currency: currency}.Format()
}

// ago says how long before now t was, or how long after now it will be.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		return "in " + span(-d)
	}
	return span(d) + " ago"
}

func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d.Round(time.Second)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d.Round(time.Minute)/time.Minute)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh", d.Round(time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%dd", d.Round(day)/day)
}

// parseSpan reads a while that isn't over at once, such as "90d" or "12h".
func parseSpan(text string) (time.Duration, bool) {
	const day = 24 * time.Hour
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 64)
		return time.Duration(n) * day, err == nil && n > 0 && n <= uint64(math.MaxInt64/day)
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// counted is a number of things, such as "1 row" and "2 rows".
func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// stampText is a moment for people and for JSON: RFC 3339, UTC; empty for none.
func stampText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
