package inbox

import "strings"

// columns are the list's columns that fit a width; About takes what the others
// leave, and what amount and order don't use of a row that has neither.
type columns struct{ id, amount, order, by, about int }

func columnsFor(width int) columns {
	c := columns{amount: 12, order: 8, by: 10}
	if width < 76 {
		c.by = 0
	}
	if width >= 100 {
		c.id, c.by = 13, 16
	}
	if width >= 130 {
		c.order = 14
	}
	used := 2 + kindWidth + 2 + 2 + c.amount + 2 + c.order + 2 + ageWidth + 2 + leftWidth
	for _, optional := range []int{c.id, c.by} {
		if optional > 0 {
			used += optional + 2
		}
	}
	c.about = width - used
	return c
}

const (
	kindWidth = 8
	ageWidth  = 4
	leftWidth = 4
)

func (c columns) line(id, kind, about, amount, order, by, end string) string {
	var b strings.Builder
	if c.id > 0 {
		b.WriteString(left(id, c.id) + "  ")
	}
	b.WriteString(left(kind, kindWidth) + "  ")
	switch {
	case amount == "" && order == "":
		b.WriteString(left(about, c.about+2+c.amount+2+c.order) + "  ")
	case amount == "":
		b.WriteString(left(about, c.about+2+c.amount) + "  " + left(order, c.order) + "  ")
	default:
		b.WriteString(left(about, c.about) + "  " + right(amount, c.amount) + "  " + left(order, c.order) + "  ")
	}
	if c.by > 0 {
		b.WriteString(left(by, c.by) + "  ")
	}
	return b.String() + end
}

// end is the end of a row: since when something waits and how long yet, or what
// became of it.
func end(age, wait, state string) string {
	if state != "" {
		return right(state, ageWidth+2+leftWidth)
	}
	return right(age, ageWidth) + "  " + right(wait, leftWidth)
}

func headings(width int) string {
	return cut("  "+columnsFor(width).line("ID", "WHAT", "ABOUT", "AMOUNT", "ORDER", "ASKED BY", end("AGE", "LEFT", "")), width)
}

// rows are the list's rows, height of them.
func (l *list) rows(width, height int) (lines []string) {
	items, at := l.visible(), l.place()
	l.top = max(min(l.top, at, len(items)-height), at-height+1, 0)
	for _, item := range items[l.top:min(l.top+height, len(items))] {
		lines = append(lines, l.row(item, width))
	}
	return lines
}

func (l *list) row(item Item, width int) string {
	about, state := item.About, ""
	if !item.Waits {
		state = item.State
	}
	if item.Urgent && item.Waits {
		about = "! " + about
	}
	mark := "  "
	switch {
	case item.ID == l.selected:
		mark = "> "
	case l.fresh[item.ID]:
		mark = "* "
	}
	line := cut(mark+columnsFor(width).line(item.ID, string(item.Kind), about, item.Amount, item.OrderID, item.AskedBy, end(item.Age, item.Left, state)), width)
	switch {
	case item.ID == l.selected:
		return selected.Render(line)
	case item.Waits && (item.Hurry || l.fresh[item.ID]):
		return bold.Render(line)
	}
	return line
}
