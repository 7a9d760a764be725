package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/fixtures"
	"countersign/store"
)

// demoFiles returns the bytes of a demo database and of its key.
var demoFiles = sync.OnceValues(func() (files [2][]byte, err error) {
	folder, err := os.MkdirTemp("", "countersign-demo-files-")
	if err != nil {
		return files, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "demo.db")
	if err := fixtures.CreateDemo(path, store.Options{}); err != nil {
		return files, err
	}
	if files[0], err = os.ReadFile(path); err != nil {
		return files, err
	}
	files[1], err = os.ReadFile(store.KeyPath(path))
	return files, err
})

// demoAt puts a demo database at path, mended by change (nil: as it is).
func demoAt(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	files, err := demoFiles()
	if err != nil {
		t.Fatal(err)
	}
	database := bytes.Clone(files[0])
	if change != nil {
		database = change(database)
	}
	put(t, path, string(database))
	put(t, store.KeyPath(path), string(files[1]))
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// opening are the commands that open a database, without its flags.
var opening = [][]string{
	{"countersign", "approvals", "approve", "AP-1", "--yes"},
	{"countersign", "audit", "verify"},
	{"countersign", "demo", "reset"},
	{"countersign-mcp"},
	{"countersign-mcp", "--demo"},
}

// A database that can't be used is refused by every command, in one line that
// names the file and the reason, and nothing is created or changed.
func TestUnusableDatabase(t *testing.T) {
	const missing, foreign, broken, key = "there is no database here", "this is not a Countersign database",
		"this database is damaged", "the installation's key can't be used"
	for name, test := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"folder":  {func(t *testing.T, path string) { put(t, filepath.Join(path, "a"), "b") }, foreign},
		"empty":   {func(t *testing.T, path string) { put(t, path, "") }, foreign},
		"text":    {func(t *testing.T, path string) { put(t, path, strings.Repeat("only text\n", 1000)) }, foreign},
		"short":   {func(t *testing.T, path string) { put(t, path, "SQLite format 3\x00") }, foreign},
		"another": {another, foreign},
		"another program's, of our version": {func(t *testing.T, path string) {
			another(t, path)
			sqlite(t, path, "pragma user_version = 2")
		}, foreign},
		"newer": {func(t *testing.T, path string) {
			demoAt(t, path, nil)
			sqlite(t, path, "pragma user_version = 999")
		}, "this database was written by a newer Countersign"},
		"cut off": {func(t *testing.T, path string) {
			demoAt(t, path, func(b []byte) []byte { return b[:8192] })
		}, broken},
		"garbage behind the header": {func(t *testing.T, path string) {
			demoAt(t, path, func(b []byte) []byte {
				for i := 100; i < len(b); i++ {
					b[i] = byte(i*7 + i>>8)
				}
				return b
			})
		}, broken},
		"garbage behind the first page": {func(t *testing.T, path string) {
			demoAt(t, path, func(b []byte) []byte {
				for i := 4096; i < len(b); i++ {
					b[i] = byte(i*7 + i>>8)
				}
				return b
			})
		}, broken},
		"no key":  {func(t *testing.T, path string) { demoAt(t, path, nil); remove(t, store.KeyPath(path)) }, key},
		"odd key": {func(t *testing.T, path string) { demoAt(t, path, nil); put(t, store.KeyPath(path), "00ff\n") }, key},
		"no hex": {func(t *testing.T, path string) {
			demoAt(t, path, nil)
			put(t, store.KeyPath(path), strings.Repeat("xy", 32))
		}, key},
		"a parent": {func(t *testing.T, path string) { put(t, filepath.Dir(path), "a file where a folder should be") }, ""},
		"missing":  {nil, missing},
	} {
		for _, command := range opening {
			t.Run(name+"/"+strings.Join(command, " "), func(t *testing.T) {
				creates := strings.Contains(strings.Join(command, " "), "demo")
				if test.make == nil && creates {
					t.Skip("a missing demo database is made")
				}
				t.Parallel()
				folder := t.TempDir()
				path := filepath.Join(folder, "in", "shop.db")
				if test.make == nil {
					path = filepath.Join(folder, "nowhere", "shop.db")
				} else {
					test.make(t, path)
				}
				before := snapshot(t, folder)
				r := run(t, program(t, command[0], []string{"COUNTERSIGN_DB=" + path}, command[1:]...))
				refused(t, r, path, test.want)
				if diff := cmp.Diff(before, snapshot(t, folder)); diff != "" {
					t.Errorf("something changed: -before +after\n%s", diff)
				}
			})
		}
	}
}

// another makes another program's database.
func another(t *testing.T, path string) {
	t.Helper()
	put(t, path, "")
	remove(t, path)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table notes (text); insert into notes values ('mine')"); err != nil {
		t.Fatal(err)
	}
}

func sqlite(t *testing.T, path, statements string) {
	t.Helper()
	if err := runSQL(path, statements); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// What nobody may write is refused to a user who isn't root: the file, its
// folder, or both.
func TestReadOnlyDatabase(t *testing.T) {
	for name, modes := range map[string]struct{ file, folder os.FileMode }{
		"file":        {0o444, 0o777},
		"folder":      {0o666, 0o555},
		"both":        {0o444, 0o555},
		"unreadable":  {0o000, 0o777},
		"locked away": {0o666, 0o000},
	} {
		for _, command := range opening {
			t.Run(name+"/"+strings.Join(command, " "), func(t *testing.T) {
				t.Parallel()
				folder := publicFolder(t)
				path := filepath.Join(folder, "in", "shop.db")
				demoAt(t, path, nil)
				for file, mode := range map[string]os.FileMode{store.KeyPath(path): 0o444, path: modes.file, filepath.Dir(path): modes.folder} {
					if err := os.Chmod(file, mode); err != nil {
						t.Fatal(err)
					}
				}
				t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) }) // or it can't be removed
				before := map[string]string{}
				if os.Getuid() == 0 {
					before = snapshot(t, folder)
				}
				cmd := program(t, command[0], []string{"COUNTERSIGN_DB=" + path}, command[1:]...)
				asNobody(cmd)
				refused(t, run(t, cmd), path, "this database, or its folder, can't be written to")
				if os.Getuid() == 0 {
					if diff := cmp.Diff(before, snapshot(t, folder)); diff != "" {
						t.Errorf("something changed: -before +after\n%s", diff)
					}
				}
			})
		}
	}
}

// publicFolder is a temporary folder that every user may enter.
func publicFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "countersign-public-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// A database that another process keeps to itself is refused after the busy
// timeout; one that is only being written to can be read.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	demoAt(t, path, nil)
	sqlite(t, path, "pragma journal_mode = delete") // where an exclusive lock also keeps readers out
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("begin exclusive"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, command := range opening {
		wg.Go(func() {
			r := run(t, program(t, command[0], []string{"COUNTERSIGN_DB=" + path}, command[1:]...))
			refused(t, r, path, "another process holds this database")
		})
	}
	wg.Wait()
}

// Another process that writes for longer than anyone waits: readers go on,
// a writer gives up and nothing is half done.
func TestBusyDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	demoAt(t, path, nil)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("begin exclusive"); err != nil {
		t.Fatal(err)
	}
	env := []string{"COUNTERSIGN_DB=" + path}
	if r := run(t, program(t, "countersign", env, "approvals", "list")); r.code != 0 {
		t.Errorf("reading: %+v", r)
	}
	refused(t, run(t, program(t, "countersign", env, "approvals", "approve", "AP-1", "--yes")), path, "another process holds this database")
	if r := run(t, program(t, "countersign", env, "doctor")); r.code != 1 || !strings.Contains(r.stdout, "another process is writing") {
		t.Errorf("doctor: %+v", r)
	}
	if _, err := db.Exec("rollback"); err != nil {
		t.Fatal(err)
	}
	if r := run(t, program(t, "countersign", env, "approvals", "approve", "AP-1", "--yes")); r.code != exitNotFound {
		t.Errorf("afterwards: %+v", r)
	}
}

// Odd names of files and folders work, given as they are or relative.
func TestOddPaths(t *testing.T) {
	for _, name := range []string{
		"a b/c d.db", "was?/50%.db", "#1/%41&x=y+z;.db", "Käse/ﬁñ 日本.db", "-dash/-db", "'quote\"/$HOME`.db", "tab\t/new.db", "😀.db", "shop",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path := filepath.Join(folder, name)
			server := program(t, "countersign-mcp", nil, "--demo", "--db="+name)
			server.Dir = folder
			if r := run(t, server); r.code != 0 || r.stdout != "" {
				t.Fatalf("server: %+v", r)
			}
			var want []string
			for dir := name; dir != "."; dir = filepath.Dir(dir) {
				want = append(want, dir)
			}
			want = append(want, ".", name+".key")
			for found := range snapshot(t, folder) {
				if !strings.HasSuffix(found, ".lock") && !slices.Contains(want, found) {
					t.Errorf("a file that nobody asked for: %q", found)
				}
			}
			cli := program(t, "countersign", []string{"COUNTERSIGN_DB=" + name}, "audit", "verify")
			cli.Dir = folder
			if r := run(t, cli); r.code != 0 || r.stderr != "" {
				t.Errorf("cli: %+v", r)
			}
			gone := program(t, "countersign", nil, "--db", filepath.Join("gone", name), "audit", "verify")
			gone.Dir = folder
			refused(t, run(t, gone), filepath.Join(folder, "gone", name), "create one with: countersign init --db ")
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// The server needs neither a home nor a working directory that it may write to.
func TestServerInTheRootFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.db")
	demoAt(t, path, nil)
	server := program(t, "countersign-mcp", []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_TOKEN=" + fixtures.StaffToken,
		"COUNTERSIGN_CUSTOMER=C-1001", "COUNTERSIGN_LOG=warn"})
	server.Dir = "/"
	if r := run(t, server); r.code != 0 || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"countersign-mcp", "countersign"} {
		cmd := program(t, name, nil)
		if name == "countersign" {
			cmd = program(t, name, nil, "approvals", "list")
		}
		cmd.Dir = "/"
		refused(t, run(t, cmd), "no home folder is set", "--db")
	}
}

// A key from outside needs no file; a malformed one is told without being shown.
func TestKeyFromOutside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.db")
	demoAt(t, path, nil)
	key, err := os.ReadFile(store.KeyPath(path))
	if err != nil {
		t.Fatal(err)
	}
	remove(t, store.KeyPath(path))
	env := []string{"COUNTERSIGN_DB=" + path, "COUNTERSIGN_KEY=" + strings.TrimSpace(string(key))}
	if r := run(t, program(t, "countersign", env, "audit", "verify")); r.code != 0 {
		t.Errorf("%+v", r)
	}
	other := strings.Repeat("0123456789abcdef", 4)
	env[1] = "COUNTERSIGN_KEY=" + other
	for _, name := range []string{"countersign", "countersign-mcp"} {
		args := map[string][]string{"countersign": {"audit", "verify"}}[name]
		r := run(t, program(t, name, env, args...))
		refused(t, r, path, "made or last rotated with another key than the one in COUNTERSIGN_KEY")
		if strings.Contains(r.stderr, other) {
			t.Errorf("the key is shown: %q", r.stderr)
		}
	}
	env[1] = "COUNTERSIGN_KEY=s3cret"
	for _, name := range []string{"countersign", "countersign-mcp"} {
		args := map[string][]string{"countersign": {"audit", "verify"}}[name]
		r := run(t, program(t, name, env, args...))
		refused(t, r, path, "COUNTERSIGN_KEY doesn't hold 32 bytes in hex")
		if strings.Contains(r.stderr, "s3cret") {
			t.Errorf("the key is shown: %q", r.stderr)
		}
	}
	if _, err := os.Stat(store.KeyPath(path)); err == nil {
		t.Error("a key file was made")
	}
}
