// Package clientconfig puts this server into the configuration files of MCP
// clients, and leaves everything else in them as it is.
package clientconfig

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Server is how a client starts the server.
type Server struct {
	Name    string   // what the client calls it
	Command string   // an absolute path
	Args    []string // never nil
	Env     map[string]string
}

// ErrTaken is returned where a client has another server of that name.
var ErrTaken = errors.New("the name is taken by an entry that starts something else; choose one with --name")

// settled are variables that the arguments stand for now: an older entry's would
// contradict them.
var settled = []string{"COUNTERSIGN_DB", "COUNTERSIGN_CUSTOMER", "COUNTERSIGN_TOKEN", "COUNTERSIGN_TOOLSETS", "COUNTERSIGN_ENV_FILE"}

// isOurs reports whether a command is this project's server.
func isOurs(command string) bool {
	return strings.TrimSuffix(filepath.Base(filepath.FromSlash(command)), ".exe") == "countersign-mcp"
}

// entry is a server as clients write it in JSON.
type entry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// ClaudeCode plans the entry in the file of Claude Code's servers.
func (s Server) ClaudeCode(file string) (Change, error) { return s.json(file, "stdio") }

// ClaudeDesktop plans the entry in Claude Desktop's file.
func (s Server) ClaudeDesktop(file string) (Change, error) { return s.json(file, "") }

func (s Server) json(file, kind string) (Change, error) {
	wanted := entry{kind, s.Command, s.Args, s.Env}
	return planSecret(file, func(text []byte) ([]byte, string, error) {
		d, err := parseDocument(text)
		if err != nil {
			return nil, "", err
		}
		if err := s.mergeJSON(d, wanted); err != nil {
			return nil, "", err
		}
		shown := &document{unit: "  ", newline: "\n"}
		return d.text, shown.format(map[string]any{"mcpServers": map[string]any{s.Name: wanted}}, ""), nil
	})
}

// mergeJSON adds the entry, or changes what has to be changed in the one that is there.
func (s Server) mergeJSON(d *document, wanted entry) error {
	path := func(names ...string) []string { return append([]string{"mcpServers", s.Name}, names...) }
	var command string
	if found, err := d.get(&command, path("command")...); err != nil {
		return err
	} else if !found {
		if _, depth, _ := d.find(path()...); depth == len(path()) {
			return fmt.Errorf("%q: %w", s.Name, ErrTaken)
		}
		return d.set(wanted, path()...)
	}
	if !isOurs(command) {
		return fmt.Errorf("%q: %w", s.Name, ErrTaken)
	}
	for _, name := range settled {
		if _, kept := wanted.Env[name]; !kept {
			if err := d.remove(path("env", name)...); err != nil {
				return err
			}
		}
	}
	err := errors.Join(d.set(wanted.Command, path("command")...), d.set(wanted.Args, path("args")...))
	if wanted.Type != "" {
		err = errors.Join(err, d.set(wanted.Type, path("type")...))
	}
	for _, name := range slices.Sorted(maps.Keys(wanted.Env)) {
		err = errors.Join(err, d.set(wanted.Env[name], path("env", name)...))
	}
	return err
}
