package policy

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	_ "time/tzdata" // so that zones are known on systems without a time zone database
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

//go:embed default.yaml
var defaultYAML []byte

var defaultRules = sync.OnceValue(func() Rules {
	r, err := merge(Rules{}, defaultYAML)
	if err != nil {
		panic(fmt.Sprintf("policy: default.yaml: %v", err))
	}
	return r
})

// Default returns the built-in rules. The result is the caller's own.
func Default() Rules {
	return defaultRules().clone()
}

// Parse reads a policy file and merges it over the built-in rules, limits currency by currency. It is strict: an unknown
// or repeated key, a wrong type, a bad value, an alias or a second document is an error, a *FileError that lists every
// problem with its line. A file without content gives the built-in rules.
func Parse(text []byte) (Rules, error) {
	return merge(Default(), text)
}

// FileError lists what is wrong in a policy file, by line.
type FileError struct {
	Problems []LineProblem
}

// LineProblem is one problem in a file. Lines count from 1; 0 means that the line is not known.
type LineProblem struct {
	Line    int
	Message string
}

// Error returns all problems on one line of text.
func (e *FileError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.Message
		if p.Line > 0 {
			texts[i] = fmt.Sprintf("line %d: %s", p.Line, p.Message)
		}
	}
	return strings.Join(texts, "; ")
}

func merge(r Rules, text []byte) (Rules, error) {
	root, err := document(text)
	if err != nil {
		return Rules{}, err
	}
	if root == nil {
		return r, nil
	}
	var d decoder
	d.rules(root, &r)
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b LineProblem) int { return a.Line - b.Line })
		return Rules{}, &FileError{Problems: d.problems}
	}
	return r, nil
}

// document returns the root of the only YAML document in text, or nil if there is nothing but comments.
func document(text []byte) (*yaml.Node, error) {
	if err := plainText(text); err != nil {
		return nil, err
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, syntaxError(err)
	}
	switch err := loader.Load(&second); {
	case err == nil:
		return nil, problemAt(second.Line, "a second document begins here; a policy is one document")
	case err != io.EOF:
		return nil, syntaxError(err)
	}
	return doc.Content[0], nil
}

// plainText refuses bytes that YAML forbids, for which its reader gives no line.
func plainText(text []byte) error {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			return problemAt(line, "not UTF-8 text")
		case r == '\n':
			line++
		case unicode.IsControl(r) && !strings.ContainsRune("\t\r\u0085", r):
			return problemAt(line, "control characters are not allowed")
		}
		text = text[size:]
	}
	return nil
}

func syntaxError(err error) error {
	var load *yaml.LoadError
	if errors.As(err, &load) {
		return problemAt(load.Mark.Line, "not valid YAML: "+load.Message)
	}
	return problemAt(0, "not valid YAML: "+err.Error())
}

func problemAt(line int, message string) error {
	return &FileError{Problems: []LineProblem{{Line: line, Message: message}}}
}
