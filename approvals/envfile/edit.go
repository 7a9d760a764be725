package envfile

import (
	"regexp"
	"strings"
	"sync"
)

// assignment is the start of a line that sets a variable: up to its value.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t\x{feff}]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*`)
})

// Set returns the text of a .env file with a variable set. Its last assignment
// is replaced where there is one, since that is the one that readers take; else
// a line is added. All other lines, comments and line ends stay. The error is
// [ErrUnquotable].
func Set(text, name, value string) (string, error) {
	written, err := quote(value)
	if err != nil {
		return "", err
	}
	if start, end, found := lastValue(text, name); found {
		return text[:start] + written + text[end:], nil
	}
	lineEnd := "\n"
	if first := strings.IndexByte(text, '\n'); first > 0 && text[first-1] == '\r' {
		lineEnd = "\r\n"
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += lineEnd
	}
	return text + name + "=" + written + lineEnd, nil
}

// lastValue finds where the value of a variable's last assignment stands.
func lastValue(text, name string) (start, end int, found bool) {
	for at := 0; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		match := assignment().FindStringSubmatch(text[at:next])
		if match == nil {
			at = next
			continue
		}
		valueAt := at + len(match[0])
		valueEnd := endOfValue(text, valueAt)
		if match[1] == name {
			start, end, found = valueAt, valueEnd, true
		}
		at = len(text)
		if i := strings.IndexByte(text[valueEnd:], '\n'); i >= 0 {
			at = valueEnd + i + 1
		}
	}
	return start, end, found
}

// endOfValue returns where the value that starts at an index ends: at the quote
// that closes it, on a later line too, else before a comment or the line's end.
func endOfValue(text string, start int) int {
	line := start + len(text[start:])
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		line = start + i
	}
	if start < line && strings.IndexByte("'\"`", text[start]) >= 0 {
		if end, closed := closingQuote(text, start); closed {
			return end
		}
	}
	value := text[start:line]
	if strings.HasPrefix(value, "#") {
		return start
	}
	for _, comment := range []string{" #", "\t#"} {
		if i := strings.Index(value, comment); i >= 0 {
			value = value[:i]
		}
	}
	return start + len(strings.TrimRight(value, " \t\r"))
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
