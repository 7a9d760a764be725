package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"countersign/store"
	"countersign/store/storetest"
)

// files are the names in a folder.
func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestCreateKeepsToItsUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "shop.db")
	if err := store.Create(path, store.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]os.FileMode{
		path: 0o600, store.KeyPath(path): 0o600, filepath.Dir(path): 0o700 | os.ModeDir, filepath.Dir(filepath.Dir(path)): 0o700 | os.ModeDir,
	} {
		if info, err := os.Stat(file); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", file, info.Mode(), err, want)
		}
	}
	if names := files(t, filepath.Dir(path)); len(names) != 2 {
		t.Errorf("left in the folder: %v", names)
	}
}

// A seed that fails, by an error or a panic, leaves no database and no draft.
func TestCreateOrNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "shop.db")
	fault := errors.New("the seed was bad")
	if err := store.Create(path, store.Options{}, func(*store.Tx) error { return fault }); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	for _, name := range files(t, folder) {
		if name != "shop.db.key" {
			t.Errorf("left behind: %s", name)
		}
	}
	if err := store.Create(path, store.Options{}, nil); err != nil {
		t.Errorf("a second try: %v", err)
	}
}

// Whatever stands at the path stays as it is.
func TestCreateLeavesWhatStands(t *testing.T) {
	folder := t.TempDir()
	for name, prepare := range map[string]func(path string) error{
		"file":     func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"empty":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"dangling": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		path := filepath.Join(folder, name)
		if err := prepare(path); err != nil {
			t.Fatal(err)
		}
		if err := store.Create(path, store.Options{}, nil); !errors.Is(err, store.ErrExists) {
			t.Errorf("%s: %v, want ErrExists", name, err)
		}
	}
	if names := files(t, folder); len(names) != 4 {
		t.Errorf("in the folder: %v", names)
	}
}

// What is left of a database that was there would become part of a new one.
func TestCreateRefusesALeftLog(t *testing.T) {
	db := storetest.New(t)
	path := created(t)
	if _, err := keepLog(t, path, "create table theirs (n)"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := store.Create(path, store.Options{}, nil); !errors.Is(err, store.ErrLeftover) {
		t.Errorf("a new one: %v, want ErrLeftover", err)
	}
	if _, err := db.Backup(t.Context(), path, nil); !errors.Is(err, store.ErrLeftover) {
		t.Errorf("a backup: %v, want ErrLeftover", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("it was made nevertheless")
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if err := store.Create(path, store.Options{}, nil); err != nil {
		t.Errorf("without the log: %v", err)
	}
}

// A key that stands already is taken: it may be all that a killed process left,
// or a backup of the one that the database will need again.
func TestCreateTakesTheKeyThatStands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	const key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	if err := os.WriteFile(store.KeyPath(path), []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Create(path, store.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := db.Key(); len(got) != 32 || got[1] != 0x11 {
		t.Errorf("key %x", got)
	}

	other := filepath.Join(t.TempDir(), "shop.db")
	if err := os.WriteFile(store.KeyPath(other), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Create(other, store.Options{}, nil); !errors.Is(err, store.ErrKey) {
		t.Errorf("a malformed key: %v, want ErrKey", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("the database was made with a malformed key")
	}
}

func TestRebuildIsForDemosAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	keep := func(tx *store.Tx) error { return tx.SetSetting("mine", "kept") }
	if err := store.Create(path, store.Options{}, keep); err != nil {
		t.Fatal(err)
	}
	if err := store.RebuildDemo(path, store.Options{}, func(*store.Tx) error { return nil }); !errors.Is(err, store.ErrNotDemo) {
		t.Errorf("got %v, want ErrNotDemo", err)
	}
	setting := func(name string) (value string) {
		t.Helper()
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		err = db.View(context.Background(), func(v *store.View) (err error) {
			value, err = v.Setting(name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	if got := setting("mine"); got != "kept" {
		t.Errorf("the setting is %q", got)
	}

	demo := func(text string, fault error) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			return errors.Join(tx.SetSetting(store.SettingDemo, text), fault)
		}
	}
	path = filepath.Join(t.TempDir(), "demo.db")
	if err := store.Create(path, store.Options{}, demo("first", nil)); err != nil {
		t.Fatal(err)
	}
	if err := store.RebuildDemo(path, store.Options{}, demo("second", errors.New("no"))); err == nil {
		t.Error("a failed rebuilding was told as done")
	}
	if got := setting(store.SettingDemo); got != "first" {
		t.Errorf("after a failed rebuilding: %q", got)
	}
	if err := store.RebuildDemo(path, store.Options{}, demo("third", nil)); err != nil {
		t.Fatal(err)
	}
	if got := setting(store.SettingDemo); got != "third" {
		t.Errorf("after a rebuilding: %q", got)
	}
}
