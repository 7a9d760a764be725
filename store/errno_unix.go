//go:build unix

package store

import (
	"errors"
	"syscall"
)

func readOnlyFilesystem(err error) bool { return errors.Is(err, syscall.EROFS) }
