package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Change is what would be done to a file. Nothing is done before [Change.Write].
type Change struct {
	Path string // the file itself, where the name given is a link to it
	Adds string // what is put in, for people to read; "" if nothing has to be

	before, after []byte
	mode          fs.FileMode
	exists        bool
	secret        bool // it holds a token
}

// ErrMoved is returned where a file changed while it was being edited.
var ErrMoved = errors.New("it changed just now (is its client running?); try again")

// planSecret is plan for a file that gets a token.
func planSecret(name string, edit func([]byte) ([]byte, string, error)) (Change, error) {
	c, err := plan(name, edit)
	c.secret = true
	return c, err
}

// plan reads a file, which may be missing, and has its text edited.
func plan(name string, edit func([]byte) (after []byte, adds string, err error)) (Change, error) {
	path, err := target(name)
	if err != nil {
		return Change{}, err
	}
	c := Change{Path: path, mode: 0o600}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Change{}, err
	case !info.Mode().IsRegular():
		return Change{}, fmt.Errorf("%s isn't a file", path)
	default:
		c.mode, c.exists = info.Mode().Perm(), true
		if c.before, err = os.ReadFile(path); err != nil {
			return Change{}, err
		}
	}
	if c.after, c.Adds, err = edit(c.before); err != nil {
		return Change{}, fmt.Errorf("%s: %w", path, err)
	}
	if bytes.Equal(c.before, c.after) {
		c.Adds = ""
	}
	return c, nil
}

// target follows a file's name through symbolic links, also to a file that
// doesn't exist yet.
func target(name string) (string, error) {
	const most = 40
	path := name
	for range most {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil // a missing file is made, any other trouble shows when it is read
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("%s: too many symbolic links", name)
}

// Exposed reports whether others than the file's owner may read the token in it.
func (c Change) Exposed() bool {
	return c.secret && c.mode&0o077 != 0 && runtime.GOOS != "windows"
}

// Write does the change, whole or not at all. It returns the name of the copy
// that was made of the old file, "" where there was none.
func (c Change) Write(now time.Time) (backup string, err error) {
	if c.Adds == "" {
		return "", nil
	}
	folder := filepath.Dir(c.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	draft, err := os.CreateTemp(folder, "."+filepath.Base(c.Path)+".*")
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(c.after)
	if err = errors.Join(err, draft.Chmod(c.mode), draft.Sync(), draft.Close()); err != nil {
		return "", err
	}
	if c.exists {
		if backup, err = c.keep(now); err != nil {
			return "", err
		}
	}
	current, err := os.ReadFile(c.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return backup, err
	}
	if (err == nil) != c.exists || !bytes.Equal(current, c.before) {
		return backup, fmt.Errorf("%s: %w", c.Path, ErrMoved)
	}
	return backup, os.Rename(draft.Name(), c.Path)
}

// keep copies the old content to a new file beside it, never over another.
func (c Change) keep(now time.Time) (string, error) {
	first := c.Path + ".bak-" + now.UTC().Format("20060102T150405Z")
	for name, n := first, 2; ; name, n = fmt.Sprintf("%s-%d", first, n), n+1 {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, c.mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(c.before)
		return name, errors.Join(err, file.Sync(), file.Close())
	}
}
