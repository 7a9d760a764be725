package setup

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals are those that ask a program to end. A terminal that is gone is one,
// unless nohup had that ignored.
func Signals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
