package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// pool hands out connections one user at a time, first come first served, and
// keeps each one's prepared statements. database/sql alone would wake waiters
// in random order and prepare anew in every transaction.
type pool struct {
	db      *sql.DB
	free    chan *conn // a nil conn is one that isn't open yet
	watcher func(statement string)
}

// conn is one connection and its statements by their text.
type conn struct {
	sql     *sql.Conn
	stmts   map[string]*sql.Stmt
	watcher func(statement string) // nil: nobody watches
}

func newPool(dsn string, size int, watcher func(statement string)) (*pool, error) {
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	p := &pool{db: db, free: make(chan *conn, size), watcher: watcher}
	for range size {
		p.free <- nil
	}
	return p, nil
}

// waitFor is how long a user waits for a connection that others of this process
// use: longer than one of them waits for another process, so that many who wait
// for the same one give up together.
const waitFor = 2 * queueFor

// get waits for a free connection, and returns [ErrLocked] after waitFor. Each
// get without an error is followed by one put.
func (p *pool) get() (*conn, error) {
	var c *conn
	select {
	case c = <-p.free:
	default:
		timer := time.NewTimer(waitFor)
		defer timer.Stop()
		select {
		case c = <-p.free:
		case <-timer.C:
			return nil, ErrLocked
		}
	}
	if c != nil {
		return c, nil
	}
	sqlConn, err := p.db.Conn(context.Background())
	if err != nil {
		p.free <- nil
		return nil, err
	}
	return &conn{sql: sqlConn, stmts: map[string]*sql.Stmt{}, watcher: p.watcher}, nil
}

// put gives a connection back after use that ended with err. One that couldn't
// write is closed: SQLite opens a file for reading alone where it must, and that
// connection wouldn't notice when the file is writable again.
func (p *pool) put(c *conn, err error) {
	if errors.Is(err, ErrReadOnly) {
		c.drop()
		c = nil
	}
	p.free <- c
}

// close waits until every connection is free and closes them.
func (p *pool) close() error {
	var errs []error
	for range cap(p.free) {
		if c := <-p.free; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
}

// close gives the connection back to database/sql, which closes it at last.
func (c *conn) close() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.sql.Close())...)
}

// drop closes the connection at once: database/sql keeps none that it is told
// is bad.
func (c *conn) drop() {
	_ = c.sql.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.close() // of what is closed already
}

func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := c.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := c.sql.PrepareContext(context.Background(), query)
	if err == nil {
		c.stmts[query] = stmt
	}
	return stmt, err
}

// watched tells of a statement, before it runs and after it.
func (c *conn) watched(statement string) {
	if c.watcher != nil {
		c.watcher(statement)
	}
}

func (c *conn) run(statement string) error {
	c.watched(statement)
	defer c.watched(statement)
	stmt, err := c.prepare(statement)
	if err == nil {
		_, err = stmt.Exec()
	}
	return err
}
