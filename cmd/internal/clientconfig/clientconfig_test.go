package clientconfig_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"countersign/cmd/internal/clientconfig"
)

var moment = time.Date(2026, 4, 5, 6, 7, 8, 0, time.UTC)

func demo() clientconfig.Server {
	return clientconfig.Server{
		Name: "countersign", Command: "/opt/bin/countersign-mcp", Args: []string{"--demo", "--customer", "C-1001"},
		Env: map[string]string{"COUNTERSIGN_TOKEN": "demo-staff-token"},
	}
}

// put writes a file into a fresh folder.
func put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// apply writes what plan wants, and checks that it then wants nothing more.
func apply(t *testing.T, path string, plan func(string) (clientconfig.Change, error)) string {
	t.Helper()
	change, err := plan(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := change.Write(moment); err != nil {
		t.Fatal(err)
	}
	again, err := plan(path)
	if err != nil {
		t.Fatal(err)
	}
	if again.Adds != "" {
		t.Errorf("a second time it still wants %s", again.Adds)
	}
	return read(t, path)
}

func TestJSONKeepsEverythingElse(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"other servers": {
			"{\n    \"z\": 1.50,\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\",   \"args\": []}\n    },\n    \"a\": \"<\\u00e9>\"\n}",
			"{\n    \"z\": 1.50,\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\",   \"args\": []},\n        \"countersign\": {\n            \"command\": \"/opt/bin/countersign-mcp\",\n            \"args\": [\n                \"--demo\",\n                \"--customer\",\n                \"C-1001\"\n            ],\n            \"env\": {\n                \"COUNTERSIGN_TOKEN\": \"demo-staff-token\"\n            }\n        }\n    },\n    \"a\": \"<\\u00e9>\"\n}",
		},
		"one line": {
			`{"a":1,"mcpServers":{}}`,
			`{"a":1,"mcpServers":{"countersign": {"command":"/opt/bin/countersign-mcp","args":["--demo","--customer","C-1001"],"env":{"COUNTERSIGN_TOKEN":"demo-staff-token"}}}}`,
		},
		"tabs and CRLF": {
			"{\r\n\t\"a\": [1,\r\n\t\t2]\r\n}\r\n",
			"{\r\n\t\"a\": [1,\r\n\t\t2],\r\n\t\"mcpServers\": {\r\n\t\t\"countersign\": {\r\n\t\t\t\"command\": \"/opt/bin/countersign-mcp\",\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"--demo\",\r\n\t\t\t\t\"--customer\",\r\n\t\t\t\t\"C-1001\"\r\n\t\t\t],\r\n\t\t\t\"env\": {\r\n\t\t\t\t\"COUNTERSIGN_TOKEN\": \"demo-staff-token\"\r\n\t\t\t}\r\n\t\t}\r\n\t}\r\n}\r\n",
		},
		"an older entry of ours": {
			"{\n  \"mcpServers\": {\n    \"countersign\": {\n      \"timeout\": 5,\n      \"command\": \"/old/countersign-mcp\",\n      \"args\": [],\n      \"env\": {\"COUNTERSIGN_DB\": \"/x\", \"COUNTERSIGN_LOG\": \"debug\", \"COUNTERSIGN_CUSTOMER\": \"C-1\"}\n    },\n    \"other\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"countersign\": {\n      \"timeout\": 5,\n      \"command\": \"/opt/bin/countersign-mcp\",\n      \"args\": [\n        \"--demo\",\n        \"--customer\",\n        \"C-1001\"\n      ],\n      \"env\": {\"COUNTERSIGN_LOG\": \"debug\", \"COUNTERSIGN_TOKEN\": \"demo-staff-token\"}\n    },\n    \"other\": {}\n  }\n}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := apply(t, put(t, "config.json", test.before), demo().ClaudeDesktop)
			if diff := cmp.Diff(test.after, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMissingAndEmptyFilesAreMade(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "deep", "down")
	missing := filepath.Join(folder, "config.json")
	made := apply(t, missing, demo().ClaudeCode)
	if empty := apply(t, put(t, "config.json", " \n"), demo().ClaudeCode); empty != made {
		t.Errorf("an empty file becomes %s, a missing one %s", empty, made)
	}
	var content any
	if err := json.Unmarshal([]byte(made), &content); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"mcpServers": map[string]any{"countersign": map[string]any{
		"type": "stdio", "command": "/opt/bin/countersign-mcp", "args": []any{"--demo", "--customer", "C-1001"},
		"env": map[string]any{"COUNTERSIGN_TOKEN": "demo-staff-token"},
	}}}
	if diff := cmp.Diff(want, content); diff != "" {
		t.Error(diff)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, mode := range map[string]os.FileMode{missing: 0o600, folder: 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestWhatCannotBeEditedIsLeftAlone(t *testing.T) {
	jsonPlan, tomlPlan := demo().ClaudeDesktop, demo().Codex
	denyPlan := func(file string) (clientconfig.Change, error) {
		return clientconfig.Deny(file, clientconfig.DenyRules("/db", ""))
	}
	for text, test := range map[string]struct {
		plan func(string) (clientconfig.Change, error)
		want error
	}{
		"{\"a\": 1,}":                          {jsonPlan, clientconfig.ErrSyntax},
		"// note\n{}":                          {jsonPlan, clientconfig.ErrSyntax},
		"\xef\xbb\xbf{}":                       {jsonPlan, clientconfig.ErrSyntax},
		"[]":                                   {jsonPlan, clientconfig.ErrSyntax},
		"{} {}":                                {jsonPlan, clientconfig.ErrSyntax},
		`{"mcpServers": []}`:                   {jsonPlan, clientconfig.ErrSyntax},
		`{"mcpServers": null}`:                 {jsonPlan, clientconfig.ErrSyntax},
		`{"permissions": "none"}`:              {denyPlan, clientconfig.ErrSyntax},
		`{"permissions": {"deny": [1]}}`:       {denyPlan, clientconfig.ErrSyntax},
		`{"mcpServers": {}, "mcpServers": {}}`: {jsonPlan, clientconfig.ErrSyntax},
		`{"mcpServers": {"countersign": {"command": "/x/else"}}}`: {jsonPlan, clientconfig.ErrTaken},
		`{"mcpServers": {"countersign": {"url": "https://x"}}}`:   {jsonPlan, clientconfig.ErrTaken},
		"a = \n": {tomlPlan, clientconfig.ErrSyntax},
		"mcp_servers = {other = {command = \"x\"}}\n":                                     {tomlPlan, clientconfig.ErrSyntax},
		"[mcp_servers.countersign]\ncommand = \"x\"\n":                                    {tomlPlan, clientconfig.ErrTaken},
		"[mcp_servers.countersign]\nurl = \"https://x\"\n":                                {tomlPlan, clientconfig.ErrTaken},
		"[mcp_servers.countersign]\ncommand = \"countersign-mcp\"\nenv = {A = \"b\"}\n":   {tomlPlan, clientconfig.ErrSyntax},
		"[mcp_servers.countersign]\ncommand = \"countersign-mcp\"\nargs = [\n\"a\",\n]\n": {tomlPlan, clientconfig.ErrSyntax},
	} {
		path := put(t, "config", text)
		if _, err := test.plan(path); !errors.Is(err, test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want %v", text, err, test.want)
		}
	}
}

func TestTheOldFileIsKept(t *testing.T) {
	path := put(t, "config.json", `{"first": true}`)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(path), "link.json")
	if err := os.Symlink("config.json", link); err != nil {
		t.Skip(err)
	}
	var backups []string
	for _, customer := range []string{"C-1", "C-2"} {
		server := demo()
		server.Args = []string{"--customer", customer}
		change, err := server.ClaudeDesktop(link)
		if err != nil {
			t.Fatal(err)
		}
		before := read(t, path)
		backup, err := change.Write(moment)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, backup); got != before {
			t.Errorf("%s holds %s", backup, got)
		}
		backups = append(backups, backup)
	}
	if diff := cmp.Diff([]string{path + ".bak-20260405T060708Z", path + ".bak-20260405T060708Z-2"}, backups); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is one no more")
	}
	for _, file := range append(backups, path) {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", file, info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 4 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestADanglingLinkMakesItsTarget(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "config.toml")
	if err := os.Symlink("dotfiles/codex.toml", link); err != nil {
		t.Skip(err)
	}
	apply(t, link, demo().Codex)
	read(t, filepath.Join(folder, "dotfiles", "codex.toml"))
}

func TestAClientThatWroteMeanwhileWins(t *testing.T) {
	path := put(t, "config.json", "{}")
	change, err := demo().ClaudeDesktop(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"new": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := change.Write(moment); !errors.Is(err, clientconfig.ErrMoved) {
		t.Error(err)
	}
	if got := read(t, path); got != `{"new": 1}` {
		t.Error(got)
	}
}

func TestDenyRulesAreAddedOnce(t *testing.T) {
	rules := clientconfig.DenyRules("/home/a b/shop[1].db", "/home/a b/credentials.json")
	want := []string{
		"Bash(countersign *)", "Bash(*/countersign *)", "Bash(env *countersign *)",
		"Bash(countersign-mcp *)", "Bash(*/countersign-mcp *)", "Bash(env *countersign-mcp *)",
		`Read(//home/a b/shop\[1\].db*)`, `Edit(//home/a b/shop\[1\].db*)`,
		"Read(//home/a b/credentials.json)", "Edit(//home/a b/credentials.json)",
	}
	if diff := cmp.Diff(want, rules); diff != "" && runtime.GOOS != "windows" {
		t.Fatal(diff)
	}
	rules = []string{"Bash(countersign *)", "Read(//x)"}
	path := put(t, "settings.json", "{\n  \"permissions\": {\n    \"deny\": [\n      \"Read(//x)\"\n    ],\n    \"allow\": [\"A\"]\n  }\n}\n")
	got := apply(t, path, func(file string) (clientconfig.Change, error) { return clientconfig.Deny(file, rules) })
	if diff := cmp.Diff("{\n  \"permissions\": {\n    \"deny\": [\n      \"Read(//x)\",\n      \"Bash(countersign *)\"\n    ],\n    \"allow\": [\"A\"]\n  }\n}\n", got); diff != "" {
		t.Error(diff)
	}
}

func TestTOMLKeepsEverythingElse(t *testing.T) {
	const entry = "[mcp_servers.countersign]\ncommand = \"/opt/bin/countersign-mcp\"\nargs = [\"--demo\", \"--customer\", \"C-1001\"]\n\n[mcp_servers.countersign.env]\nCOUNTERSIGN_TOKEN = \"demo-staff-token\"\n"
	for name, test := range map[string]struct{ before, after string }{
		"missing": {"", entry},
		"at the end": {
			"# mine\nmodel = 'x' # why\n[mcp_servers.other]\ncommand=\"y\"\n\n\n",
			"# mine\nmodel = 'x' # why\n[mcp_servers.other]\ncommand=\"y\"\n\n" + entry,
		},
		"no line end": {"a = 1", "a = 1\n\n" + entry},
		"CRLF":        {"a = 1 # x\r\n", "a = 1 # x\r\n\r\n" + strings.ReplaceAll(entry, "\n", "\r\n")},
		"an older entry of ours": {
			"[mcp_servers.countersign] # the shop\nstartup_timeout_sec = 5 # slow\ncommand = \"/old/countersign-mcp\"\n[mcp_servers.\"countersign\".env]\nCOUNTERSIGN_DB = \"/x\"\nCOUNTERSIGN_LOG = \"debug\"\n\n# Profiles.\n[profiles.a]\nargs = [\"z\"]\n",
			"[mcp_servers.countersign] # the shop\nargs = [\"--demo\", \"--customer\", \"C-1001\"]\nstartup_timeout_sec = 5 # slow\ncommand = \"/opt/bin/countersign-mcp\"\n[mcp_servers.\"countersign\".env]\nCOUNTERSIGN_TOKEN = \"demo-staff-token\"\nCOUNTERSIGN_LOG = \"debug\"\n\n# Profiles.\n[profiles.a]\nargs = [\"z\"]\n",
		},
		"text that looks like tables": {
			"note = \"\"\"\n[mcp_servers.countersign2]\n\"\"\"\nlist = [\n[1],\n]\n",
			"note = \"\"\"\n[mcp_servers.countersign2]\n\"\"\"\nlist = [\n[1],\n]\n\n" + entry,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := apply(t, put(t, "config.toml", test.before), demo().Codex)
			if diff := cmp.Diff(test.after, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzTOML proves that whatever a file holds, the edit changes one entry of its
// content or refuses.
func FuzzTOML(f *testing.F) {
	f.Add("a = 1\n[mcp_servers.x]\ncommand = 'y'\n", "it's a \"name\"\x7f\\")
	f.Add("[mcp_servers]\n[mcp_servers.countersign]\ncommand = 'countersign-mcp'\n[[z]]\n", "C-1")
	f.Fuzz(func(t *testing.T, text, customer string) {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		server := demo()
		server.Args = []string{strings.ToValidUTF8(customer, "?")}
		change, err := server.Codex(path)
		if err != nil {
			return
		}
		if _, err := change.Write(moment); err != nil {
			t.Fatal(err)
		}
		before, after := map[string]any{}, map[string]any{}
		if toml.Unmarshal([]byte(text), &before) != nil || toml.Unmarshal([]byte(read(t, path)), &after) != nil {
			t.Fatal("one of both isn't TOML")
		}
		for _, content := range []map[string]any{before, after} {
			if servers, ok := content["mcp_servers"].(map[string]any); ok {
				delete(servers, "countersign")
				if len(servers) == 0 {
					delete(content, "mcp_servers")
				}
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzJSON proves the same for JSON, and that all old bytes outside of the entry stay.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a": {"b": [1, {"c": null}]}, "mcpServers": { "x": {} } }`)
	f.Add("{\n \"mcpServers\": {\n \"countersign\": {\"command\": \"countersign-mcp\"}}}")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		change, err := demo().ClaudeDesktop(path)
		if err != nil || strings.TrimSpace(text) == "" {
			return
		}
		if _, err := change.Write(moment); err != nil {
			t.Fatal(err)
		}
		var before, after map[string]any
		if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal([]byte(read(t, path)), &after) != nil {
			t.Fatal("one of both isn't JSON")
		}
		for _, content := range []map[string]any{before, after} {
			if servers, ok := content["mcpServers"].(map[string]any); ok {
				delete(servers, "countersign")
				if len(servers) == 0 {
					delete(content, "mcpServers")
				}
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhereClientsLook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of this test are absolute on other systems")
	}
	for _, test := range []struct {
		system string
		env    map[string]string
		want   []string // Claude Code's two, Claude Desktop's, Codex's
	}{
		{"linux", map[string]string{"HOME": "/h"}, []string{"/h/.claude.json", "/h/.claude/settings.json", "/h/.config/Claude/claude_desktop_config.json", "/h/.codex/config.toml"}},
		{"linux", map[string]string{"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/g"},
			[]string{"/c/.claude.json", "/c/settings.json", "/g/Claude/claude_desktop_config.json", "/x/config.toml"}},
		{"darwin", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/g"},
			[]string{"/h/.claude.json", "/h/.claude/settings.json", "/h/Library/Application Support/Claude/claude_desktop_config.json", "/h/.codex/config.toml"}},
		{"windows", map[string]string{"USERPROFILE": "/u", "HOME": "/h", "APPDATA": "/u/AppData/Roaming"},
			[]string{"/u/.claude.json", "/u/.claude/settings.json", "/u/AppData/Roaming/Claude/claude_desktop_config.json", "/u/.codex/config.toml"}},
	} {
		place := clientconfig.Place{System: test.system, Env: func(name string) string { return test.env[name] }}
		servers, settings, err1 := place.ClaudeCode()
		desktop, err2 := place.ClaudeDesktop()
		codex, err3 := place.Codex()
		if diff := cmp.Diff(test.want, []string{servers, settings, desktop, codex}); diff != "" || errors.Join(err1, err2, err3) != nil {
			t.Errorf("%s: %s %v", test.system, diff, errors.Join(err1, err2, err3))
		}
	}
	nowhere := clientconfig.Place{System: "linux", Env: func(string) string { return "" }}
	if _, _, err := nowhere.ClaudeCode(); err == nil {
		t.Error("without a home there is a file of Claude Code")
	}
	home := t.TempDir()
	old := filepath.Join(home, ".claude", ".config.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(old), 0o700), os.WriteFile(old, []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	place := clientconfig.Place{System: "linux", Env: func(name string) string { return map[string]string{"HOME": home}[name] }}
	if servers, _, err := place.ClaudeCode(); servers != old || err != nil {
		t.Errorf("%s, %v", servers, err)
	}
}
