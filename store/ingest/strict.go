package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep a line may be nested; the format needs three levels.
const maxDepth = 8

var (
	errEncoding  = errors.New("is not valid UTF-8")
	errSyntax    = errors.New("is not a JSON object on one line")
	errSurrogate = errors.New("holds half of a surrogate pair")
	errNUL       = errors.New("holds a NUL character")
	errDepth     = errors.New("is nested too deep")
)

// decode reads one JSON object into maps, slices, strings and json.Numbers and
// refuses what encoding/json would silently repair: duplicate keys, invalid
// UTF-8, lone surrogates, NUL.
func decode(text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, errEncoding
	}
	if text[0] != '{' || !json.Valid(text) {
		return nil, errSyntax
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	s := strict{decoder: decoder}
	value, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if s.replaced > 0 && s.replaced > replacements(text) {
		return nil, errSurrogate
	}
	return value.(map[string]any), nil
}

type strict struct {
	decoder  *json.Decoder
	replaced int // how many U+FFFD the texts hold
}

func (s *strict) value(depth int) (any, error) {
	token, err := s.decoder.Token()
	if err != nil {
		return nil, errSyntax
	}
	switch t := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return nil, errDepth
		}
		if t == '{' {
			return s.object(depth)
		}
		return s.array(depth)
	case string:
		s.replaced += strings.Count(t, "\ufffd")
		if strings.ContainsRune(t, 0) {
			return nil, errNUL
		}
	}
	return token, nil
}

func (s *strict) object(depth int) (any, error) {
	object := map[string]any{}
	for s.decoder.More() {
		key, err := s.value(depth)
		if err != nil {
			return nil, err
		}
		name := key.(string) // the syntax has been checked
		if _, taken := object[name]; taken {
			return nil, fmt.Errorf("has %s twice", fieldName(name))
		}
		if object[name], err = s.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return object, s.end()
}

func (s *strict) array(depth int) (any, error) {
	array := []any{}
	for s.decoder.More() {
		element, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, element)
	}
	return array, s.end()
}

func (s *strict) end() error {
	if _, err := s.decoder.Token(); err != nil && err != io.EOF {
		return errSyntax
	}
	return nil
}

var escapedReplacement = regexp.MustCompile(`(?i)\\ufffd`)

// replacements counts the U+FFFD that a JSON text itself holds; what decoding it
// gives beyond these stood for broken escapes.
func replacements(text []byte) int {
	return bytes.Count(text, []byte("\ufffd")) + len(escapedReplacement.FindAllIndex(text, -1))
}

var (
	plainID   = regexp.MustCompile(`^[#A-Za-z0-9_.-]{1,64}$`)
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`)
)

// fieldName names a key in a message, unless it could be anything else than a name.
func fieldName(key string) string {
	if plainName.MatchString(key) {
		return "the field " + key
	}
	return "a field"
}

// quoteID shows an id in a message behind what it is the id of, unless it could
// be personal.
func quoteID(what, id string) string {
	if plainID.MatchString(id) {
		return what + " " + id
	}
	return "this " + what
}
