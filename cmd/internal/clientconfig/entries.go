package clientconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// Entry is a server of ours in a client's configuration.
type Entry struct {
	Client string // as it is called on the command line
	File   string
	Server
}

// Entries returns what clients have of ours. Its error tells of files that can't
// be read; those of other clients are returned all the same.
func (p Place) Entries() (entries []Entry, err error) {
	servers, _, noCode := p.ClaudeCode()
	desktop, noDesktop := p.ClaudeDesktop()
	codex, noCodex := p.Codex()
	for _, c := range []struct {
		client, file string
		missing      error
		decode       func([]byte, any) error
	}{
		{"claude-code", servers, noCode, json.Unmarshal},
		{"claude-desktop", desktop, noDesktop, json.Unmarshal},
		{"codex", codex, noCodex, toml.Unmarshal},
	} {
		if c.missing != nil {
			continue // no home, no client
		}
		found, fault := entriesOf(c.file, c.decode)
		for _, server := range found {
			entries = append(entries, Entry{c.client, c.file, server})
		}
		err = errors.Join(err, fault)
	}
	return entries, err
}

func entriesOf(file string, decode func([]byte, any) error) (servers []Server, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type written struct {
		Command string            `json:"command" toml:"command"`
		Args    []string          `json:"args" toml:"args"`
		Env     map[string]string `json:"env" toml:"env"`
	}
	var content struct {
		JSON map[string]written `json:"mcpServers" toml:"-"`
		TOML map[string]written `json:"-" toml:"mcp_servers"`
	}
	if decode(text, &content) != nil {
		return nil, fmt.Errorf("%s can't be read by its client", file)
	}
	for _, all := range []map[string]written{content.JSON, content.TOML} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if w := all[name]; isOurs(w.Command) {
				servers = append(servers, Server{Name: name, Command: w.Command, Args: w.Args, Env: w.Env})
			}
		}
	}
	return servers, nil
}
