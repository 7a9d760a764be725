package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"countersign/tools"
)

// How the demo looks: who speaks stands in a column of its own.

// voice is the column that says who speaks.
func voice(who, mark string) string { return fmt.Sprintf("%-9s%-2s", who, mark) }

func (t *teller) heading(text string) {
	fmt.Fprintf(t.app.out, "%s\n\n", bold.Underline(true).Render(fold(text, t.app.width)))
}

func (t *teller) say(text string) {
	fmt.Fprintf(t.app.out, "%s\n\n", fold(text, t.app.width))
}

// letter is what somebody writes to the agent.
func (t *teller) letter(heading, text string) {
	fmt.Fprintln(t.app.out, yellow.Render(heading))
	fmt.Fprintf(t.app.out, "%s\n\n", quoted(text, t.app.width))
}

// quoted is what somebody outside wrote, behind a bar.
func quoted(text string, width int) string {
	const bar = "┃ "
	folded := fold(tools.Visible(text), width-lipgloss.Width(bar))
	return yellow.Render(bar) + strings.ReplaceAll(folded, "\n", "\n"+yellow.Render(bar))
}

// field prints one field of an answer, folded in its column.
func (t *teller) field(left, name string, value any, answer map[string]any) {
	const names, narrow = 19, 60
	label := left + lipgloss.NewStyle().Width(names).Render(name)
	if t.app.width < narrow {
		fmt.Fprintln(t.app.out, left+name)
		label = "  "
	}
	width := max(t.app.width-lipgloss.Width(label), 20)
	text := ""
	switch v := value.(type) {
	case string:
		text = fold(tools.Visible(withCurrency(name, v, answer)), width)
	case []any:
		text = parcels(v, width)
	case map[string]any:
		text = wrapped(name, v, width)
	default:
		text = fmt.Sprint(v)
	}
	printBeside(t.app.out, label, text)
}

// withCurrency puts an answer's currency behind its amounts.
func withCurrency(name, text string, answer map[string]any) string {
	currency, _ := answer["currency"].(string)
	switch name {
	case "amount", "total", "refundable":
		return strings.TrimSpace(text + " " + currency)
	}
	return text
}

// wrapped is an object of an answer: untrusted text, an operator's note, or what
// a person entered into a form.
func wrapped(name string, object map[string]any, width int) string {
	if text, ok := object["untrusted"]; ok {
		return untrustedMark(object) + "\n" + quoted(fmt.Sprint(text), width)
	}
	if note := textOf(object["note"]); note != "" {
		return fold(fmt.Sprintf("%v: %s", object["name"], inQuotes(note)), width)
	}
	if name == "operator" {
		return textOf(object["name"])
	}
	var lines []string
	for _, field := range slices.Sorted(maps.Keys(object)) {
		lines = append(lines, fold(tools.Visible(fmt.Sprintf("%s %v", field, object[field])), width))
	}
	return strings.Join(lines, "\n")
}

func untrustedMark(object map[string]any) string {
	return yellow.Render(fmt.Sprintf("untrusted: %v", object["note"]))
}

// parcels are an order's parcels, each with its newest scans in the carrier's
// own words.
func parcels(list []any, width int) string {
	const shown = 3
	var lines []string
	for _, entry := range list {
		parcel, _ := entry.(map[string]any)
		lines = append(lines, fold(strings.Join(nonEmpty(
			fmt.Sprintf("%v %v:", parcel["carrier"], parcel["tracking_number"]),
			strings.ReplaceAll(fmt.Sprint(parcel["status"]), "_", " "), expected(parcel)), " "), width))
		journey, _ := parcel["scans"].(map[string]any)
		scans, _ := journey["untrusted"].([]any)
		if len(scans) > 0 {
			lines = append(lines, untrustedMark(journey))
		}
		for _, entry := range scans[max(len(scans)-shown, 0):] {
			scan, _ := entry.(map[string]any)
			lines = append(lines, quoted(strings.Join(nonEmpty(day(scan["at"]), textOf(scan["location"])+":",
				textOf(scan["description"])), " "), width))
		}
	}
	return strings.Join(lines, "\n")
}

func expected(parcel map[string]any) string {
	if eta := textOf(parcel["eta"]); eta != "" {
		return "(expected " + eta + ")"
	}
	return ""
}

// day is a moment as people say it, short.
func day(value any) string {
	at, err := time.Parse(time.RFC3339, textOf(value))
	if err != nil {
		return ""
	}
	return at.Format("Jan 2")
}

// textOf is a field's text, empty where there is none.
func textOf(value any) string {
	text, _ := value.(string)
	return text
}
