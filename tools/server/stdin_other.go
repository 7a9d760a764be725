//go:build !unix

package server

import (
	"io"
	"os"
)

func openStdin() io.Reader { return os.Stdin }
