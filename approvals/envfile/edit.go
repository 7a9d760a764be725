package envfile

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"
)

// A syntax says which lines set a variable: it matches their start, up to the value.
type syntax func() *regexp.Regexp

const beforeSign, afterSign = `^[ \t\x{feff}]*(export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*`, `[ \t]*`

var (
	// withColon is how dotenv for Node and Go read: "KEY: value" sets KEY too.
	withColon syntax = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(beforeSign + `[=:]` + afterSign) })
	// equalsOnly is how all others read.
	equalsOnly syntax = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(beforeSign + `=` + afterSign) })

	// joined ends with a line to which some reader joins the next one: a shell
	// where a backslash ends it, dotenv for Node where a colon does.
	joined = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\\|(?:^|\n)[ \t\x{feff}]*(?:export[ \t]+)?[A-Za-z0-9_.-]+:)\r?\n$`)
	})
)

// ErrUnread means that a variable would not be read back as it was written, for
// what else stands in the file.
var ErrUnread = errors.New("what is written to it would not be read back")

// An OpenQuoteError is [ErrUnread] for a value whose quote nothing closes: what
// follows is a part of that value to some readers, and not to others.
type OpenQuoteError struct{ Line int }

func (e *OpenQuoteError) Error() string {
	return fmt.Sprintf("line %d has a quote that nothing closes", e.Line)
}

func (e *OpenQuoteError) Unwrap() error { return ErrUnread }

// Set returns the text of a .env file with a variable set. Its last assignment
// is replaced where there is one, since that is the one that readers take; else
// a line is added. The line is one that a shell reads too. All other lines,
// comments and line ends stay. The error is [ErrUnquotable], or [ErrUnread] where
// the text wouldn't give the value back.
func Set(text, name, value string) (string, error) {
	written, err := quote(value)
	if err != nil {
		return "", err
	}
	after := put(text, name, written)
	for _, read := range []syntax{withColon, equalsOnly} {
		for a := range assignments(text, read) {
			if a.open && a.name != name {
				return "", &OpenQuoteError{Line: 1 + strings.Count(text[:a.start], "\n")}
			}
		}
	}
	if got, found := Get(after, name); !found || got != value {
		return "", ErrUnread
	}
	return after, nil
}

// put puts a line with a written value in place of the variable's last one, or
// adds it.
func put(text, name, written string) string {
	lineEnd := "\n"
	if first := strings.IndexByte(text, '\n'); first > 0 && text[first-1] == '\r' {
		lineEnd = "\r\n"
	}
	before, after := text, lineEnd
	assignment := name + "=" + written
	if a, found := last(text, name, withColon); found {
		before, after = text[:a.line], text[a.end:]
		if a.export {
			assignment = "export " + assignment
		}
		if strings.HasPrefix(after, "#") {
			after = " " + after // else the comment would be a part of the value
		}
	} else if text != "" && !strings.HasSuffix(text, "\n") {
		before += lineEnd
	}
	if joined().MatchString(before) {
		before += lineEnd
	}
	return before + assignment + after
}

// Get returns the value that a text gives a variable for every reader, where
// that needs no escapes: [Set] writes none.
func Get(text, name string) (value string, found bool) {
	value, found = get(text, name, withColon)
	if other, too := get(text, name, equalsOnly); !too || other != value {
		return "", false
	}
	return value, found
}

func get(text, name string, read syntax) (value string, found bool) {
	a, found := last(text, name, read)
	if !found || a.open {
		return "", false
	}
	value = text[a.start:a.end]
	if !isQuote(value) {
		return value, true
	}
	rest := strings.TrimSpace(text[a.end:lineAfter(text, a.end)])
	if rest != "" && rest[0] != '#' {
		return "", false // readers disagree about what goes on after its quote
	}
	return value[1 : len(value)-1], true
}

// assigned is where an assignment's line starts, and where its value stands. One
// that is open begins with a quote that nothing closes, and ends with its line.
type assigned struct {
	name             string
	export           bool
	line, start, end int
	open             bool
}

// last finds a variable's last assignment.
func last(text, name string, read syntax) (found assigned, ok bool) {
	for a := range assignments(text, read) {
		if a.name == name {
			found, ok = a, true
		}
	}
	return found, ok
}

// assignments goes through those of a text in their order.
func assignments(text string, read syntax) iter.Seq[assigned] {
	return func(yield func(assigned) bool) {
		for at := 0; at < len(text); {
			next := lineAfter(text, at)
			if match := read().FindStringSubmatch(text[at:next]); match != nil {
				a := assigned{name: match[2], export: match[1] != "", line: at, start: at + len(match[0])}
				a.end, a.open = endOfValue(text, a.start)
				if !yield(a) {
					return
				}
				next = lineAfter(text, a.end)
			}
			at = next
		}
	}
}

// lineAfter returns where the line after the one of an index starts.
func lineAfter(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func isQuote(value string) bool { return value != "" && strings.IndexByte("'\"`", value[0]) >= 0 }

// endOfValue returns where the value that starts at an index ends: at the quote
// that closes it, on a later line too, else before a comment or the line's end;
// and whether it has a quote that nothing closes.
func endOfValue(text string, start int) (end int, open bool) {
	line := start + len(text[start:])
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		line = start + i
	}
	value := text[start:line]
	if open = isQuote(value); open {
		if end, closed := closingQuote(text, start); closed {
			return end, false
		}
	}
	if strings.HasPrefix(value, "#") {
		return start, false
	}
	for _, comment := range []string{" #", "\t#"} {
		if i := strings.Index(value, comment); i >= 0 {
			value = value[:i]
		}
	}
	return start + len(strings.TrimRight(value, " \t\r")), open
}

// closingQuote finds the end of a quoted text. What a backslash stands before
// closes nothing.
func closingQuote(text string, start int) (end int, closed bool) {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[start]:
			return i + 1, true
		}
	}
	return 0, false
}
