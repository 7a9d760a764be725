//go:build linux || darwin || freebsd

package inbox

import "syscall"

// canSuspend reports whether there is somebody to continue what was suspended. A
// shell gives each of its jobs a process group; where the inbox is in the group
// that leads the session, as under ssh without a shell, it would hang for ever.
func canSuspend() bool {
	session, _, failed := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
	return failed == 0 && int(session) != syscall.Getpgrp()
}
