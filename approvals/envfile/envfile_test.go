package envfile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/approvals/envfile"
)

func equal[T any](t testing.TB, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A variable is set in its place, and everything else stays byte for byte.
func TestSet(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"a new file":         {"", "KEY=v\n"},
		"added":              {"# mine\nA=1\n\nB='x y'  # why\n", "# mine\nA=1\n\nB='x y'  # why\nKEY=v\n"},
		"no last line end":   {"A=1", "A=1\nKEY=v\n"},
		"CRLF":               {"A=1\r\nB=2\r\n", "A=1\r\nB=2\r\nKEY=v\r\n"},
		"CRLF, replaced":     {"KEY=old\r\nB=2\r\n", "KEY=v\r\nB=2\r\n"},
		"replaced":           {"A=1\nKEY=old\nB=2\n", "A=1\nKEY=v\nB=2\n"},
		"comment kept":       {"KEY=old # why\n", "KEY=v # why\n"},
		"quoted, comment":    {"KEY=\"o # ld\" # why\n", "KEY=v # why\n"},
		"empty":              {"KEY=\nB=2\n", "KEY=v\nB=2\n"},
		"empty, comment":     {"KEY=# why\n", "KEY=v # why\n"},
		"as a shell reads":   {"KEY = old\n", "KEY=v\n"},
		"export and blanks":  {"  export \t KEY= old # why\n  B = 2\n", "export KEY=v # why\n  B = 2\n"},
		"after a colon":      {"KEY: old # why\nB: 2\n", "KEY=v # why\nB: 2\n"},
		"a colon counts":     {"KEY=1\nexport KEY :old\n#KEY: 2\n", "KEY=1\nexport KEY=v\n#KEY: 2\n"},
		"a colon, quoted":    {"KEY: \"o\nKEY=no\nld\"\r\n", "KEY=v\r\n"},
		"a colon, no value":  {"KEY:\nB=2\n", "KEY=v\nB=2\n"},
		"after such a one":   {"B:\n", "B:\n\nKEY=v\n"},
		"between such ones":  {"  B:\r\nKEY=old\r\nC:\r\n", "  B:\r\n\r\nKEY=v\r\nC:\r\n"},
		"several lines":      {"KEY='a\nb\nKEY=no\n' \nB=2\n", "KEY=v \nB=2\n"},
		"inside another":     {"A=\"\nKEY=no\n\"\n", "A=\"\nKEY=no\n\"\nKEY=v\n"},
		"escaped quote":      {"A=\"x\\\"\nKEY=no\n\"\nKEY=old\n", "A=\"x\\\"\nKEY=no\n\"\nKEY=v\n"},
		"in a comment":       {"# KEY=no\n", "# KEY=no\nKEY=v\n"},
		"a longer name":      {"KEY2=no\nMY_KEY=no\n", "KEY2=no\nMY_KEY=no\nKEY=v\n"},
		"the last counts":    {"KEY=1\nKEY=2\n", "KEY=1\nKEY=v\n"},
		"its own left open":  {"KEY='oops\nB=2\n", "KEY=v\nB=2\n"},
		"a line goes on":     {"A=C:\\new\\\n", "A=C:\\new\\\n\nKEY=v\n"},
		"it goes on to it":   {"A=C:\\new\\\nKEY=old\n", "A=C:\\new\\\n\nKEY=v\n"},
		"a byte order mark":  {"\ufeffKEY=old\n", "KEY=v\n"},
		"what isn't UTF-8":   {"A=\xff\nKEY=old\n", "A=\xff\nKEY=v\n"},
		"a line of no sense": {"%%%\n= =\nKEY\n", "%%%\n= =\nKEY\nKEY=v\n"},
	} {
		got, err := envfile.Set(c.before, "KEY", "v")
		if err != nil || got != c.after {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.after)
		}
	}
}

// What wouldn't be read back isn't written, and the error says which line is why.
func TestSetWhatWouldNotBeRead(t *testing.T) {
	for before, want := range map[string]string{
		"A='open\nB=2\n":                 "line 1 has a quote that nothing closes",
		"# x\n\nA=\"o\nKEY=old\nB='2'\n": "line 3 has a quote that nothing closes",
		"KEY=old\nA=`o":                  "line 2 has a quote that nothing closes",
		"A='ends\\'\n":                   "line 1 has a quote that nothing closes",
		"KEY='old'more\n":                "what is written to it would not be read back",
		"B: 'open\n":                     "line 1 has a quote that nothing closes",
		"KEY=old\nB: \"x\nKEY=y\n\"\n":   "what is written to it would not be read back",
	} {
		for _, value := range []string{"v", "with blank", "it's"} {
			got, err := envfile.Set(before, "KEY", value)
			if !errors.Is(err, envfile.ErrUnread) || err.Error() != want {
				t.Errorf("%q: %q, %v", before, got, err)
			}
		}
	}
}

// values are secrets as people have them.
var values = []string{
	"plain", "sk-live_1234567890", "postgres://u:p@h:5432/db?x=1&y=2", "with blank", " blanks around ", "a#b", "a #b", "#b",
	"pa$$word", "$HOME", "$(touch pwned)", "`touch pwned`", `say "hi"`, "it's", "it's #1", "a;b&c|d<e>f", `back\slash`, `C:\new\temp`, "ünï çødé 密码 🔑",
	"two\nlines", "-----BEGIN KEY-----\nabc+/=\n-----END KEY-----\n", "it's\ntwo", "tab\there", "=", "a=b", "!history", "~", "*", "{a,b}", "'", `"`, "true", "",
	"$1", "a$", `"quoted"`, "'quoted' all over it's", "\n", "\n\n", "%d %s", "\"$x\" #y",
}

var unquotable = []string{`ends\`, `it's at its end\`, `a'b"c`, `p@ss'w"ord!`, `\\server\share`, `a\'b`, "a\rb", "a\x00b", "a\x1bb", "${HOME}", "x${A:-b}y", "a'b $c", "a'b\"c #d", "a'$(touch pwned)\"", "a'`b`", "'a\"", "a'b\"c\nd"}

func file(t *testing.T, values []string) string {
	t.Helper()
	f := envfile.File{Path: filepath.Join(t.TempDir(), ".env")}
	var all []envfile.Variable
	for i, value := range values {
		all = append(all, envfile.Variable{Name: fmt.Sprintf("V%d", i), Value: value})
	}
	if err := f.Put(all); err != nil {
		t.Fatal(err)
	}
	return f.Path
}

// readers print the variables of a file as a JSON object: "%s" is the file.
var readers = map[string][]string{
	"node": {"node", "-e", `console.log(JSON.stringify(require("node:util").parseEnv(require("fs").readFileSync("%s","utf8"))))`},
	// The pattern that the dotenv package for Node has, word for word.
	"node dotenv": {"node", "-e", `const LINE = /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*` + "`(?:\\\\`|[^`])*`" + `|[^#\r\n]+)?\s*(?:#.*)?(?:$|$)/mg
		const lines = require("fs").readFileSync("%s","utf8").replace(/\r\n?/mg, '\n'), obj = {}; let match
		while ((match = LINE.exec(lines)) != null) { let value = (match[2] || '').trim(); const q = value[0]
			value = value.replace(/^(['"` + "`" + `])([\s\S]*)\1$/mg, '$2')
			if (q === '"') value = value.replace(/\\n/g, '\n').replace(/\\r/g, '\r')
			obj[match[1]] = value }
		console.log(JSON.stringify(obj))`},
	"python-dotenv": {"python3", "-c", `import dotenv, json; print(json.dumps(dotenv.dotenv_values("%s")))`},
	"sh":            {"sh", "-c", `set -a; . "%s"; exec node -e 'console.log(JSON.stringify(process.env))'`},
}

// Whatever a value holds, its readers read it back.
func TestReadersReadItBack(t *testing.T) {
	tried := 0
	for reader, command := range readers {
		t.Run(reader, func(t *testing.T) {
			command := slices.Clone(command)
			for i, arg := range command {
				command[i] = strings.Replace(arg, "%s", file(t, values), 1)
			}
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Skipf("this machine lacks it: %v: %.200s", err, out)
			}
			tried++
			var got map[string]string
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for i, value := range values {
				if got[fmt.Sprintf("V%d", i)] != value {
					t.Errorf("%q is read as %q", value, got[fmt.Sprintf("V%d", i)])
				}
			}
			if entries, err := os.ReadDir(cmd.Dir); err != nil || len(entries) > 0 {
				t.Errorf("a value was run: %v %v", entries, err)
			}
		})
	}
	if tried == 0 {
		t.Skip("no reader at all on this machine")
	}
}

// Whatever form a variable's line had, its readers read the new value.
func TestReadersReadWhatWasReplaced(t *testing.T) {
	const value = "new one"
	path := filepath.Join(t.TempDir(), ".env")
	var text []byte
	var variables []envfile.Variable
	for i, form := range []string{"%s=old", "%s = old", "%s: old", "%s=1\n%[1]s: old # why", "export  %s= old", "  export\t%s : 'o\nld'",
		"%s:", "%s:old", "%s=1\n%[1]s:\n", "C=\\\n%s=old"} {
		variables = append(variables, envfile.Variable{Name: fmt.Sprintf("K%d", i), Value: value})
		text = append(fmt.Appendf(text, form, variables[i].Name), '\n')
	}
	if err := errors.Join(os.WriteFile(path, text, 0o600), (envfile.File{Path: path}).Put(variables)); err != nil {
		t.Fatal(err)
	}
	for name, command := range readers {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(command[0])
			for _, arg := range command[1:] {
				cmd.Args = append(cmd.Args, strings.Replace(arg, "%s", path, 1))
			}
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil && !strings.Contains(said.String(), "new") {
				t.Skipf("this machine lacks it: %v: %.200s", err, said.String())
			}
			var got map[string]string
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s%s", err, out, said.String())
			}
			for _, v := range variables {
				if got[v.Name] != value {
					t.Errorf("%s is read as %q", v.Name, got[v.Name])
				}
			}
			if strings.Contains(said.String(), "new") {
				t.Errorf("it tells the secret: %s", said.String())
			}
		})
	}
}

func TestUnquotable(t *testing.T) {
	for _, value := range unquotable {
		if err := envfile.Check(value); !errors.Is(err, envfile.ErrUnquotable) || strings.Contains(err.Error(), value) {
			t.Errorf("%q: %v", value, err)
		}
	}
	for _, value := range values {
		if err := envfile.Check(value); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// What was set can be set again, and read past, whatever it was.
func FuzzSet(f *testing.F) {
	for _, value := range values {
		f.Add("A=1\nB=2 # x\n", value, value)
		f.Add("B:\n KEY : 1\\\nexport KEY= 2 #x\n", value, value)
	}
	f.Fuzz(func(t *testing.T, text, first, second string) {
		if strings.ContainsAny(text, "'\"`") {
			return // a quote that was left open swallows what is added
		}
		once, err := envfile.Set(text, "KEY", first)
		if err != nil {
			return
		}
		twice, err := envfile.Set(once, "KEY", second)
		if err != nil {
			return
		}
		direct, err := envfile.Set(text, "KEY", second)
		if err != nil || direct != twice {
			t.Errorf("set after %q: %q, not %q (%v)", first, twice, direct, err)
		}
	})
}

func TestFileIsForItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".env")
	f := envfile.File{Path: path}
	for _, before := range []string{"", "A=1\n"} {
		if before != "" {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte(before), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Put([]envfile.Variable{{Name: "KEY", Value: "v"}}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" {
			equal(t, "-rw-------", info.Mode().String())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, before+"KEY=v\n", string(text))
	}
}

// Many writers at once lose nothing.
func TestManyWriters(t *testing.T) {
	f := envfile.File{Path: filepath.Join(t.TempDir(), ".env")}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if err := f.Put([]envfile.Variable{{Name: fmt.Sprintf("V%d", i), Value: "v"}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, 40, strings.Count(string(text), "=v\n"))
}

// A symbolic link is followed only where that was asked for, and stays one.
func TestLink(t *testing.T) {
	folder := t.TempDir()
	real, link := filepath.Join(folder, "real"), filepath.Join(folder, ".env")
	if err := errors.Join(os.WriteFile(real, []byte("A=1\n"), 0o600), os.Symlink("real", link)); err != nil {
		t.Skip(err)
	}
	f := envfile.File{Path: link}
	if err := f.Put([]envfile.Variable{{Name: "KEY", Value: "v"}}); !errors.Is(err, envfile.ErrLink) {
		t.Errorf("written through a link: %v", err)
	}
	f.FollowLink = true
	if err := f.Put([]envfile.Variable{{Name: "KEY", Value: "v"}}); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "A=1\nKEY=v\n", string(text))
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
}

// What can't be written is left as it was, with no secret in the error and no
// draft beside it.
func TestUnwritable(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	const secret = "Zq7Secret"
	binary, compressed := filepath.Join(elsewhere, "binary"), filepath.Join(elsewhere, "compressed")
	own, linked := filepath.Join(elsewhere, "shop.db.key"), filepath.Join(elsewhere, "linked")
	if err := errors.Join(os.WriteFile(binary, []byte("SQLite format 3\x00\n"), 0o600), os.WriteFile(compressed, []byte("\x1f\x8b\x08\n"), 0o600),
		os.WriteFile(own, []byte("0f0f\n"), 0o600), os.Link(own, linked)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path     string
		variable envfile.Variable
		want     error
	}{
		"a folder":    {folder, envfile.Variable{Name: "KEY", Value: secret}, envfile.ErrNoFile},
		"no folder":   {filepath.Join(folder, "no", ".env"), envfile.Variable{Name: "KEY", Value: secret}, envfile.ErrWrite},
		"a bad name":  {filepath.Join(folder, ".env"), envfile.Variable{Name: "A B", Value: secret}, envfile.ErrUnquotable},
		"a bad value": {filepath.Join(folder, ".env"), envfile.Variable{Name: "KEY", Value: secret + "\x00"}, envfile.ErrUnquotable},
		"no text":     {binary, envfile.Variable{Name: "KEY", Value: secret}, envfile.ErrNoText},
		"a short one": {compressed, envfile.Variable{Name: "KEY", Value: secret}, envfile.ErrNoText},
		"an own one":  {own, envfile.Variable{Name: "KEY", Value: secret}, envfile.ErrOwn},
		"another way": {filepath.Join(elsewhere, "a", "..", "linked"), envfile.Variable{Name: "KEY", Value: secret}, envfile.ErrOwn},
		"not yet one": {filepath.Join(folder, "shop.db-wal"), envfile.Variable{Name: "KEY", Value: secret}, envfile.ErrOwn},
	} {
		f := envfile.File{Path: c.path, Own: []string{own, filepath.Join(folder, "shop.db-wal")}}
		err := f.Put([]envfile.Variable{{Name: "OK", Value: "1"}, c.variable})
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasPrefix(c.path, elsewhere) || c.want == envfile.ErrOwn {
			if err := f.Check(); !errors.Is(err, c.want) {
				t.Errorf("%s: it passes the check: %v", name, err)
			}
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != ".env.lock" {
			t.Errorf("left behind: %s", entry.Name())
		}
	}
}

// Who holds the old file open reads it to its end.
func TestReaderKeepsWhatItOpened(t *testing.T) {
	path := file(t, []string{"old"})
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := (envfile.File{Path: path}).Put([]envfile.Variable{{Name: "V0", Value: "new and longer"}}); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "V0=old\n", string(text))
}
