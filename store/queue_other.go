//go:build !unix

package store

import (
	"errors"
	"os"
)

func tryLock(*os.File) error  { return errors.ErrUnsupported }
func waitLock(*os.File) error { return errors.ErrUnsupported }
func unlock(*os.File) error   { return errors.ErrUnsupported }
