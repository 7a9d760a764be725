//go:build !unix

package envfile

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// staleAfter is the age of a lock file whose holder was killed.
const staleAfter = time.Minute

// lock waits until no other writer of the file at path has made its lock file.
func lock(path string, wait time.Duration) (leave func(), err error) {
	path += ".lock"
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return func() { file.Close(); os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, failed(err)
		}
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(path)
		}
		if time.Now().After(end) {
			return nil, ErrBusy
		}
	}
}

// giveToOwner does nothing: a file's owner here is no user's number.
func giveToOwner(*os.File, string) {}
