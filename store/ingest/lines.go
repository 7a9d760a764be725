package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds a line, in bytes without its end.
const maxLine = 1 << 20

var errLong = errors.New("is longer than 1 MiB")

// lines reads a text line by line, whatever their ends.
type lines struct {
	in     *bufio.Reader
	number int // of the last line read, from 1
	line   []byte
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without blanks at its ends and without a byte order
// mark. The text holds until the next call. After errLong it goes on with the
// line that follows; any other error is the last.
func (l *lines) next() ([]byte, error) {
	l.line = l.line[:0]
	l.number++
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(l.line)+len(part) > maxLine+len("\r\n"); !long {
			l.line = append(l.line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (len(l.line) > 0 || long): // the last line has no end
		case err != nil:
			return nil, err
		}
		text := bytes.TrimRight(l.line, "\r\n")
		if l.number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if long || len(text) > maxLine {
			return nil, errLong
		}
		return bytes.Trim(text, " \t\r"), nil
	}
}
