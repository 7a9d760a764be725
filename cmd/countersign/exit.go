package main

import (
	"errors"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

// Exit codes.
const (
	exitDone = iota
	exitFailure
	exitUsage
	exitNotPermitted
	exitNotFound
	exitConflict
	exitUnverified
)

// notFound is an error for a thing that doesn't exist, in words of its own.
func notFound(text string) error {
	return &settle.Error{Kind: settle.NotFound, Code: policy.NotFound, Message: text}
}

// usageError is a command line that can't be meant.
type usageError struct{ error }

// exitCode is the one place where an error becomes an exit code.
func (a *app) exitCode(err error) int {
	var usage usageError
	var refused *settle.Error
	var unwritten outputError
	switch {
	case errors.As(err, &unwritten):
		return exitFailure
	case !a.started, errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &refused):
		return map[settle.Kind]int{
			settle.NotPermitted: exitNotPermitted, settle.NotFound: exitNotFound,
			settle.Conflict: exitConflict, settle.Invalid: exitUsage, settle.Failed: exitFailure,
		}[refused.Kind]
	case errors.Is(err, audit.ErrAltered), errors.Is(err, audit.ErrTruncated):
		return exitUnverified
	case errors.Is(err, store.ErrNotFound):
		return exitNotFound
	}
	return exitFailure
}
