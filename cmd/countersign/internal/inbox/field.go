package inbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"countersign/approvals"
)

// field is one thing that an operator may enter.
type field struct {
	editor
	name    string
	label   string
	choices []string                // one of these; nil: any text
	check   func(text string) error // nil: the office checks it
	problem string
}

// required is the check of a text that must say something.
func required(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("is required")
	}
	return nil
}

// formField is the field of a request's form.
func formField(f approvals.Field, label string) *field {
	made := &field{name: f.Name, label: label, check: func(text string) error { _, err := f.Read(text); return err }}
	switch f.Type {
	case approvals.Secret:
		made.masked = true
	case approvals.Choice:
		made.choices = f.Options
	case approvals.Boolean:
		made.choices = []string{"yes", "no"}
	}
	return made
}

// valid checks what was entered and keeps what is wrong with it.
func (f *field) valid(line func(string) string) bool {
	f.problem = ""
	if f.check == nil {
		return true
	}
	if err := f.check(f.String()); err != nil {
		f.problem = line(err.Error())
	}
	return f.problem == ""
}

// press does what a key means in the field, and reports false for other keys.
func (f *field) press(key tea.KeyPressMsg) bool {
	if f.choices == nil {
		return f.editor.press(key)
	}
	switch key.String() {
	case "right", "space":
		f.turn(1)
	case "left":
		f.turn(-1)
	case "backspace", "delete", "ctrl+u", "ctrl+k":
		f.pick("")
	default:
		return key.Text != "" && f.find(key.Text)
	}
	return true
}

func (f *field) pick(choice string) { f.text, f.at = []rune(choice), 0 }

// turn goes to the next choice or the one before.
func (f *field) turn(by int) {
	at, n := slices.Index(f.choices, f.String()), len(f.choices)
	if at < 0 && by < 0 {
		at = 0
	}
	f.pick(f.choices[(at+by+n)%n])
}

// find goes to the next choice that starts with what was typed.
func (f *field) find(typed string) bool {
	at := slices.Index(f.choices, f.String())
	for i := range f.choices {
		choice := f.choices[(at+1+i)%len(f.choices)]
		if start := strings.ToLower(choice); strings.HasPrefix(start, strings.ToLower(typed)) {
			f.pick(choice)
			return true
		}
	}
	return false
}

// entered is what the operator typed, as it may be shown.
func (f *field) entered() string {
	switch {
	case len(f.text) == 0:
		return ""
	case f.masked:
		return fmt.Sprintf("•••••• (%s)", counted(len(f.text)))
	}
	return f.String()
}

func counted(characters int) string {
	if characters == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", characters)
}

// view is what is shown of the value on at most height lines, and the cursor's
// place in them.
func (f *field) view(line func(string) string, width, height int) (lines []string, row, column int) {
	if f.choices == nil {
		return f.editor.view(width, height)
	}
	shown := "–"
	if at := slices.Index(f.choices, f.String()); at >= 0 {
		end := fmt.Sprintf("  %d of %d", at+1, len(f.choices))
		shown = cut(line(f.String()), width-4-utf8.RuneCountInString(end)) + end
	}
	return []string{"‹ " + shown + " ›"}, 0, 2
}
