//go:build linux || darwin || freebsd

package main

import (
	"os"
	"syscall"
)

// freeSpace returns how many bytes this user can still write in a folder.
func freeSpace(folder string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}
