// Command countersign is the operators' program: it decides what waits for a
// human, reads the audit log, and sets a shop up. It parses, calls the
// packages, and prints.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"countersign/cmd/internal/setup"
)

// version is set by the build.
var version = "dev"

func main() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a reader that is gone is a failed write, and told as one
	ctx, stop := signal.NotifyContext(context.Background(), setup.Signals()...)
	code := newApp(os.Stdin, os.Stdout, os.Stderr, os.Environ()).run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
