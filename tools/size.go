package tools

import (
	"encoding/json"
	"unicode/utf8"
)

// mostAnswer is how many bytes of JSON an answer may have: clients cut longer
// ones, or keep them from the model.
const mostAnswer = 9_900

// shortener is an answer whose lists or texts may be too long.
type shortener interface {
	// shorter returns the answer with less in it, and false where no less is left.
	shorter() (shortener, bool)
}

// marshalShort is marshal that makes an answer shorter until it fits.
func marshalShort(answer any) (json.RawMessage, error) {
	text, err := marshal(answer)
	for err == nil && len(text) > mostAnswer {
		long, ok := answer.(shortener)
		if !ok {
			break
		}
		if answer, ok = long.shorter(); !ok {
			break
		}
		text, err = marshal(answer)
	}
	return text, err
}

// short returns text as a reader may see it ([Visible]), at most n bytes of it,
// with "…" for what is left out.
func short(text string, n int) string {
	const mark = "…"
	text = Visible(text)
	if len(text) <= n {
		return text
	}
	text, _ = cutBytes(text, n-len(mark))
	return text + mark
}

// cut shortens text to at most n characters and reports whether it did.
func cut(text string, n int) (string, bool) {
	runes := 0
	for i := range text {
		if runes == n {
			return text[:i], true
		}
		runes++
	}
	return text, false
}

// cutBytes shortens text to at most n bytes, between characters.
func cutBytes(text string, n int) (string, bool) {
	if len(text) <= n {
		return text, false
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], true
}
