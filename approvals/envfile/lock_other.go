//go:build !unix

package envfile

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

const (
	// lockFor is how long a writer waits for another one.
	lockFor = 2 * time.Second
	// staleAfter is the age of a lock file whose holder was killed.
	staleAfter = time.Minute
)

// lock waits until no other writer has made the lock file at path.
func lock(path string) (leave func(), err error) {
	for end := time.Now().Add(lockFor); ; time.Sleep(10 * time.Millisecond) {
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
