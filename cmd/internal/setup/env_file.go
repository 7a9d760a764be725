package setup

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"countersign/approvals/envfile"
	"countersign/store"
)

// EnvFile returns the .env file at a path, which need not exist yet; nil where
// none is named. What the database and the operator live by is refused.
func (s *Settings) EnvFile(given string, followLink bool) (*envfile.File, error) {
	if given == "" {
		return nil, nil
	}
	refuse := func(err error) (*envfile.File, error) { return nil, fmt.Errorf("--env-file: %s: %w", given, err) }
	path, err := filepath.Abs(given)
	if err != nil {
		return refuse(err)
	}
	db, err := s.Path()
	if err != nil {
		return nil, err
	}
	file := &envfile.File{Path: path, FollowLink: followLink, Own: store.Files(db)}
	if kept := CredentialPath(s.env); kept != "" {
		file.Own = append(file.Own, kept)
	}
	err = file.Check()
	if errors.Is(err, envfile.ErrLink) {
		err = fmt.Errorf("%w; allow that with --env-file-follow", err)
	}
	if err != nil {
		return refuse(err)
	}
	return file, nil
}

// CredentialPath is the file in the user's config folder that holds the
// operator's token of each database; "" where there is no such folder.
func CredentialPath(env Getenv) string {
	const name = "countersign/credentials.json"
	if folder := env("XDG_CONFIG_HOME"); filepath.IsAbs(folder) {
		return filepath.Join(folder, name)
	}
	home := env("HOME")
	switch {
	case runtime.GOOS == "windows" && env("AppData") != "":
		return filepath.Join(env("AppData"), name)
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", name)
	}
	return filepath.Join(home, ".config", name)
}
