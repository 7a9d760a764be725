package approvals

import (
	"regexp/syntax"
	"unicode"
)

// kinds are characters that stand for all that an expression's assertions, such
// as $ and \b, can't tell from them: none (before the first and after the last),
// a line's end, a part of a word, and any other.
var kinds = [...]rune{-1, '\n', 'a', '!'}

const noRune = 0 // of kinds

// spot is a place in a compiled pattern, reached after a character of one kind
// on the guess that one of another kind is next.
type spot struct {
	at           uint32
	before, next int // of kinds
}

// fillable reports whether a text that may be entered matches the whole of a
// pattern; where empty is set, an empty one counts. It follows the compiled
// pattern with each guess of the next character's kind: every assertion before
// that character, and then the character, have to bear it out.
func fillable(pattern string, empty bool) bool {
	parsed, err := syntax.Parse(anchored(pattern), syntax.Perl)
	if err != nil {
		return false
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return false
	}
	var open []spot
	seen := make([]uint16, len(prog.Inst)) // a bit for each pair of kinds
	reach := func(at uint32, before, next int) {
		if bit := uint16(1) << (before*len(kinds) + next); seen[at]&bit == 0 {
			seen[at] |= bit
			open = append(open, spot{at, before, next})
		}
	}
	for next := range kinds {
		if next != noRune || empty {
			reach(uint32(prog.Start), noRune, next)
		}
	}
	for len(open) > 0 {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		switch inst := &prog.Inst[s.at]; inst.Op {
		case syntax.InstMatch: // the \z before it let only the end through
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			reach(inst.Out, s.before, s.next)
			reach(inst.Arg, s.before, s.next)
		case syntax.InstCapture, syntax.InstNop:
			reach(inst.Out, s.before, s.next)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^syntax.EmptyOpContext(kinds[s.before], kinds[s.next]) == 0 {
				reach(inst.Out, s.before, s.next)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if takes(inst, s.next) {
				for next := range kinds {
					reach(inst.Out, s.next, next)
				}
			}
		}
	}
	return false
}

// takes reports whether an instruction matches a character of a kind.
func takes(inst *syntax.Inst, kind int) bool {
	if len(inst.Rune) == 1 {
		r := inst.Rune[0]
		if kindOf(r) == kind {
			return true
		}
		if syntax.Flags(inst.Arg)&syntax.FoldCase == 0 {
			return false
		}
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			if kindOf(other) == kind {
				return true
			}
		}
		return false
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		const same = 0xa0 // from here on all are of one kind
		first, last := inst.Rune[i], inst.Rune[i+1]
		for r := first; r <= min(last, max(first, same)); r++ {
			if kindOf(r) == kind {
				return true
			}
		}
	}
	return false
}

// kindOf returns which of kinds a character is, -1 for one that no text may have.
func kindOf(r rune) int {
	switch {
	case r == '\n':
		return 1
	case syntax.IsWordChar(r):
		return 2
	case unenterable(r):
		return -1
	}
	return 3
}
