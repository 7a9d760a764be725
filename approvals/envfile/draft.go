package envfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// waitFor is how long a writer waits for another one.
const waitFor = 2 * time.Second

// draftOf is the file that becomes the one at path once it is whole. It has one
// name, so that what a killed writer left, with every secret in it, is found.
func draftOf(path string) string { return path + ".countersign-draft" }

// Draft returns the path of the file that a writer fills before it takes the
// place of this one; "" where this one can't be written.
func (f File) Draft() string {
	path, err := f.target()
	if err != nil {
		return ""
	}
	return draftOf(path)
}

// Sweep removes the draft of a writer that was killed. It doesn't wait: if there
// is a writer, the draft is that one's.
func (f File) Sweep() error {
	path, err := f.target()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(draftOf(path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	leave, err := lock(path, 0)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer leave()
	return failed(discard(draftOf(path)))
}

// discard removes a file that need not exist, or a link without what it leads to.
func discard(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replace puts a file of this text in place of the one at path. Its caller holds
// the lock.
func replace(path, text string) error {
	draft := draftOf(path)
	if err := discard(draft); err != nil {
		return failed(err)
	}
	filled, err := fill(draft, path, text)
	if err != nil {
		return failed(errors.Join(err, discard(draft)))
	}
	if now, err := os.Lstat(draft); err != nil || !os.SameFile(now, filled) {
		return ErrBusy // with a lock of its own: somebody removed ours
	}
	if err := os.Rename(draft, path); err != nil {
		return failed(errors.Join(err, discard(draft)))
	}
	return syncFolder(filepath.Dir(path))
}

// fill makes a draft, for the owner of the file at path alone.
func fill(draft, path, text string) (fs.FileInfo, error) {
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // it follows no link
	if err != nil {
		return nil, err
	}
	giveToOwner(file, path)
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteString(text)
	}
	return info, errors.Join(err, file.Sync(), file.Close())
}

// syncFolder makes the new name of a file last: the answer is erased elsewhere
// once this has returned.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return failed(err)
	}
	_ = folder.Sync() // some systems can't sync a folder
	return failed(folder.Close())
}
