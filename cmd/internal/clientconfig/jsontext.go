package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

var (
	// ErrSyntax says that a file isn't what its client reads, so that it is left alone.
	ErrSyntax = errors.New("it is left as it is")

	errNotJSON = fmt.Errorf("this isn't valid JSON (comments and trailing commas aren't either); %w", ErrSyntax)
)

// A document is the text of a JSON file. Its methods change the text at one
// place and leave all other bytes as they are.
type document struct {
	text    []byte
	newline string
	unit    string // what one level is indented by; "": everything is on one line
}

// parseDocument takes the text of a file; one without content is an empty object.
func parseDocument(text []byte) (*document, error) {
	d := &document{text: text, newline: "\n", unit: "  "}
	if len(bytes.TrimSpace(text)) == 0 {
		d.text = []byte("{}\n")
		return d, nil
	}
	if !json.Valid(text) {
		return nil, errNotJSON
	}
	if bytes.Contains(text, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	root := d.skip(0, " \t\r\n")
	if text[root] != '{' {
		return nil, fmt.Errorf("this isn't a JSON object; %w", ErrSyntax)
	}
	if items, _ := d.items(root); len(items) > 0 {
		indent, first := d.indentOf(items[0].start)
		switch {
		case first && indent != "":
			d.unit = indent
		case !bytes.Contains(bytes.TrimSpace(text), []byte("\n")):
			d.unit = ""
		}
	}
	return d, nil
}

// item is a member of an object or an element of an array: where it starts,
// where its value does, and where both end.
type item struct {
	name              string
	start, value, end int
}

// items lists what the object or array at an offset holds, and where its closing
// bracket is. The text is known to be valid.
func (d *document) items(at int) (items []item, closing int) {
	decoder := json.NewDecoder(bytes.NewReader(d.text[at:]))
	_, _ = decoder.Token()
	for offset := at + 1; decoder.More(); {
		next := item{start: d.skip(offset, " \t\r\n,")}
		next.value = next.start
		if d.text[at] == '{' {
			key, _ := decoder.Token()
			next.name, _ = key.(string)
			next.value = d.skip(at+int(decoder.InputOffset()), " \t\r\n:")
		}
		var value json.RawMessage
		_ = decoder.Decode(&value)
		offset = next.value + len(value)
		next.end = offset
		items = append(items, next)
	}
	_, _ = decoder.Token()
	return items, at + int(decoder.InputOffset()) - 1
}

func (d *document) skip(at int, chars string) int {
	for at < len(d.text) && strings.IndexByte(chars, d.text[at]) >= 0 {
		at++
	}
	return at
}

// find follows a path of names from the root. It returns the last value that is
// there and how many names led to it. An object that has a name on the path
// twice, and a value on the way that isn't an object, can't be edited.
func (d *document) find(path ...string) (at item, depth int, err error) {
	root := d.skip(0, " \t\r\n")
	at = item{start: root, value: root}
	for ; depth < len(path); depth++ {
		if d.text[at.value] != '{' {
			return at, depth, fmt.Errorf("%q isn't an object; %w", strings.Join(path[:depth], "."), ErrSyntax)
		}
		items, _ := d.items(at.value)
		isNext := func(i item) bool { return i.name == path[depth] }
		i := slices.IndexFunc(items, isNext)
		if i < 0 {
			break
		}
		if slices.ContainsFunc(items[i+1:], isNext) {
			return at, depth, fmt.Errorf("%q is there twice; %w", strings.Join(path[:depth+1], "."), ErrSyntax)
		}
		at = items[i]
	}
	return at, depth, nil
}

// get decodes the value at a path and reports whether there is one.
func (d *document) get(value any, path ...string) (bool, error) {
	at, depth, err := d.find(path...)
	if err != nil || depth < len(path) {
		return false, err
	}
	if err := json.Unmarshal(d.text[at.value:at.end], value); err != nil {
		return false, fmt.Errorf("%q isn't what it should be; %w", strings.Join(path, "."), ErrSyntax)
	}
	return true, nil
}

// set makes value the one at a path, with the objects that lead there.
func (d *document) set(value any, path ...string) error {
	at, depth, err := d.find(path...)
	if err != nil {
		return err
	}
	if depth == len(path) {
		if equalJSON(d.text[at.value:at.end], compact(value)) {
			return nil
		}
		indent, _ := d.indentOf(at.start)
		d.replace(at.value, at.end, d.format(value, indent))
		return nil
	}
	for i := len(path) - 1; i > depth; i-- {
		value = map[string]any{path[i]: value}
	}
	d.add(at.value, string(compact(path[depth]))+": ", value)
	return nil
}

// add puts a value at the end of the object or array at an offset.
func (d *document) add(at int, label string, value any) {
	items, closing := d.items(at)
	indent, ownLine := "", false
	if n := len(items); n > 0 {
		indent, ownLine = d.indentOf(items[n-1].start)
	} else {
		indent, _ = d.indentOf(at)
		ownLine = d.unit != ""
		indent += d.unit
	}
	item, before, after := label+string(compact(value)), "", ""
	if ownLine {
		item, before = label+d.format(value, indent), d.newline+indent
	} else if len(items) > 0 {
		before = " "
	}
	if n := len(items); n > 0 {
		d.replace(items[n-1].end, items[n-1].end, ","+before+item)
		return
	}
	if ownLine {
		after = d.newline + strings.TrimSuffix(indent, d.unit)
	}
	d.replace(at+1, closing, before+item+after)
}

// remove takes the member at a path out, where there is one.
func (d *document) remove(path ...string) error {
	at, depth, err := d.find(path...)
	if err != nil || depth < len(path) {
		return err
	}
	parent, _, _ := d.find(path[:len(path)-1]...)
	items, closing := d.items(parent.value)
	switch i := slices.Index(items, at); {
	case len(items) == 1:
		d.replace(parent.value+1, closing, "")
	case i == 0:
		d.replace(items[0].start, items[1].start, "")
	default:
		d.replace(items[i-1].end, items[i].end, "")
	}
	return nil
}

func (d *document) replace(start, end int, with string) {
	d.text = slices.Concat(d.text[:start], []byte(with), d.text[end:])
}

// indentOf returns the blanks that the line of an offset starts with, and
// whether nothing else is before the offset.
func (d *document) indentOf(at int) (indent string, first bool) {
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	end := d.skip(start, " \t")
	return string(d.text[start:min(end, at)]), start > 0 && end >= at
}

// format writes a value as the document is written, for a line with an indent.
func (d *document) format(value any, indent string) string {
	text := compact(value)
	if d.unit == "" {
		return string(text)
	}
	var b bytes.Buffer
	_ = json.Indent(&b, text, indent, d.unit) // of what was just encoded
	return strings.ReplaceAll(b.String(), "\n", d.newline)
}

// compact encodes strings, lists, maps and structs of them, which can't fail.
func compact(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func equalJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
