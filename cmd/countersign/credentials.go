package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"countersign/cmd/internal/setup"
)

func loadCredentials(env setup.Getenv) (map[string]string, error) {
	tokens := map[string]string{}
	path := setup.CredentialPath(env)
	if path == "" {
		return tokens, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return tokens, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &tokens)
	}
	if err != nil || tokens == nil { // null leaves no map
		return nil, fmt.Errorf("credentials file %s can't be read", path)
	}
	return tokens, nil
}

// loadCredential returns the operator's token for a database, "" without one.
func loadCredential(env setup.Getenv, db string) (string, error) {
	tokens, err := loadCredentials(env)
	return tokens[db], err
}

// credentialFolder makes the folder that will keep an operator's credential, and
// says what would keep it from doing so.
func credentialFolder(env setup.Getenv) error {
	path := setup.CredentialPath(env)
	if path == "" {
		return errors.New("no home folder is set to keep the operator's credential in; set HOME")
	}
	if _, err := loadCredentials(env); err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the operator's credential can't be kept: %w", err)
	}
	probe, err := os.CreateTemp(folder, ".credentials-*")
	if err != nil {
		return fmt.Errorf("the operator's credential can't be kept: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// saveCredential keeps an operator's token for a database, mode 0600.
func saveCredential(env setup.Getenv, db, token string) (path string, err error) {
	path = setup.CredentialPath(env)
	tokens, err := loadCredentials(env)
	if err != nil {
		return "", err
	}
	tokens[db] = token
	text, err := json.MarshalIndent(tokens, "", "  ")
	if err != nil {
		return "", err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), ".credentials-*") // mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(append(text, '\n'))
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(draft.Name(), path)
}
