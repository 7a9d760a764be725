package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"countersign/store"
)

// large returns an open database of many pages, in which a setting says "before".
func large(t *testing.T) *store.DB {
	t.Helper()
	path := created(t)
	behind(t, path, `create table ballast (filler blob);
		insert into ballast with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)
		select randomblob(4000) from n`)
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	set(t, db, "moment", "before")
	return db
}

func set(t *testing.T, db *store.DB, name, value string) {
	t.Helper()
	err := db.Tx(context.Background(), func(tx *store.Tx) error { return tx.SetSetting(name, value) })
	if err != nil {
		t.Fatal(err)
	}
}

// setting opens a database and returns a setting, once all of it is sound.
func setting(t *testing.T, path, name string) (value string) {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(context.Background(), func(v *store.View) error {
		faults, err := v.Faults(context.Background())
		dangling, err2 := v.Dangling(context.Background())
		if len(faults)+len(dangling) > 0 {
			t.Errorf("%s: %v %v", path, faults, dangling)
		}
		var err3 error
		value, err3 = v.Setting(name)
		return errors.Join(err, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// A backup is the database of one moment, however much is written while it is
// made, and keeps no writer waiting: neither of this process nor of another.
func TestBackupIsOfOneMoment(t *testing.T) {
	db := large(t)
	other, err := store.Open(db.Path(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	path := filepath.Join(t.TempDir(), "copy.db")
	steps, slowest := 0, time.Duration(0)
	copied, err := db.Backup(context.Background(), path, func(done, total int) {
		if steps++; done > total || total < 2000 {
			t.Errorf("%d of %d pages", done, total)
		}
		start := time.Now()
		for _, writer := range []*store.DB{db, other} {
			set(t, writer, "moment", fmt.Sprint("amid step ", steps))
			set(t, writer, fmt.Sprint("filler ", steps), strings.Repeat("x", 100_000)) // pages that move others
		}
		slowest = max(slowest, time.Since(start))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d steps; four writes amid them took %v at most", steps, slowest)
	if steps < 5 {
		t.Errorf("the copy took %d steps: nothing was written amid them", steps)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy has its name already: %v", err)
	}
	if err := copied.Place(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"copy.db", "copy.db.key"}, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("in the folder: -want +got\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != copied.Size || info.Mode() != 0o600 {
		t.Errorf("%v, %v; want %d bytes", info, err, copied.Size)
	}
	keys := [2]string{}
	for i, file := range []string{store.KeyPath(db.Path()), copied.Key} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = string(text)
	}
	if keys[0] != keys[1] {
		t.Error("the copy's key is another")
	}
	if info, err := os.Stat(copied.Key); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if got := setting(t, path, "moment"); got != "before" {
		t.Errorf("the copy is of %q", got)
	}
	if got := setting(t, db.Path(), "moment"); got != fmt.Sprint("amid step ", steps) {
		t.Errorf("the database says %q", got)
	}
}

// A copy on a medium that can't be written to can be read: it needs no files
// beside it.
func TestBackupStandsAlone(t *testing.T) {
	db := large(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	backUp(t, db, path)
	alone, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	var mode, moment string
	err = errors.Join(alone.QueryRow("pragma journal_mode").Scan(&mode),
		alone.QueryRow("select value from settings where name = 'moment'").Scan(&moment))
	if err != nil || mode != "delete" || moment != "before" {
		t.Errorf("mode %q, moment %q, %v", mode, moment, err)
	}
}

func backUp(t *testing.T, db *store.DB, path string) *store.Copy {
	t.Helper()
	copied, err := db.Backup(context.Background(), path, nil)
	if err == nil {
		err = copied.Place()
	}
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

// Whatever stands at the path, or comes there amid the copying, stays as it is.
func TestBackupLeavesWhatStands(t *testing.T) {
	db := large(t)
	for name, put := range map[string]func(path string) error{
		"file":     func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"dangling": func(path string) error { return os.Symlink("nowhere", path) },
		"key":      func(path string) error { return os.WriteFile(store.KeyPath(path), []byte("mine"), 0o600) },
		"other key": func(path string) error {
			return os.WriteFile(store.KeyPath(path), []byte(strings.Repeat("0f", 32)), 0o600)
		},
		"key folder": func(path string) error { return os.Mkdir(store.KeyPath(path), 0o700) },
	} {
		for _, when := range []string{"before", "amid"} {
			path := filepath.Join(t.TempDir(), "copy.db")
			put := sync.OnceValue(func() error { return put(path) })
			if when == "before" {
				if err := put(); err != nil {
					t.Fatal(err)
				}
			}
			copied, err := db.Backup(context.Background(), path, func(int, int) {
				if err := put(); err != nil {
					t.Error(err)
				}
			})
			if when == "amid" && err == nil {
				err = errors.Join(copied.Place(), copied.Discard())
			}
			if !errors.Is(err, store.ErrExists) || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%s, %s: %v, want ErrExists", name, when, err)
			}
			if names := files(t, filepath.Dir(path)); len(names) != 1 {
				t.Errorf("%s, %s: in the folder: %v", name, when, names)
			}
		}
	}
	own := db.Path()
	if _, err := db.Backup(context.Background(), own, nil); !errors.Is(err, store.ErrExists) {
		t.Errorf("onto itself: %v", err)
	}
}

// The key of a backup that was killed between its two names is taken, and isn't
// removed with a copy that didn't make it.
func TestBackupTakesTheKeyThatStands(t *testing.T) {
	db := large(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	text, err := os.ReadFile(store.KeyPath(db.Path()))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store.KeyPath(path), text, 0o600); err != nil {
		t.Fatal(err)
	}
	copied, err := db.Backup(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := copied.Discard(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"copy.db.key"}, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("in the folder: -want +got\n%s", diff)
	}
	backUp(t, db, path)
	setting(t, path, "moment")
}

// A key that the variable holds is written nowhere.
func TestBackupWithTheKeyInTheVariable(t *testing.T) {
	t.Setenv("COUNTERSIGN_KEY", strings.Repeat("0f", 32))
	db := large(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	if copied := backUp(t, db, path); copied.Key != "" {
		t.Errorf("it tells of the key file %s", copied.Key)
	}
	if diff := cmp.Diff([]string{"copy.db"}, files(t, filepath.Dir(path))); diff != "" {
		t.Errorf("in the folder: -want +got\n%s", diff)
	}
	setting(t, path, "moment")
}

// A backup that fails, is interrupted, or is undone after it was placed, leaves
// nothing, and says what was wrong with which file.
func TestBackupOrNothing(t *testing.T) {
	interrupted, stop := context.WithCancel(context.Background())
	for name, test := range map[string]struct {
		make func(db *store.DB, path string) error
		want error
		of   func(db *store.DB, path string) string
	}{
		"interrupted": {func(db *store.DB, path string) error {
			_, err := db.Backup(interrupted, path, func(done, total int) { stop() })
			return err
		}, context.Canceled, toCopy},
		"undone": {func(db *store.DB, path string) error {
			copied, err := db.Backup(context.Background(), path, nil)
			if err == nil {
				err = copied.Place()
			}
			if err != nil {
				return err
			}
			if _, err := os.Stat(path); err != nil {
				return err
			}
			return errors.Join(about(path), copied.Discard())
		}, errUndone, toCopy},
		"taken away": {func(db *store.DB, path string) error {
			if err := os.Rename(db.Path(), db.Path()+".aside"); err != nil {
				return err
			}
			_, err := db.Backup(context.Background(), path, nil)
			return errors.Join(err, os.Rename(db.Path()+".aside", db.Path()))
		}, store.ErrMissing, toDatabase},
		"damaged": {func(db *store.DB, path string) error {
			damage(t, db)
			_, err := db.Backup(context.Background(), path, nil)
			return err
		}, store.ErrBroken, toDatabase},
	} {
		db := large(t)
		path := filepath.Join(t.TempDir(), "copy.db")
		err := test.make(db, path)
		if !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), test.of(db, path)+": ") || strings.Contains(err.Error(), "draft") {
			t.Errorf("%s: %v, want %v of %s", name, err, test.want, test.of(db, path))
		}
		if names := files(t, filepath.Dir(path)); len(names) > 0 {
			t.Errorf("%s: left behind: %v", name, names)
		}
	}
	db := large(t)
	path := filepath.Join(t.TempDir(), "nowhere", "copy.db")
	if _, err := db.Backup(context.Background(), path, nil); err == nil || err.Error() != path+": there is no such folder" {
		t.Errorf("no folder: %v", err)
	}
}

var errUndone = errors.New("undone")

func about(path string) error                     { return fmt.Errorf("%s: %w", path, errUndone) }
func toCopy(_ *store.DB, path string) string      { return path }
func toDatabase(db *store.DB, path string) string { return db.Path() }

// damage overwrites pages of a database's ballast, which nobody reads but the
// checks.
func damage(t *testing.T, db *store.DB) {
	t.Helper()
	behind(t, db.Path(), "pragma wal_checkpoint(truncate)")
	file, err := os.OpenFile(db.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for page := int64(500); page < 520; page++ {
		if _, err := file.WriteAt([]byte(strings.Repeat("damage", 600)), page*4096); err != nil {
			t.Fatal(err)
		}
	}
}

// The checks find what is wrong, and nothing in a sound database.
func TestFaultsAndDangling(t *testing.T) {
	db := large(t)
	look := func() (faults, dangling []string) {
		t.Helper()
		err := db.View(context.Background(), func(v *store.View) (err error) {
			version, err := v.SchemaVersion()
			if version < 2 {
				t.Errorf("version %d", version)
			}
			if err != nil {
				return err
			}
			if faults, err = v.Faults(context.Background()); err != nil {
				return err
			}
			dangling, err = v.Dangling(context.Background())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return faults, dangling
	}
	if faults, dangling := look(); len(faults)+len(dangling) > 0 {
		t.Errorf("in a sound database: %v %v", faults, dangling)
	}
	behind(t, db.Path(), `pragma foreign_keys = off; insert into order_items (order_id, line, sku, title, quantity, unit_price) values ('A-1', 1, 'S', 'Lamp', 1, 1);
		insert into ticket_replies (ticket_id, written_by, body, created_at) values ('TK-1', 'PR-1', 'x', 'x')`)
	want := []string{"order_items refers to what isn't in orders",
		"ticket_replies row 1 refers to what isn't in principals", "ticket_replies row 1 refers to what isn't in tickets"}
	faults, dangling := look()
	if diff := cmp.Diff(want, dangling, cmpopts.SortSlices(strings.Compare)); len(faults) > 0 || diff != "" {
		t.Errorf("faults %v; dangling: -want +got\n%s", faults, diff)
	}
	damage(t, db)
	if faults, _ := look(); len(faults) == 0 || strings.HasPrefix(faults[0], "***") {
		t.Errorf("faults of a damaged file: %v", faults)
	}
	stopped, stop := context.WithCancel(context.Background())
	err := db.View(stopped, func(v *store.View) error {
		stop()
		_, err := v.Faults(stopped)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
