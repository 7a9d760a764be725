//go:build !unix

package store

func readOnlyFilesystem(error) bool { return false }
