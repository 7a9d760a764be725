package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"countersign/store"
	"countersign/store/storetest"
)

// created returns the path of a new database.
func created(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := store.Create(path, store.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// behind runs statements on a file without the store.
func behind(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// Every reason not to open a file has its own error, which names the file.
func TestOpenRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(path string) error
		want   error
	}{
		"missing":       {os.Remove, store.ErrMissing},
		"no key":        {func(path string) error { return os.Remove(store.KeyPath(path)) }, store.ErrKey},
		"empty":         {func(path string) error { return os.Truncate(path, 0) }, store.ErrForeign},
		"short":         {func(path string) error { return os.Truncate(path, 50) }, store.ErrForeign},
		"cut off":       {func(path string) error { return os.Truncate(path, 4096) }, store.ErrBroken},
		"text":          {func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("text\n", 99)), 0o600) }, store.ErrForeign},
		"other program": {func(path string) error { behind(t, path, "pragma application_id = 7"); return nil }, store.ErrForeign},
		"newer":         {func(path string) error { behind(t, path, "pragma user_version = 99"); return nil }, store.ErrNewer},
		"newer, in the log": {func(path string) error {
			_, err := keepLog(t, path, "pragma user_version = 99")
			return err
		}, store.ErrNewer},
	} {
		path := created(t)
		if err := test.change(path); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(path, store.Options{})
		if err == nil {
			db.Close()
		}
		if !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), path+": ") || strings.Count(err.Error(), path+": ") != 1 {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// keepLog changes a file by a connection that stays open, so that the change is
// in the log alone.
func keepLog(t *testing.T, path, statements string) (*sql.DB, error) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	_, err = db.Exec(statements)
	return db, err
}

// What goes wrong later names the file too.
func TestFaultsNameTheFile(t *testing.T) {
	path := created(t)
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 8 { // on each connection, so that none has to be opened on what is damaged
		err := db.View(context.Background(), func(v *store.View) error {
			_, err := v.Setting("a")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(text); i++ {
		text[i] = byte(i)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	err = db.View(context.Background(), func(v *store.View) error {
		_, err := v.Approvals(true)
		return err
	})
	if want := path + ": " + store.ErrBroken.Error(); err == nil || err.Error() != want || !errors.Is(err, store.ErrBroken) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A database from before the newest migration is brought up to date by whoever
// comes first, and by all who come at once.
func TestOpenMigrates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	first, err := os.ReadFile("migrations/0001_shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	behind(t, path, "pragma journal_mode = wal; pragma application_id = 0x4353676e; pragma user_version = 1;"+string(first))
	if err := os.WriteFile(store.KeyPath(path), []byte(strings.Repeat("0f", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			db, err := store.Open(path, store.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			err = db.View(context.Background(), func(v *store.View) error {
				_, err := v.Approvals(true)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A migration that fails leaves the database as it was.
func TestMigrationOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	first, err := os.ReadFile("migrations/0001_shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	behind(t, path, "pragma journal_mode = wal; pragma application_id = 0x4353676e; pragma user_version = 1;"+string(first)+
		"; create table audit (in_the_way)")
	if err := os.WriteFile(store.KeyPath(path), []byte(strings.Repeat("0f", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := store.Open(path, store.Options{}); err == nil {
		db.Close()
		t.Fatal("it was migrated over a table in the way")
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version, principals int
	err = db.QueryRow("select user_version, (select count(*) from sqlite_schema where name = 'principals') from pragma_user_version").
		Scan(&version, &principals)
	if err != nil || version != 1 || principals != 0 {
		t.Errorf("version %d, %d tables of the migration, %v", version, principals, err)
	}
}

// Who comes after the end hears so at once, instead of waiting for a connection.
func TestClosed(t *testing.T) {
	db, err := store.Open(created(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Error("closing:", err)
		}
	}
	err = db.View(t.Context(), func(*store.View) error { return nil })
	if err == nil || errors.Is(err, store.ErrLocked) {
		t.Error("reading a closed one:", err)
	}
}

// The last to close leaves the file, its key, and no log.
func TestCloseEmptiesTheLog(t *testing.T) {
	path := created(t)
	open := func() *store.DB {
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		put(t, db, func(tx *store.Tx) error { return tx.SetSetting("a", store.FormatTime(tx.Now)) })
		return db
	}
	one, two := open(), open()
	for _, db := range []*store.DB{one, two} {
		if err := db.View(context.Background(), func(v *store.View) error {
			_, err := v.Setting("a")
			return err
		}); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range files(t, filepath.Dir(path)) {
		if strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// The log doesn't stay as long as something large has made it.
func TestLogIsShortened(t *testing.T) {
	db := storetest.New(t)
	addSetting := func(bytes int) {
		t.Helper()
		err := db.Tx(t.Context(), func(tx *store.Tx) error { return tx.SetSetting("large", strings.Repeat("x", bytes)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		t.Helper()
		info, err := os.Stat(db.Path() + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	addSetting(40 << 20)
	if size() < 40<<20 {
		t.Fatalf("the log has %d bytes", size())
	}
	addSetting(1)
	addSetting(2)
	if size() > 17<<20 {
		t.Errorf("the log still has %d bytes", size())
	}
}
