package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keySize is the installation's key in bytes: it keys HMAC-SHA-256.
const keySize = 32

// keyVariable holds the key in hex where no key file is wanted.
const keyVariable = "COUNTERSIGN_KEY"

// KeyPath returns where the key of the database at path is kept.
func KeyPath(path string) string { return path + ".key" }

// Files returns what the database at path consists of while it is open.
func Files(path string) []string {
	return []string{path, path + "-wal", path + "-shm", KeyPath(path), path + ".lock"}
}

// loadKey reads the key from the variable, else from the database's key file.
func loadKey(path string) ([]byte, error) {
	if text := os.Getenv(keyVariable); text != "" {
		return decodeKey(text, keyVariable)
	}
	text, err := os.ReadFile(KeyPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("its key file %s is missing; put it back or set %s: %w", KeyPath(path), keyVariable, ErrKey)
	}
	if err != nil {
		return nil, fmt.Errorf("its key file %s can't be read: %w", KeyPath(path), ErrKey)
	}
	return decodeKey(string(text), KeyPath(path))
}

func decodeKey(text, from string) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%s doesn't hold %d bytes in hex: %w", from, keySize, ErrKey)
	}
	return key, nil
}

// makeKey makes the key file of a database that is about to be created, or
// takes the one that stands: a second process may have made it just now.
func makeKey(path string) ([]byte, error) {
	if os.Getenv(keyVariable) != "" {
		return loadKey(path)
	}
	key := make([]byte, keySize)
	rand.Read(key)
	draft, err := os.CreateTemp(filepath.Dir(path), ".countersign-*.key") // mode 0600
	if err != nil {
		return nil, fileError(err)
	}
	defer os.Remove(draft.Name())
	_, err = fmt.Fprintln(draft, hex.EncodeToString(key))
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(draft.Name(), KeyPath(path)); errors.Is(err, fs.ErrExist) {
		return loadKey(path)
	} else if err != nil {
		return nil, fileError(err)
	}
	return key, nil
}
