//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// asNobody makes a command run as a user that isn't root.
func asNobody(cmd *exec.Cmd) {
	const nobody = 65534
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
