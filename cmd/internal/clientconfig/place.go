package clientconfig

import (
	"errors"
	"os"
	"path/filepath"
)

// Place is where clients look for their configuration.
type Place struct {
	System string // as runtime.GOOS names it
	Env    func(string) string
}

var errNoHome = errors.New("no home folder is set, so it can't be told where the client's configuration is; set HOME")

// ClaudeCode returns Claude Code's files for all of a user's projects: the one
// that holds its servers, and its settings.
func (p Place) ClaudeCode() (servers, settings string, err error) {
	home, err := p.home()
	folder, own := p.Env("CLAUDE_CONFIG_DIR"), true
	if folder == "" {
		if err != nil {
			return "", "", err
		}
		folder, own = filepath.Join(home, ".claude"), false
	}
	servers = filepath.Join(home, ".claude.json")
	if own {
		servers = filepath.Join(folder, ".claude.json")
	}
	// The name it had once is still the one it reads.
	if old := filepath.Join(folder, ".config.json"); isThere(old) {
		servers = old
	}
	return servers, filepath.Join(folder, "settings.json"), nil
}

// ClaudeDesktop returns the file that holds Claude Desktop's servers.
func (p Place) ClaudeDesktop() (string, error) {
	const name = "claude_desktop_config.json"
	if folder := p.Env("APPDATA"); p.System == "windows" && folder != "" {
		return filepath.Join(folder, "Claude", name), nil
	}
	home, err := p.home()
	switch {
	case err != nil:
		return "", err
	case p.System == "windows":
		return filepath.Join(home, "AppData", "Roaming", "Claude", name), nil
	case p.System == "darwin":
		return filepath.Join(home, "Library", "Application Support", "Claude", name), nil
	}
	if folder := p.Env("XDG_CONFIG_HOME"); filepath.IsAbs(folder) {
		return filepath.Join(folder, "Claude", name), nil
	}
	return filepath.Join(home, ".config", "Claude", name), nil
}

// Codex returns Codex's configuration file.
func (p Place) Codex() (string, error) {
	folder := p.Env("CODEX_HOME")
	if folder == "" {
		home, err := p.home()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(home, ".codex")
	}
	return filepath.Join(folder, "config.toml"), nil
}

func (p Place) home() (string, error) {
	home := p.Env("HOME")
	if profile := p.Env("USERPROFILE"); p.System == "windows" && profile != "" {
		home = profile
	}
	if !filepath.IsAbs(home) {
		return "", errNoHome
	}
	return home, nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
