package inbox

import (
	"strings"
	"unicode"

	"charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"countersign/tools"
)

// mostTyped is how many characters an editor takes. What is refused in the end is
// said by the office; this only keeps the screen quick.
const mostTyped = 50_000

// editor is a text that an operator types. It keeps every character that was
// typed or pasted; what a terminal would obey or hide is written out.
type editor struct {
	text   []rune
	at     int  // the cursor stands before this character
	masked bool // a secret: never shown
	top    int  // the first row shown, where there are more than fit
}

func (e *editor) String() string { return string(e.text) }

// insert puts text at the cursor, whole or not at all.
func (e *editor) insert(text string) (fits bool) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	typed := []rune(text)
	if len(e.text)+len(typed) > mostTyped {
		return false
	}
	e.text = append(e.text[:e.at:e.at], append(typed, e.text[e.at:]...)...)
	e.at += len(typed)
	return true
}

// press does what a key of a text field does, and reports false for other keys.
func (e *editor) press(key tea.KeyPressMsg) bool {
	switch key.String() {
	case "left", "ctrl+b":
		e.at = e.before(e.at)
	case "right", "ctrl+f":
		e.at = e.after(e.at)
	case "home", "ctrl+a":
		for e.at > 0 && e.text[e.at-1] != '\n' {
			e.at--
		}
	case "end", "ctrl+e":
		for e.at < len(e.text) && e.text[e.at] != '\n' {
			e.at++
		}
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.wordBefore()
	case "alt+right", "ctrl+right", "alt+f":
		for e.at < len(e.text) && unicode.IsSpace(e.text[e.at]) {
			e.at++
		}
		for e.at < len(e.text) && !unicode.IsSpace(e.text[e.at]) {
			e.at++
		}
	case "backspace", "ctrl+h":
		e.remove(e.before(e.at), e.at)
	case "delete", "ctrl+d":
		e.remove(e.at, e.after(e.at))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.remove(e.wordBefore(), e.at)
	case "ctrl+u":
		e.remove(0, e.at)
	case "ctrl+k":
		e.remove(e.at, len(e.text))
	default:
		return key.Text != "" && e.insert(key.Text)
	}
	return true
}

func (e *editor) remove(from, to int) {
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at = from
}

func (e *editor) wordBefore() int {
	at := e.at
	for at > 0 && unicode.IsSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.text[at-1]) {
		at--
	}
	return at
}

// joins reports whether the character at i is shown as part of the one before.
func (e *editor) joins(i int) bool {
	if i == 0 || e.text[i-1] == '\n' {
		return false
	}
	const joiner, tones, last = '\u200d', '\U0001f3fb', '\U0001f3ff'
	r := e.text[i]
	return unicode.In(r, unicode.Mn, unicode.Me) || r == joiner || e.text[i-1] == joiner || r >= tones && r <= last
}

func (e *editor) before(at int) int {
	for at--; at > 0 && e.joins(at); {
		at--
	}
	return max(at, 0)
}

func (e *editor) after(at int) int {
	for at++; at < len(e.text) && e.joins(at); {
		at++
	}
	return min(at, len(e.text))
}

// cell is what is shown of one character, or of some that are shown as one.
type cell struct {
	shown string
	start int // of its first character
	width int
}

func (e *editor) cell(from, to int) cell {
	if e.masked {
		return cell{"•", from, 1}
	}
	text := string(e.text[from:to])
	if len(text) == 1 && text[0] >= ' ' && text[0] < 0x7f {
		return cell{text, from, 1}
	}
	if text == "\t" {
		return cell{"⇥", from, 1}
	}
	text = tools.Visible(text)
	return cell{text, from, lipgloss.Width(text)}
}

// rows lays the text out in rows of at most width columns, broken between words
// where there are blanks.
func (e *editor) rows(width int) [][]cell {
	rows, row, used := [][]cell{}, []cell{}, 0
	for i := 0; i < len(e.text); {
		end := e.after(i)
		if e.text[i] == '\n' && !e.masked {
			rows, row, used = append(rows, append(row, cell{"", i, 0})), nil, 0
			i = end
			continue
		}
		c := e.cell(i, end)
		if used+c.width > width && len(row) > 0 {
			full, rest := breakRow(row)
			rows, row = append(rows, full), append([]cell{}, rest...)
			used = 0
			for _, moved := range row {
				used += moved.width
			}
		}
		row, used, i = append(row, c), used+c.width, end
	}
	if used >= width && len(row) > 0 { // the cursor behind it needs a place
		rows, row = append(rows, row), nil
	}
	return append(rows, row)
}

// breakRow parts a full row after its last blank, if it has one.
func breakRow(row []cell) (full, rest []cell) {
	for i := len(row) - 1; i > 0; i-- {
		if row[i].shown == " " {
			return row[:i+1], row[i+1:]
		}
	}
	return row, nil
}

// place returns the row and column of the cursor.
func (e *editor) place(rows [][]cell) (row, column int) {
	for row = len(rows) - 1; row > 0; row-- {
		if len(rows[row]) > 0 && rows[row][0].start <= e.at || len(rows[row]) == 0 && e.at >= len(e.text) {
			break
		}
	}
	for _, c := range rows[row] {
		if c.start >= e.at {
			break
		}
		column += c.width
	}
	return row, column
}

// step moves the cursor a row up (-1) or down (1), and reports false where there
// is none.
func (e *editor) step(by, width int) bool {
	rows := e.rows(width)
	row, column := e.place(rows)
	if row += by; row < 0 || row >= len(rows) {
		return false
	}
	e.at = len(e.text)
	if row+1 < len(rows) && len(rows[row+1]) > 0 {
		e.at = rows[row+1][0].start - 1
	}
	for _, c := range rows[row] {
		if column < c.width || c.shown == "" {
			e.at = c.start
			break
		}
		column -= c.width
	}
	return true
}

// view returns the rows to show, at most height, and the cursor's place in them.
func (e *editor) view(width, height int) (lines []string, row, column int) {
	rows := e.rows(width)
	row, column = e.place(rows)
	e.top = max(min(e.top, row, len(rows)-height), row-height+1, 0)
	for _, cells := range rows[e.top:min(e.top+height, len(rows))] {
		var line strings.Builder
		for _, c := range cells {
			line.WriteString(c.shown)
		}
		lines = append(lines, line.String())
	}
	return lines, row - e.top, column
}
