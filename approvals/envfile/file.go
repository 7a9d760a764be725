package envfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// What keeps a variable from being written. The file is then as it was.
var (
	ErrLink   = errors.New("it is a symbolic link")
	ErrNoFile = errors.New("it is no regular file")
	ErrBusy   = errors.New("another program is writing it")
	ErrWrite  = errors.New("it can't be written")
	ErrOwn    = errors.New("it is one of Countersign's own files")
	ErrNoText = errors.New("it isn't a .env file")
)

// A Variable is a name and its value.
type Variable struct{ Name, Value string }

// File is a .env file that need not exist yet.
type File struct {
	Path string
	// FollowLink allows Path to be a symbolic link: the file it leads to is written.
	FollowLink bool
	// Own are files that are never written, whatever Path leads to.
	Own []string
}

// Name returns what the file is called, without its folder.
func (f File) Name() string { return filepath.Base(f.Path) }

// Put sets variables in the file, all or none of them. A reader finds the old
// file or the new one, never a part; the new one is for its owner alone (0600),
// who stays the same where this process may see to that. Writers wait for each
// other, and remove the draft of one that was killed. The error is one of [ErrLink], [ErrNoFile],
// [ErrBusy], [ErrWrite], [ErrOwn], [ErrNoText], [ErrUnread] and [ErrUnquotable],
// without what the variables hold.
func (f File) Put(variables []Variable) error {
	path, err := f.target()
	if err != nil {
		return err
	}
	leave, err := lock(path, waitFor)
	if err != nil {
		return err
	}
	defer leave()
	if now, err := f.target(); err != nil { // again: it may have been changed meanwhile
		return err
	} else if now != path {
		return ErrBusy // the lock is another file's
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(err)
	}
	if !isText(old) {
		return ErrNoText
	}
	text := string(old)
	for _, v := range variables {
		if !ValidName(v.Name) {
			return fmt.Errorf("%q is no name of a variable: %w", v.Name, ErrUnquotable)
		}
		if text, err = Set(text, v.Name, v.Value); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return replace(path, text)
}

// Check says what would keep the file from being written, as far as can be
// told without writing.
func (f File) Check() error {
	path, err := f.target()
	if err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: there is no such folder", ErrWrite)
	}
	start, err := startOf(path)
	if err != nil {
		return err
	}
	if !isText(start) {
		return ErrNoText
	}
	return nil
}

// Place returns the path of the file that is written, with no link in it where
// that can be told: the same for every way to the same file.
func (f File) Place() string {
	path := f.Path
	if to, err := f.target(); err == nil {
		path = to
	}
	return real(path)
}

// target returns the path of the file that is written.
func (f File) target() (string, error) {
	path, err := f.follow()
	if err == nil && f.isOwn(path) {
		return "", ErrOwn
	}
	return path, err
}

func (f File) isOwn(path string) bool {
	info, err := os.Stat(path)
	for _, own := range f.Own {
		if real(own) == real(path) {
			return true
		}
		if other, fault := os.Stat(own); err == nil && fault == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

// real is an absolute path without links in its folder; the file need not exist.
func real(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(folder, filepath.Base(path))
	}
	return path
}

// follow goes through the link that Path may be, where that is allowed.
func (f File) follow() (string, error) {
	info, err := os.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.Path, nil
	}
	if err != nil {
		return "", failed(err)
	}
	path := f.Path
	if info.Mode()&fs.ModeSymlink != 0 {
		if !f.FollowLink {
			return "", ErrLink
		}
		if path, err = filepath.EvalSymlinks(f.Path); err != nil {
			return "", failed(err)
		}
		if info, err = os.Lstat(path); err != nil {
			return "", failed(err)
		}
	}
	if !info.Mode().IsRegular() {
		return "", ErrNoFile
	}
	return path, nil
}

// startOf reads as much of a file as tells what it is; nothing where there is none.
func startOf(path string) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(err)
	}
	defer file.Close()
	start, err := io.ReadAll(io.LimitReader(file, 64<<10))
	return start, failed(err)
}

// isText reports whether this may be a .env file: most others have a byte of zero
// somewhere, or control characters in their first line.
func isText(content []byte) bool {
	first, _, _ := bytes.Cut(content, []byte("\n"))
	return bytes.IndexByte(content, 0) < 0 && !control().Match(bytes.TrimRight(first, "\r"))
}

// failed is ErrWrite with the system's reason, without the path.
func failed(err error) error {
	if err == nil {
		return nil
	}
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		err = l.Err
	}
	return fmt.Errorf("%w: %w", ErrWrite, err)
}
