package store

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrKeyGiven means that the key isn't in a file that could be replaced.
var ErrKeyGiven = errors.New("the key is in " + keyVariable + ", and this program can't change that; leave it unset and keep the key in its file to rotate it")

// draftKeyPath is where a new key waits until the database names it.
func draftKeyPath(path, name string) string { return KeyPath(path) + "." + name }

// RotateKey makes a new key that holds once the transaction is committed. What is
// sealed has to be sealed anew in the same transaction, and [Tx.PlaceKey] has to
// follow in one of its own: until then, and after a kill, the new key stands
// beside the old one, and the database names the one that fits.
func (tx *Tx) RotateKey(fresh []byte) error {
	if os.Getenv(keyVariable) != "" {
		return ErrKeyGiven
	}
	if err := tx.PlaceKey(); err != nil {
		return err
	}
	name := KeyName(fresh)
	if err := writeSynced(draftKeyPath(tx.keys.path, name), hex.EncodeToString(fresh)+"\n"); err != nil {
		return err
	}
	return tx.SetSetting(SettingKey, name)
}

// PlaceKey puts the key that the database names into the key's file, and removes
// those that no rotation has made the key.
func (tx *Tx) PlaceKey() error {
	path := tx.keys.path
	name, err := tx.Setting(SettingKey)
	if err != nil {
		return err
	}
	if name != "" {
		err := os.Rename(draftKeyPath(path, name), KeyPath(path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fileError(err)
		}
	}
	left, err := filepath.Glob(globQuote(KeyPath(path)) + ".????????????????")
	if err != nil {
		return err
	}
	for _, file := range left {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fileError(err)
		}
	}
	return syncFolder(filepath.Dir(path))
}

// globQuote makes a path stand for itself in a pattern.
func globQuote(path string) string {
	var quoted []rune
	for _, r := range path {
		switch r {
		case '*', '?', '[', '\\':
			if os.PathSeparator != '\\' {
				quoted = append(quoted, '\\')
			}
		}
		quoted = append(quoted, r)
	}
	return string(quoted)
}

// writeSynced writes a new file for its owner alone, and waits until it is kept.
func writeSynced(path, text string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fileError(err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fileError(errors.Join(err, os.Remove(path)))
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes names in a folder last, where the system can.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fileError(err)
	}
	_ = folder.Sync()
	return folder.Close()
}

// Sealed returns what is sealed, by the id it belongs to.
func (v *View) Sealed() (map[string]string, error) {
	requests, err := v.approvals("a.tool = ? and a.result <> ''", RequestTool)
	sealed := map[string]string{}
	for _, a := range requests {
		sealed[a.ID] = string(a.Result)
	}
	return sealed, err
}

// Reseal replaces what is sealed for an id.
func (tx *Tx) Reseal(id, sealed string) error {
	if err := tx.SetApprovalResult(id, json.RawMessage(sealed)); err != nil {
		return fmt.Errorf("sealing %s anew: %w", id, err)
	}
	return nil
}
