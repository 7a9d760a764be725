package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/charmbracelet/colorprofile"
)

// output is standard output. Commands print to it without looking; it keeps the
// first error, which run reports once.
type output struct {
	colours *colorprofile.Writer // passes colours on where the terminal takes them
	file    io.Writer
	failed  error
}

// outputError means that standard output didn't take everything. The command may
// have done what it was asked all the same.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

func newOutput(file io.Writer, environ []string) *output {
	o := &output{file: file}
	o.colours = &colorprofile.Writer{Forward: plain{o}, Profile: colorprofile.Detect(file, environ)}
	return o
}

// Write prints text for people.
func (o *output) Write(text []byte) (int, error) { return o.colours.Write(text) }

// plain writes to the same output byte for byte: for what no person reads.
type plain struct{ *output }

func (p plain) Write(data []byte) (int, error) {
	if p.failed != nil {
		return 0, p.failed
	}
	n, err := p.file.Write(data)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // its name says nothing to who redirected it
		}
		p.failed = outputError{fmt.Errorf("the command ran, but what it printed is lost; standard output: %w", err)}
	}
	return n, p.failed
}
