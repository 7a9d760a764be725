package store

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
)

// KeyName returns a name by which a key is told from others and which says
// nothing about it.
func KeyName(key []byte) string {
	name, err := hkdf.Key(sha256.New, key, nil, "countersign key name", 8)
	if err != nil {
		panic(err) // eight bytes can always be derived
	}
	return hex.EncodeToString(name)
}

// keyring knows the installation's key. A rotation by another process is noticed
// by the key's name in the database, which changes with what is sealed under it.
type keyring struct {
	path string // of the database

	mu  sync.Mutex
	key []byte
}

func newKeyring(path string, key []byte) *keyring { return &keyring{path: path, key: key} }

func (k *keyring) known() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.key
}

// named returns the key of a name; the one that is known where none is named. It
// looks for it in the key's file and in the one that a rotation leaves there if it
// is killed between the database and the file.
func (k *keyring) named(name string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if name == "" || name == KeyName(k.key) {
		return k.key, nil
	}
	key, err := loadKey(k.path)
	if os.Getenv(keyVariable) == "" && (err != nil || KeyName(key) != name) {
		var text []byte
		if text, err = os.ReadFile(draftKeyPath(k.path, name)); err == nil {
			key, err = decodeKey(string(text), draftKeyPath(k.path, name))
		}
	}
	if err != nil || KeyName(key) != name {
		return nil, fmt.Errorf("it was made or last rotated with another key than the one in %s; put that other key back: %w", k.source(), ErrKey)
	}
	k.key = key
	return key, nil
}

// source is where the key comes from, for people.
func (k *keyring) source() string {
	if os.Getenv(keyVariable) != "" {
		return keyVariable
	}
	return KeyPath(k.path)
}

// Key returns the installation's key at the moment of v. The error is [ErrKey]
// where this process can't find it.
func (v *View) Key() ([]byte, error) {
	name, err := v.Setting(SettingKey)
	if err != nil {
		return nil, err
	}
	return v.keys.named(name)
}

func (db *DB) currentKey(ctx context.Context) (key []byte, err error) {
	err = db.View(ctx, func(v *View) error {
		key, err = v.Key()
		return err
	})
	return key, err
}

// checkKey looks for the key that the database names, and puts it into its place
// where a rotation was killed before it did.
func (db *DB) checkKey() error {
	key, err := db.currentKey(context.Background())
	if err != nil || os.Getenv(keyVariable) != "" {
		return err
	}
	if inFile, err := loadKey(db.path); err == nil && bytes.Equal(inFile, key) {
		return nil
	}
	err = db.Tx(context.Background(), func(tx *Tx) error { return tx.PlaceKey() })
	if errors.Is(err, ErrReadOnly) || errors.Is(err, ErrLocked) {
		return nil // the next one will; the key is found where it is
	}
	return err
}
