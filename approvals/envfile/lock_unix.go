//go:build unix

package envfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lock waits until no other writer of the file at path holds its lock. The kernel
// frees that when its holder ends, so the lock's file stays.
func lock(path string, wait time.Duration) (leave func(), err error) {
	file, err := openLock(path)
	if err != nil {
		return nil, failed(err)
	}
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
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

// openLock opens the lock of the file at path, whose owner can open it too.
func openLock(path string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_RDWR | syscall.O_NOFOLLOW
	file, err := os.OpenFile(path+".lock", flags|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.OpenFile(path+".lock", flags, 0o600)
	}
	if err == nil {
		giveToOwner(file, path)
	}
	return file, err
}

// giveToOwner gives a file that this process has made to the owner of the one at
// path, if there is one. Where that isn't allowed the file stays this process's.
func giveToOwner(made *os.File, path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if made.Chown(int(owner.Uid), int(owner.Gid)) != nil {
			_ = made.Chown(-1, int(owner.Gid)) // a user may give a file to a group of theirs
		}
	}
}
