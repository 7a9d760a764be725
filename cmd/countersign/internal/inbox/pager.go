package inbox

import (
	"fmt"
	"strings"
)

// pager shows a text of which not all fits.
type pager struct {
	lines       []string
	top, height int
	seen        int // how many of the lines have been on the screen
}

// set replaces the text; the place in it stays.
func (p *pager) set(text string) {
	p.lines = strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// press scrolls, and reports false for other keys.
func (p *pager) press(key string) bool {
	switch key {
	case "up", "k":
		p.top--
	case "down", "j":
		p.top++
	case "pgup", "b", "ctrl+b":
		p.top -= max(p.height-1, 1)
	case "pgdown", "space", "ctrl+f":
		p.top += max(p.height-1, 1)
	case "home", "g":
		p.top = 0
	case "end", "G":
		p.top = len(p.lines)
	default:
		return false
	}
	p.clamp()
	return true
}

func (p *pager) clamp() { p.top = max(min(p.top, len(p.lines)-p.height), 0) }

// view returns the lines to show, exactly height.
func (p *pager) view(height int) []string {
	p.height = max(height, 1)
	p.clamp()
	end := min(p.top+p.height, len(p.lines))
	if p.top <= p.seen { // what was jumped over hasn't been shown
		p.seen = max(p.seen, end)
	}
	shown := append([]string{}, p.lines[p.top:end]...)
	for len(shown) < p.height {
		shown = append(shown, "")
	}
	return shown[:p.height]
}

// below is how many lines are below what is shown.
func (p *pager) below() int { return max(len(p.lines)-p.top-p.height, 0) }

// whole reports whether every line has been on the screen.
func (p *pager) whole() bool { return p.seen >= len(p.lines) }

// where says which lines are shown, "" where all are.
func (p *pager) where() string {
	if p.top == 0 && p.below() == 0 {
		return ""
	}
	return fmt.Sprintf("lines %d–%d of %d", p.top+1, min(p.top+p.height, len(p.lines)), len(p.lines))
}
