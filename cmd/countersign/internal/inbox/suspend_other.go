//go:build !linux && !darwin && !freebsd

package inbox

func canSuspend() bool { return false }
