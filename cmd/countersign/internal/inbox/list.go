package inbox

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// list is the upper part of the screen: what waits, and what no longer does since
// it was on the screen.
type list struct {
	items       []Item
	loaded      bool
	selected    string // its id
	top         int    // the first row shown
	fresh       map[string]bool
	settledHere map[string]bool // decided by this operator: no news, though an older look may come in late

	kind      Kind // "": all kinds
	filtering bool
	pattern   editor
}

// mostDone is how many items that wait no longer are kept.
const mostDone = 100

func (l *list) ids() (ids []string) {
	for _, item := range l.items {
		ids = append(ids, item.ID)
	}
	return ids
}

// take puts new items in, and says what happened to one without the operator.
func (l *list) take(items []Item) (news string) {
	before := map[string]Item{}
	for _, item := range l.items {
		before[item.ID] = item
	}
	done := 0
	for _, item := range slices.Backward(items) {
		if was, known := before[item.ID]; known && was.Waits && !item.Waits && !l.settledHere[item.ID] {
			news = item.ID + " " + item.Outcome
		} else if !known && l.loaded {
			l.fresh[item.ID] = true
		}
		if !item.Waits {
			done++
		}
	}
	items = slices.DeleteFunc(items, func(item Item) bool {
		if item.Waits || done <= mostDone || item.ID == l.selected {
			return false
		}
		done--
		return true
	})
	if !l.loaded {
		l.loaded, l.fresh, l.settledHere = true, map[string]bool{}, map[string]bool{}
	}
	at := l.place()
	l.items = items
	l.choose(at)
	return news
}

// visible are the items that the kind and the filter let through.
func (l *list) visible() (items []Item) {
	words := strings.Fields(strings.ToLower(l.pattern.String()))
	for _, item := range l.items {
		if (l.kind == "" || item.Kind == l.kind) && item.matches(words) {
			items = append(items, item)
		}
	}
	return items
}

func (i Item) matches(words []string) bool {
	text := strings.ToLower(strings.Join([]string{i.ID, string(i.Kind), i.About, i.Amount, i.OrderID, i.AskedBy, i.Outcome, i.Search}, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// current is the selected item.
func (l *list) current() (Item, bool) {
	items := l.visible()
	if at := l.place(); at >= 0 {
		return items[at], true
	}
	return Item{}, false
}

// place is where the selected item stands among the visible ones, or -1.
func (l *list) place() int {
	return slices.IndexFunc(l.visible(), func(item Item) bool { return item.ID == l.selected })
}

// choose keeps the selection where it is still visible, else takes the item that
// stands now where it was.
func (l *list) choose(before int) {
	items := l.visible()
	switch {
	case len(items) == 0:
		l.selected = ""
	case l.place() < 0:
		l.selected = items[max(min(before, len(items)-1), 0)].ID
	}
}

func (l *list) move(by int) {
	items := l.visible()
	if len(items) == 0 {
		return
	}
	l.selected = items[max(min(l.place()+by, len(items)-1), 0)].ID
	delete(l.fresh, l.selected)
}

// next goes on from an item that was decided to one that waits, if there is one.
func (l *list) next() {
	items, at := l.visible(), l.place()
	for i := range items {
		if item := items[(at+1+i)%len(items)]; item.Waits && item.ID != l.selected {
			l.selected = item.ID
			delete(l.fresh, item.ID)
			return
		}
	}
}

// settled notes that the operator decided an item here, so that it is no news,
// and goes on to the next one.
func (l *list) settled(id string) {
	if l.settledHere != nil { // nil: the operator may not look any more
		l.settledHere[id] = true
	}
	for i := range l.items {
		if l.items[i].ID == id {
			l.items[i].Waits, l.items[i].State = false, "" // it is read anew
		}
	}
	if l.selected == id {
		l.next()
	}
}

// clear takes out what waits no longer.
func (l *list) clear() {
	at := l.place()
	l.items = slices.DeleteFunc(l.items, func(item Item) bool { return !item.Waits })
	l.choose(at)
}

var kinds = []Kind{"", Approval, Request, Ticket}

// turn shows the next kind, or the one before.
func (l *list) turn(by int) {
	at := l.place()
	l.kind = kinds[(slices.Index(kinds, l.kind)+by+len(kinds))%len(kinds)]
	l.choose(at)
}

// press is a key while the filter is typed; it reports whether the list changed.
func (l *list) press(key tea.KeyPressMsg) bool {
	at := l.place()
	switch key.String() {
	case "enter":
		l.filtering = false
	case "esc":
		l.filtering, l.pattern = false, editor{}
	case "up":
		l.move(-1)
	case "down":
		l.move(1)
	default:
		l.pattern.press(key)
	}
	l.choose(at)
	return true
}

func (l *list) waiting(kind Kind) (n int) {
	for _, item := range l.items {
		if item.Waits && (kind == "" || item.Kind == kind) {
			n++
		}
	}
	return n
}

// tabs names the kinds with how many of each wait.
func (l *list) tabs() string {
	names := map[Kind]string{"": "All", Approval: "Approvals", Request: "Requests", Ticket: "Tickets"}
	var tabs []string
	for _, kind := range kinds {
		tab := fmt.Sprintf(" %s %d ", names[kind], l.waiting(kind))
		if kind == l.kind {
			tab = selected.Render(tab)
		}
		tabs = append(tabs, tab)
	}
	return strings.Join(tabs, "")
}
