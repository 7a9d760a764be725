// Package store keeps a shop and what was done about it in one SQLite file.
//
// A [DB] is opened once per process. All queries are methods of [View], a
// consistent read, and of [Tx], a write transaction that can also read: nothing
// can be written outside a Tx. It is the only package that knows SQL.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"
)

// ErrReplaced means that another file stands where the opened database was.
var ErrReplaced = errors.New("another file was put in this database's place; restart the programs that have it open")

// DB is an open database file. It is safe for concurrent use.
type DB struct {
	// Audited, if set, is called with each audit row that this process adds, in the
	// order of their sequence, once the row is committed. It must return at once and
	// not use the DB; it is set before several goroutines do.
	Audited func(AuditRow)

	path   string
	file   fs.FileInfo // of the file at path when it was opened; nil: a draft
	keys   *keyring
	now    func() time.Time
	newID  func(prefix string) string
	writer *pool
	reader *pool
	queue  *queue // nil for a file that no other process knows

	outbox    []string
	announced func()
}

// Options replace what a DB takes from outside itself; tests set them.
type Options struct {
	Now   func() time.Time           // the clock; nil: the system's
	NewID func(prefix string) string // makes ids such as "RF-…"; nil: 50 random bits

	// Outbox names the targets that are to be told of each approval, request and
	// ticket added by this process: each gets a [Push] in the same transaction.
	Outbox []string
	// Announced, if set, is called once such a transaction is committed. It must
	// return at once.
	Announced func()

	// Statement, if set, is called with the text of each SQL statement before and
	// after it runs: a test ends the process there.
	Statement func(text string)
}

// Open opens an existing database and brings an older one up to date. The error
// is one of [ErrMissing], [ErrForeign], [ErrNewer], [ErrReadOnly], [ErrLocked],
// [ErrBroken] or [ErrKey], wrapped with the absolute path.
func Open(path string, opts Options) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db, err := open(abs, opts)
	if err != nil {
		return nil, about(abs, err)
	}
	return db, nil
}

func open(path string, opts Options) (*DB, error) {
	if err := inspect(path); err != nil {
		return nil, err
	}
	key, err := loadKey(path)
	if err != nil {
		return nil, err
	}
	db, err := connect(path, key, opts)
	if err != nil {
		return nil, err
	}
	db.queue = &queue{path: path + ".lock"}
	if db.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(fileError(err), db.Close())
	}
	if err := errors.Join(db.migrate(), db.checkKey()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connect makes the DB of path without touching the file: connections open when
// they are first needed.
func connect(path string, key []byte, opts Options) (*DB, error) {
	db := &DB{path: path, keys: newKeyring(path, key), now: opts.Now, newID: opts.NewID,
		outbox: opts.Outbox, announced: opts.Announced}
	if db.now == nil {
		db.now = time.Now
	}
	if db.newID == nil {
		db.newID = randomID
	}
	file := "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=rw&_busy_timeout=5000&_foreign_keys=on"
	var err error
	if db.writer, err = newPool(file+"&_journal_mode=WAL&_synchronous=FULL", 1, logLimit, opts.Statement); err != nil {
		return nil, err
	}
	db.reader, err = newPool(file+"&_query_only=1", 4, "", opts.Statement)
	return db, err
}

// Path returns the absolute path of the database file.
func (db *DB) Path() string { return db.path }

// Key returns the installation's secret key, 32 bytes, as this process knows it:
// what is sealed needs that of [View.Key].
func (db *DB) Key() []byte { return db.keys.known() }

// Now returns the DB's time, in UTC with the precision that rows keep.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

// Close closes the file. The readers go first: the last connection to close is
// the writer, which empties the log into the database.
func (db *DB) Close() error {
	return errors.Join(db.reader.close(), db.writer.close(), db.queue.close())
}

// inPlace returns [ErrMissing] or [ErrReplaced] where the file that was opened no
// longer stands at its path: SQLite would go on with what nobody will find again.
func (db *DB) inPlace() error {
	if db.file == nil {
		return nil
	}
	switch file, err := os.Stat(db.path); {
	case err != nil:
		return about(db.path, fileError(err))
	case !os.SameFile(file, db.file):
		return about(db.path, ErrReplaced)
	}
	return nil
}

// View runs fn on one consistent state of the database.
func (db *DB) View(ctx context.Context, fn func(*View) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := db.reader.get()
	if err != nil {
		return db.classify(err)
	}
	defer func() { db.reader.put(conn, err) }()
	return db.classify(db.read(conn, fn))
}

// Tx runs fn in a write transaction and commits it when fn returns nil. When
// Tx returns an error, nothing that fn wrote has happened. A ctx that is done
// before its turn to write comes stops it; after that the transaction runs to its
// end, because a caller who is gone must not leave half an answer.
func (db *DB) Tx(ctx context.Context, fn func(*Tx) error) error {
	return db.onWriter(ctx, func(conn *conn) error { return db.write(ctx, conn, fn) })
}

// ReadThenWrite runs read as in [DB.View] and then write as in [DB.Tx], both on
// the writer's connection: its cache stays warm, while every commit empties
// those of the readers. Other processes may write between the two.
func (db *DB) ReadThenWrite(ctx context.Context, read func(*View) error, write func(*Tx) error) error {
	return db.onWriter(ctx, func(conn *conn) error {
		if err := db.read(conn, read); err != nil {
			return err
		}
		return db.write(ctx, conn, write)
	})
}

func (db *DB) onWriter(ctx context.Context, fn func(*conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := db.writer.get()
	if err != nil {
		return db.classify(err)
	}
	defer func() { db.writer.put(conn, err) }()
	return db.classify(fn(conn))
}

func (db *DB) read(conn *conn, fn func(*View) error) error {
	if err := conn.run("begin"); err != nil {
		return err
	}
	defer conn.run("rollback") // a read has nothing to commit
	return fn(&View{Now: db.Now(), conn: conn, keys: db.keys})
}

// write runs fn in a transaction and then, while this process's next one waits,
// tells of what it did.
func (db *DB) write(ctx context.Context, conn *conn, fn func(*Tx) error) error {
	if err := db.inPlace(); err != nil {
		return err
	}
	tx, err := db.transact(ctx, conn, fn)
	if err != nil {
		return err
	}
	if tx.announces && db.announced != nil {
		db.announced()
	}
	for _, row := range tx.audited {
		if db.Audited != nil {
			db.Audited(row)
		}
	}
	return nil
}

// transact commits what fn does once it is this process's turn, and returns the
// transaction that was.
func (db *DB) transact(ctx context.Context, conn *conn, fn func(*Tx) error) (*Tx, error) {
	defer db.queue.enter()()
	if err := conn.run("begin immediate"); err != nil {
		return nil, err
	}
	committed := false
	defer func() {
		if !committed {
			conn.run("rollback") // also when fn panics
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tx := &Tx{View: View{Now: db.Now(), conn: conn, keys: db.keys}, newID: db.newID, outbox: db.outbox}
	if err := fn(tx); err != nil {
		return nil, err
	}
	if err := conn.run("commit"); err != nil {
		return nil, err
	}
	committed = true
	return tx, nil
}

// randomID returns prefix and ten characters of Crockford's base 32.
func randomID(prefix string) string {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	random := make([]byte, 10)
	rand.Read(random)
	for i, b := range random {
		random[i] = alphabet[b%32]
	}
	return prefix + string(random)
}

// sqliteError returns the driver's error inside err, if there is one.
func sqliteError(err error) (sqlite3.Error, bool) {
	var e sqlite3.Error
	return e, errors.As(err, &e)
}
