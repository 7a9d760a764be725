//go:build unix

package server

import (
	"io"
	"os"
	"syscall"
)

// openStdin returns stdin, through the runtime's poller where it is a pipe or a
// socket: a blocked read then costs no thread and fewer context switches.
func openStdin() io.Reader {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return os.Stdin
	}
	fd := int(os.Stdin.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		return os.Stdin
	}
	return os.NewFile(uintptr(fd), "stdin")
}
