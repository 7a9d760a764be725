package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is what one line of a client may hold, in bytes.
const maxLine = 1 << 20

var errLongLine = errors.New("line too long")

// lineReader reads lines of any length in bounded memory.
type lineReader struct{ in *bufio.Reader }

func newLineReader(in io.Reader) lineReader { return lineReader{bufio.NewReaderSize(in, 64<<10)} }

// next returns the next line that isn't blank, without the blanks and the byte
// order mark around it; it holds until the following next. A line of maxLine
// bytes or more is skipped and gives errLongLine. The last line may lack its end.
func (r lineReader) next() ([]byte, error) {
	for {
		line, err := r.read()
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(line) > 0 || err != nil {
			if len(line) > 0 && err == io.EOF {
				err = nil
			}
			return line, err
		}
	}
}

func (r lineReader) read() (line []byte, err error) {
	part, err := r.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return part, err // the usual case: a line in one piece, not copied
	}
	long := false
	for {
		if long = long || len(line)+len(part) >= maxLine; !long {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			break
		}
		part, err = r.in.ReadSlice('\n')
	}
	if long {
		return nil, errLongLine
	}
	return line, err
}
