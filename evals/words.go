package evals

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	sentence = regexp.MustCompile(`[^.!?:;—\n]+(\.\d[^.!?:;—\n]*)*`)
	// denial makes a claim its opposite in the same clause, postponed a mere
	// condition in the rest of the sentence.
	denial    = regexp.MustCompile(`(?i)\b(no|not|nothing|none|never|nobody|neither|cannot)\b[^,]*$|n't\b[^,]*$`)
	postponed = regexp.MustCompile(`(?i)\b(until|unless|once|before|if|whether|when|after)\b`)
)

// claims reports whether a text says what a pattern matches, and doesn't deny or
// postpone it in the same sentence, as "nothing has been refunded yet" does.
func claims(text string, p Pattern) bool {
	for _, words := range sentence.FindAllString(text, -1) {
		for _, at := range p.FindAllStringIndex(words, -1) {
			if before := words[:at[0]]; !denial.MatchString(before) && !postponed.MatchString(before) {
				return true
			}
		}
	}
	return false
}

// plain is text as patterns are written: with straight quotes.
func plain(text string) string {
	return strings.NewReplacer("’", "'", "‘", "'", "\u00a0", " ", "**", "").Replace(text)
}

// bare is text without what a fact can be hidden behind: case, blanks, dashes.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\u00a0-–*_.", r) {
			return -1
		}
		return r
	}, strings.ToLower(text))
}

func quote(text string) string {
	const most = 120
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return fmt.Sprintf("%q", string(runes))
}

// list is things in a row.
func list[T any](things []T) string {
	if len(things) == 0 {
		return "none"
	}
	texts := make([]string, len(things))
	for i, thing := range things {
		texts[i] = fmt.Sprint(thing)
	}
	return strings.Join(texts, ", ")
}
