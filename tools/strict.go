package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"countersign/policy"
)

// Bounds on what arguments may be before a schema looks at them.
const (
	maxDepth  = 16
	maxNumber = 32 // characters of a number: a validator takes long over 1e1000000
)

// errDuplicate and its like are what encoding/json would silently repair.
var (
	errEncoding  = errors.New("is not valid UTF-8")
	errSurrogate = errors.New("holds half of a surrogate pair")
	errNUL       = errors.New("holds a NUL character")
	errDepth     = fmt.Errorf("is nested deeper than %d levels", maxDepth)
	errNumber    = fmt.Errorf("is a number of more than %d characters", maxNumber)
	errSyntax    = errors.New("is not valid JSON")
)

// strictJSON decodes one JSON value into maps, slices, strings and json.Numbers
// and refuses what encoding/json lets pass: duplicate keys, invalid UTF-8, lone
// surrogates, NUL, great depth, endless numbers.
func strictJSON(text []byte) (any, *policy.Problem) {
	if !utf8.Valid(text) {
		return nil, &policy.Problem{Message: errEncoding.Error()}
	}
	if loneSurrogate(text) {
		return nil, &policy.Problem{Message: errSurrogate.Error()}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	reader := strictReader{decoder: decoder}
	value, err := reader.value()
	if err == nil {
		if _, err = decoder.Token(); err == io.EOF {
			return value, nil
		}
		err = errSyntax
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = errSyntax
	}
	return nil, &policy.Problem{Path: strings.Join(reader.path, "."), Message: err.Error()}
}

type strictReader struct {
	decoder *json.Decoder
	path    []string // where the value being read stands; kept when an error ends the reading
}

func (r *strictReader) value() (any, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if len(r.path) >= maxDepth {
			return nil, errDepth
		}
		if t == '{' {
			return r.object()
		}
		return r.array()
	case string:
		if strings.ContainsRune(t, 0) {
			return nil, errNUL
		}
	case json.Number:
		if len(t) > maxNumber {
			return nil, errNumber
		}
	}
	return token, nil
}

func (r *strictReader) object() (any, error) {
	object := map[string]any{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errSyntax
		}
		if _, taken := object[key]; taken {
			return nil, fmt.Errorf("has the key %s twice", quoteKey(key))
		}
		r.path = append(r.path, shortKey(key))
		if object[key], err = r.value(); err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
	}
	_, err := r.decoder.Token()
	return object, err
}

func (r *strictReader) array() (any, error) {
	array := []any{}
	for r.decoder.More() {
		r.path = append(r.path, fmt.Sprint(len(array)))
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		array = append(array, value)
		r.path = r.path[:len(r.path)-1]
	}
	_, err := r.decoder.Token()
	return array, err
}

// loneSurrogate finds an escaped surrogate that isn't one half of a pair;
// encoding/json would turn it into U+FFFD.
func loneSurrogate(text []byte) bool {
	high := false
	for i := 0; i < len(text); i++ {
		unit := -1
		if text[i] == '\\' {
			unit = escapedUnit(text[i:])
		}
		isHigh, isLow := unit>>10 == 0xd800>>10, unit>>10 == 0xdc00>>10
		if high != isLow {
			return true
		}
		high = isHigh
		switch {
		case unit >= 0:
			i += len(`\ud800`) - 1
		case text[i] == '\\':
			i++ // the escaped character is not a backslash that starts the next escape
		}
	}
	return high
}

// escapedUnit returns the UTF-16 unit of a text that starts with \uXXXX, else -1.
func escapedUnit(text []byte) int {
	if len(text) < 6 || text[1] != 'u' {
		return -1
	}
	var unit int
	if _, err := fmt.Sscanf(string(text[2:6]), "%04x", &unit); err != nil {
		return -1
	}
	return unit
}
