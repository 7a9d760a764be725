package clientconfig

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Codex plans the entry in Codex's configuration. The file is edited as text,
// line by line, which keeps its comments; the result must then read as the old
// content with the new entry and nothing else, or nothing is changed.
func (s Server) Codex(file string) (Change, error) {
	return planSecret(file, func(text []byte) ([]byte, string, error) {
		content, err := readTOML(text)
		if err != nil {
			return nil, "", err
		}
		servers, _ := content["mcp_servers"].(map[string]any)
		old, _ := servers[s.Name].(map[string]any)
		if command, _ := old["command"].(string); servers[s.Name] != nil && !isOurs(command) {
			return nil, "", fmt.Errorf("%q: %w", s.Name, ErrTaken)
		}
		wanted := s.merged(old)
		if reflect.DeepEqual(old, wanted) {
			return text, "", nil
		}
		after := []byte(s.editTOML(string(text), old != nil))
		if servers == nil {
			servers = map[string]any{}
			content["mcp_servers"] = servers
		}
		servers[s.Name] = wanted
		if result, err := readTOML(after); err != nil || !reflect.DeepEqual(result, content) {
			return nil, "", fmt.Errorf("%q is written in a way that can't be changed without a person: take it out and try again; %w", s.Name, ErrSyntax)
		}
		return after, strings.TrimSpace(s.editTOML("", false)), nil
	})
}

func readTOML(text []byte) (map[string]any, error) {
	content := map[string]any{}
	if err := toml.Unmarshal(text, &content); err != nil {
		return nil, fmt.Errorf("this isn't valid TOML; %w", ErrSyntax)
	}
	return content, nil
}

// merged is the old entry with what has to be different.
func (s Server) merged(old map[string]any) map[string]any {
	env := map[string]any{}
	if before, ok := old["env"].(map[string]any); ok {
		maps.Copy(env, before)
	}
	for _, name := range settled {
		delete(env, name)
	}
	for name, value := range s.Env {
		env[name] = value
	}
	args := []any{}
	for _, arg := range s.Args {
		args = append(args, arg)
	}
	wanted := maps.Clone(old)
	if wanted == nil {
		wanted = map[string]any{}
	}
	wanted["command"], wanted["args"], wanted["env"] = s.Command, args, env
	return wanted
}

// editTOML adds the entry's two tables at the end, or sets their keys where they are.
func (s Server) editTOML(text string, exists bool) string {
	t := tomlText{lines: strings.Split(text, "\n")}
	if strings.Contains(text, "\r\n") {
		t.lineEnd = "\r"
	}
	table := []string{"mcp_servers", s.Name}
	if !exists {
		t.append(tableHeader(table))
	}
	t.set(table, "args", tomlList(s.Args))
	t.set(table, "command", tomlString(s.Command))
	env := append(table, "env")
	for _, name := range settled {
		if _, kept := s.Env[name]; !kept {
			t.set(env, name, "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		t.set(env, name, tomlString(s.Env[name]))
	}
	return strings.Join(t.lines, "\n")
}

// tomlText is a file in lines. What ends a line beside the line feed is part of it.
type tomlText struct {
	lines   []string
	lineEnd string
}

// append adds a line at the end of the file, after an empty one.
func (t *tomlText) append(line string) {
	for len(t.lines) > 0 && strings.TrimSpace(t.lines[len(t.lines)-1]) == "" {
		t.lines = t.lines[:len(t.lines)-1]
	}
	if n := len(t.lines); n > 0 {
		t.lines[n-1] = strings.TrimSuffix(t.lines[n-1], t.lineEnd) + t.lineEnd
		t.insert(n, "")
	}
	t.insert(len(t.lines), line)
	t.lines = append(t.lines, "")
}

func (t *tomlText) insert(at int, lines ...string) {
	for i := range lines {
		lines[i] += t.lineEnd
	}
	t.lines = slices.Insert(t.lines, at, lines...)
}

// set sets a key of a table to a value, or takes it out for "". What it can't
// find, such as an inline table, the check of the result finds.
func (t *tomlText) set(table []string, key, value string) {
	start := t.find(table)
	if start < 0 {
		if parent := t.find(table[:len(table)-1]); parent >= 0 && value != "" {
			t.insert(t.end(parent), "", tableHeader(table), key+" = "+value)
		}
		return
	}
	assignment := regexp.MustCompile(`^\s*["']?` + regexp.QuoteMeta(key) + `["']?\s*=`)
	for i := start + 1; i < t.end(start); i++ {
		if assignment.MatchString(t.lines[i]) {
			t.lines = slices.Delete(t.lines, i, i+1)
			if value != "" {
				t.insert(i, key+" = "+value)
			}
			return
		}
	}
	if value != "" {
		t.insert(start+1, key+" = "+value)
	}
}

func (t *tomlText) find(table []string) int {
	return slices.IndexFunc(t.lines, func(line string) bool { return slices.Equal(headerOf(line), table) })
}

// end is the line after the last one of a table that isn't blank or a comment:
// those may belong to what follows.
func (t *tomlText) end(start int) int {
	end := start + 1
	for i := end; i < len(t.lines) && headerOf(t.lines[i]) == nil; i++ {
		if text := strings.TrimSpace(t.lines[i]); text != "" && !strings.HasPrefix(text, "#") {
			end = i + 1
		}
	}
	return end
}

// headerOf returns the names of the table that a line opens, none for a table of
// a list, nil for any other line.
func headerOf(line string) []string {
	line = strings.TrimSpace(line)
	var content map[string]any
	if !strings.HasPrefix(line, "[") || toml.Unmarshal([]byte(line), &content) != nil {
		return nil
	}
	names := []string{}
	for len(content) == 1 {
		for name, inner := range content {
			names = append(names, name)
			content, _ = inner.(map[string]any)
		}
	}
	if strings.HasPrefix(line, "[[") {
		return []string{}
	}
	return names
}

func tableHeader(names []string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	var written []string
	for _, name := range names {
		if strings.Trim(name, bare) != "" || name == "" {
			name = tomlString(name)
		}
		written = append(written, name)
	}
	return "[" + strings.Join(written, ".") + "]"
}

// tomlString writes a text as a basic string, whose escapes are JSON's.
func tomlString(text string) string {
	return strings.ReplaceAll(string(compact(text)), "\x7f", `\u007f`)
}

func tomlList(texts []string) string {
	var written []string
	for _, text := range texts {
		written = append(written, tomlString(text))
	}
	return "[" + strings.Join(written, ", ") + "]"
}
