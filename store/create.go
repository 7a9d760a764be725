package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Create makes a new database at path: it is built beside it under another
// name, filled by seed (which may be nil) in the same transaction as its
// tables, and linked into place, so that a kill leaves nothing and of two
// processes one wins. The file's mode is 0600, a new folder's 0700. It returns
// [ErrExists] where a file stands already, [ErrLeftover] where a log does.
func Create(path string, opts Options, seed func(*Tx) error) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := create(abs, opts, seed); err != nil {
		return about(abs, err)
	}
	return nil
}

func create(path string, opts Options, seed func(*Tx) error) error {
	if err := vacant(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fileError(err)
	}
	key, err := makeKey(path)
	if err != nil {
		return err
	}
	draft, err := buildDraft(path, key, opts, seed)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	if err := os.Link(draft, path); errors.Is(err, fs.ErrExist) {
		return ErrExists
	} else if err != nil {
		return fileError(err)
	}
	return nil
}

// vacant returns an error where a new database can't be put: a file stands there,
// or a log of one that was there. Of two processes that create the same one, the
// slower must not take the other's log for that: so the file is looked for last.
func vacant(path string) error {
	var left error
	for _, log := range []string{path + "-wal", path + "-journal"} {
		if info, err := os.Lstat(log); err == nil && info.Size() > 0 {
			left = fmt.Errorf("move %s away: %w", log, ErrLeftover)
		}
	}
	if _, err := os.Lstat(path); err == nil {
		return ErrExists
	}
	return left
}

// buildDraft returns the name of a complete database file beside path.
func buildDraft(path string, key []byte, opts Options, seed func(*Tx) error) (_ string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".countersign-*.draft") // mode 0600
	if err != nil {
		return "", fileError(err)
	}
	file.Close()
	draft := file.Name()
	defer func() {
		if err != nil {
			os.Remove(draft)
			os.Remove(draft + "-wal")
			os.Remove(draft + "-shm")
		}
	}()
	db, err := connect(draft, key, opts)
	if err != nil {
		return "", err
	}
	err = db.Tx(context.Background(), func(tx *Tx) error {
		if err := tx.applyMigrations(0); err != nil {
			return err
		}
		if err := tx.SetSetting(SettingKey, KeyName(key)); err != nil || seed == nil {
			return err
		}
		return seed(tx)
	})
	return draft, errors.Join(err, db.Close())
}

// inspect looks at the file before SQLite does, whose own errors for these
// cases name neither the file nor the reason, and which would leave files of its
// own beside somebody else's.
func inspect(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fileError(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a file: %w", ErrForeign)
	}
	if info.Size() == 0 {
		return fmt.Errorf("the file is empty: %w", ErrForeign)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fileError(err)
	}
	return errors.Join(inspectHeader(file), file.Close())
}

// inspectHeader looks for SQLite's mark and ours, by its file format.
func inspectHeader(file io.Reader) error {
	const mark, versionAt, idAt = "SQLite format 3\x00", 60, 68
	header := make([]byte, 100)
	if _, err := io.ReadFull(file, header); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fileError(err)
	}
	switch {
	case !bytes.HasPrefix(header, []byte(mark)), binary.BigEndian.Uint32(header[idAt:]) != applicationID:
		return ErrForeign
	case binary.BigEndian.Uint32(header[versionAt:]) > uint32(len(migrations())):
		return ErrNewer
	}
	return nil
}

// fileError says what the system's error on the database's file means.
func fileError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrMissing
	case errors.Is(err, fs.ErrPermission):
		return ErrReadOnly
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		if readOnlyFilesystem(pathErr.Err) {
			return ErrReadOnly
		}
		return pathErr.Err // without the path, which the caller names
	}
	return err
}
