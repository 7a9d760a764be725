package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// A Copy is a backup that is complete and checked, but under a name of its own
// until [Copy.Place] puts it where it belongs.
type Copy struct {
	Path string // absolute
	Key  string // the file that holds its key; "" where COUNTERSIGN_KEY does
	Size int64  // bytes

	files []*draft // the key first: a database without it can't be opened
}

// draft is a file that waits for its name.
type draft struct {
	name, path string
	placed     bool
}

// Backup copies the database, as it is at one moment, for a file at path, while
// others go on reading and writing: the copy is read in one transaction, which
// in a write-ahead log keeps nobody waiting and sees nothing of what is written
// meanwhile. progress (which may be nil) is told of pages. The error is
// [ErrExists] where a file stands at path, [ErrLeftover] where a log does,
// [ErrBroken] where the database is damaged, or one of those of [Open], wrapped with the path it is about.
func (db *DB) Backup(ctx context.Context, path string, progress func(done, total int)) (_ *Copy, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &Copy{Path: abs}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Discard())
		}
	}()
	if err := vacant(abs); err != nil {
		return nil, about(abs, err)
	}
	if err := db.inPlace(); err != nil {
		return nil, err
	}
	key, err := db.currentKey(ctx)
	if err != nil {
		return nil, about(db.path, err)
	}
	if os.Getenv(keyVariable) == "" {
		c.Key = KeyPath(abs)
		if err := c.draftKey(key); errors.Is(err, ErrExists) {
			return nil, about(c.Key, err)
		} else if err != nil {
			return nil, about(abs, err)
		}
	}
	name, err := c.draft(abs, nil)
	if err != nil {
		return nil, about(abs, err)
	}
	if err := db.copyTo(ctx, name, progress); err != nil {
		return nil, db.aboutCopy(abs, err)
	}
	if err := checkCopy(ctx, name); err != nil {
		return nil, db.aboutCopy(abs, err)
	}
	if c.Size, err = synced(name); err != nil {
		return nil, about(abs, fileError(err))
	}
	if now, err := db.currentKey(ctx); err != nil || !bytes.Equal(now, key) {
		return nil, about(abs, errors.Join(errors.New("the key was rotated meanwhile; back up again"), err))
	}
	return c, nil
}

// aboutCopy names the file that is at fault: what is damaged in the copy was so
// in the database.
func (db *DB) aboutCopy(path string, err error) error {
	var named sourceError
	switch {
	case errors.As(err, &named):
		return named.error
	case errors.Is(classify(err), ErrBroken):
		return about(db.path, err)
	}
	return about(path, err)
}

// sourceError is about the database that is copied, and names it.
type sourceError struct{ error }

// draft makes a file beside path that will have its name, mode 0600.
func (c *Copy) draft(path string, text []byte) (name string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".countersign-*.draft")
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("there is no such folder")
	}
	if err != nil {
		return "", fileError(err)
	}
	c.files = append(c.files, &draft{name: file.Name(), path: path})
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", fileError(err)
	}
	return file.Name(), nil
}

// draftKey writes the copy's key, unless it stands in its place already: that
// may be all that a killed backup left.
func (c *Copy) draftKey(key []byte) error {
	switch text, err := os.ReadFile(c.Key); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return ErrExists
	default:
		if stands, err := decodeKey(string(text), c.Key); err != nil || string(stands) != string(key) {
			return ErrExists
		}
		return nil
	}
	_, err := c.draft(c.Key, []byte(hex.EncodeToString(key)+"\n"))
	return err
}

// Place gives the copy its name, and its key file first. It returns [ErrExists]
// where another file has been put there.
func (c *Copy) Place() error {
	for _, f := range c.files {
		if err := f.place(); err != nil {
			return about(f.path, err)
		}
	}
	folder, err := os.Open(filepath.Dir(c.Path))
	if err != nil {
		return about(c.Path, fileError(err))
	}
	_ = folder.Sync() // not every system can
	return folder.Close()
}

func (f *draft) place() error {
	err := os.Link(f.name, f.path)
	switch {
	case err == nil:
		f.placed = true
		return fileError(os.Remove(f.name))
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	// A file system without links: an empty file keeps the name until it is taken.
	name, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return fileError(err)
	}
	f.placed = true
	return fileError(errors.Join(name.Close(), os.Rename(f.name, f.path)))
}

// Discard removes the copy, whether it was placed or not.
func (c *Copy) Discard() (err error) {
	for _, f := range c.files {
		names := []string{f.name, f.name + "-journal", f.name + "-wal", f.name + "-shm"}
		if f.placed {
			names = append(names, f.path)
		}
		for _, name := range names {
			if fault := os.Remove(name); !errors.Is(fault, fs.ErrNotExist) {
				err = errors.Join(err, fault)
			}
		}
	}
	return err
}

// copyTo fills the file at name with the database's pages.
func (db *DB) copyTo(ctx context.Context, name string, progress func(done, total int)) (err error) {
	if err := db.inPlace(); err != nil {
		return sourceError{err}
	}
	target, err := openCopy(name, "_journal_mode=OFF&_synchronous=OFF") // nothing of it counts before the end
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	to, err := target.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	var fault error
	err = db.View(ctx, func(v *View) error {
		if _, err := v.schemaVersion(); err != nil { // reading starts here, and lasts for all steps
			return err
		}
		fault = to.Raw(func(to any) error {
			return v.conn.sql.Raw(func(from any) error {
				return copyPages(ctx, to.(*sqlite3.SQLiteConn), from.(*sqlite3.SQLiteConn), progress)
			})
		})
		return nil
	})
	if err != nil {
		return sourceError{err}
	}
	return fault
}

func copyPages(ctx context.Context, to, from *sqlite3.SQLiteConn, progress func(done, total int)) error {
	const atOnce = 256 // pages, until it looks whether it is still wanted
	job, err := to.Backup("main", from, "main")
	if err != nil {
		return err
	}
	for done, left := false, -1; !done && err == nil; left = job.Remaining() {
		if err = ctx.Err(); err != nil {
			break
		}
		done, err = job.Step(atOnce)
		if !done && err == nil && job.Remaining() == left {
			err = ErrLocked // it says so by doing nothing
		}
		if progress != nil {
			progress(job.PageCount()-job.Remaining(), job.PageCount())
		}
	}
	err = errors.Join(err, job.Finish())
	if e, ok := sqliteError(err); ok {
		return sqlite3.Error{Code: e.Code & 0xff} // a step gives the extended code
	}
	return err
}

// checkCopy takes the file at name out of the write-ahead mode, which needs
// files beside it, and checks it.
func checkCopy(ctx context.Context, name string) (err error) {
	db, err := openCopy(name, "_journal_mode=DELETE")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, "pragma quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%s: %w", found, ErrBroken)
	}
	return nil
}

func openCopy(name, settings string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: name}).EscapedPath()+"?mode=rw&"+settings)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// synced makes a file survive a power cut and returns its size.
func synced(name string) (size int64, err error) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), file.Sync()
}
