package store

import (
	"context"
	"database/sql"
	"errors"
)

// pool hands out connections one user at a time, first come first served, and
// keeps each one's prepared statements. database/sql alone would wake waiters
// in random order and prepare anew in every transaction.
type pool struct {
	db   *sql.DB
	free chan *conn // a nil conn is one that isn't open yet
}

// conn is one connection and its statements by their text.
type conn struct {
	sql   *sql.Conn
	stmts map[string]*sql.Stmt
}

func newPool(dsn string, size int) (*pool, error) {
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	p := &pool{db: db, free: make(chan *conn, size)}
	for range size {
		p.free <- nil
	}
	return p, nil
}

// get waits for a free connection. Each get is followed by one put.
func (p *pool) get() (*conn, error) {
	c := <-p.free
	if c != nil {
		return c, nil
	}
	sqlConn, err := p.db.Conn(context.Background())
	if err != nil {
		p.free <- nil
		return nil, err
	}
	return &conn{sql: sqlConn, stmts: map[string]*sql.Stmt{}}, nil
}

func (p *pool) put(c *conn) { p.free <- c }

// close waits until every connection is free and closes them.
func (p *pool) close() error {
	var errs []error
	for range cap(p.free) {
		if c := <-p.free; c != nil {
			for _, stmt := range c.stmts {
				errs = append(errs, stmt.Close())
			}
			errs = append(errs, c.sql.Close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
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

func (c *conn) run(statement string) error {
	stmt, err := c.prepare(statement)
	if err == nil {
		_, err = stmt.Exec()
	}
	return err
}
