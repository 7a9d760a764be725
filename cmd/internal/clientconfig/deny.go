package clientconfig

import (
	"path/filepath"
	"slices"
	"strings"
)

// DenyRules are what Claude Code must not do on its own: run the operators'
// program, and read or change the files that it works with. What begins with the
// name of the database belongs to it: its log, its key, its lock. others are
// further files; "" stands for none.
func DenyRules(database string, others ...string) []string {
	var rules []string
	for _, program := range []string{"countersign", "countersign-mcp"} { // the server, by itself, would serve any customer
		rules = append(rules, "Bash("+program+" *)", "Bash(*/"+program+" *)", "Bash(env *"+program+" *)")
	}
	files := []string{rulePath(database) + "*"}
	for _, other := range others {
		if other != "" {
			files = append(files, rulePath(other))
		}
	}
	for _, file := range files {
		rules = append(rules, "Read("+file+")", "Edit("+file+")")
	}
	return rules
}

// rulePath writes an absolute path as a rule does: after two slashes, and with
// what a pattern gives a meaning to made plain.
func rulePath(path string) string {
	path = filepath.ToSlash(path)
	if volume := filepath.VolumeName(path); len(volume) == 2 { // C: is /c
		path = "/" + strings.ToLower(volume[:1]) + path[2:]
	}
	return "/" + strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `\`, `\\`).Replace(path)
}

// Deny plans the rules that are missing in Claude Code's settings.
func Deny(file string, rules []string) (Change, error) {
	return plan(file, func(text []byte) ([]byte, string, error) {
		d, err := parseDocument(text)
		if err != nil {
			return nil, "", err
		}
		var present []string
		found, err := d.get(&present, "permissions", "deny")
		if err != nil {
			return nil, "", err
		}
		missing := slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return slices.Contains(present, rule) })
		if !found {
			err = d.set(missing, "permissions", "deny")
		} else {
			for _, rule := range missing {
				at, _, _ := d.find("permissions", "deny")
				d.add(at.value, "", rule)
			}
		}
		shown := &document{unit: "  ", newline: "\n"}
		return d.text, shown.format(map[string]any{"permissions": map[string]any{"deny": missing}}, ""), err
	})
}
