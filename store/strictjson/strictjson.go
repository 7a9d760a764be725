// Package strictjson decodes JSON and refuses what encoding/json would silently
// repair: duplicate keys, invalid UTF-8, lone surrogates, NUL characters.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// What can be wrong with a text, beside its not fitting any schema.
var (
	ErrSyntax    = errors.New("is not valid JSON")
	ErrEncoding  = errors.New("is not valid UTF-8")
	ErrSurrogate = errors.New("holds half of a surrogate pair")
	ErrNUL       = errors.New("holds a NUL character")
	ErrDepth     = errors.New("is nested too deep")
	ErrDuplicate = errors.New("is given twice")
)

// Error is one of this package's errors and where it was found: the keys and
// indexes that lead there, none for the text as a whole. Its own text names no
// key, which may be anything.
type Error struct {
	Path []string
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// plainKey is a name or an index: what a key may be to be repeated in a message.
var plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]{0,39}|[0-9]{1,6})$`) })

// SafeKey returns a key, or "?" for one that could be anything else than a name
// or an index: it may be personal.
func SafeKey(key string) string {
	if plainKey().MatchString(key) {
		return key
	}
	return "?"
}

// SafePath joins the keys that lead to a value, each made safe.
func SafePath(path []string) string {
	safe := make([]string, len(path))
	for i, key := range path {
		safe[i] = SafeKey(key)
	}
	return strings.Join(safe, ".")
}

// Decode decodes one JSON value, of at most depth levels of objects and arrays,
// into maps, slices, strings, bools, nil and json.Numbers. The error is an
// [*Error].
func Decode(text []byte, depth int) (any, error) {
	if !utf8.Valid(text) {
		return nil, &Error{Err: ErrEncoding}
	}
	if !json.Valid(text) {
		return nil, &Error{Err: ErrSyntax}
	}
	w := walker{text: text, depth: depth}
	value, err := w.value()
	if err != nil {
		return nil, &Error{Path: w.path, Err: err}
	}
	if w.replaced > 0 && w.replaced > replacements(text) {
		return nil, &Error{Err: ErrSurrogate}
	}
	return value, nil
}

// walker walks a text that is valid JSON.
type walker struct {
	text     []byte
	depth    int
	at       int      // the next byte
	path     []string // of the value being read; kept when an error ends the walk
	replaced int      // how many U+FFFD the strings hold
}

// next skips blanks and separators and returns the byte that follows.
func (w *walker) next() byte {
	for strings.IndexByte(" \t\r\n,:", w.text[w.at]) >= 0 {
		w.at++
	}
	return w.text[w.at]
}

func (w *walker) value() (any, error) {
	switch c := w.next(); {
	case c == '"':
		return w.string()
	case c != '{' && c != '[':
		return w.literal(), nil
	case len(w.path) >= w.depth:
		return nil, ErrDepth
	case c == '{':
		return w.object()
	}
	return w.array()
}

func (w *walker) object() (any, error) {
	object := make(map[string]any)
	for w.at++; w.next() != '}'; {
		key, err := w.string()
		w.path = append(w.path, key)
		if err != nil {
			return nil, err
		}
		if _, taken := object[key]; taken {
			return nil, ErrDuplicate
		}
		if object[key], err = w.value(); err != nil {
			return nil, err
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.at++
	return object, nil
}

func (w *walker) array() (any, error) {
	array := []any{}
	for w.at++; w.next() != ']'; {
		w.path = append(w.path, strconv.Itoa(len(array)))
		element, err := w.value()
		if err != nil {
			return nil, err
		}
		array = append(array, element)
		w.path = w.path[:len(w.path)-1]
	}
	w.at++
	return array, nil
}

func (w *walker) string() (text string, err error) {
	start, escaped := w.at, false
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			escaped = true
			w.at++
		}
	}
	w.at++
	if !escaped {
		text = string(w.text[start+1 : w.at-1])
	} else if err := json.Unmarshal(w.text[start:w.at], &text); err != nil {
		return "", fmt.Errorf("%w: %v", ErrSyntax, err)
	}
	w.replaced += strings.Count(text, "\ufffd")
	if strings.ContainsRune(text, 0) {
		return "", ErrNUL
	}
	return text, nil
}

// literal reads a number, true, false or null.
func (w *walker) literal() any {
	start := w.at
	if end := bytes.IndexAny(w.text[w.at:], " \t\r\n,]}"); end >= 0 {
		w.at += end
	} else {
		w.at = len(w.text)
	}
	switch text := string(w.text[start:w.at]); text {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	default:
		return json.Number(text)
	}
}

var escapedReplacement = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\\ufffd`) })

// replacements counts the U+FFFD that a JSON text itself holds; what decoding it
// gives beyond these stood for broken escapes.
func replacements(text []byte) int {
	return bytes.Count(text, []byte("\ufffd")) + len(escapedReplacement().FindAllIndex(text, -1))
}
