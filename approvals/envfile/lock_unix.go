//go:build unix

package envfile

import (
	"os"
	"syscall"
	"time"
)

// lockFor is how long a writer waits for another one.
const lockFor = 2 * time.Second

// lock waits until no other writer holds the lock file at path. The kernel frees
// it when its holder ends, so the file stays.
func lock(path string) (leave func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, failed(err)
	}
	for end := time.Now().Add(lockFor); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { file.Close() }, nil
		case err != syscall.EWOULDBLOCK && err != syscall.EINTR:
			file.Close()
			return nil, failed(err)
		case time.Now().After(end):
			file.Close()
			return nil, ErrBusy
		}
	}
}
