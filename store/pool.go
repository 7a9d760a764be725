package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// pool hands out connections one user at a time, first come first served, and
// keeps each one's prepared statements. database/sql alone would wake waiters
// in random order, prepare anew in every transaction, and cost as much as SQLite
// does for a query of one row: here it opens and closes.
type pool struct {
	db      *sql.DB
	used    chan struct{} // has one element for each user
	idle    chan *conn    // open and unused; one more opens only if there is none
	first   string        // the statement that each connection begins with; "": none
	watcher func(statement string)
}

// conn is one connection and its statements by their text.
type conn struct {
	sql     *sql.Conn
	driver  driver.Conn // the same one, past the locks that a user alone doesn't need
	stmts   map[string]*stmt
	watcher func(statement string) // nil: nobody watches
}

func newPool(dsn string, size int, first string, watcher func(statement string)) (*pool, error) {
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	return &pool{db: db, used: make(chan struct{}, size), idle: make(chan *conn, size), first: first, watcher: watcher}, nil
}

// waitFor is how long a user waits for a connection that others of this process
// use: longer than one of them waits for another process, so that many who wait
// for the same one give up together.
const waitFor = 2 * queueFor

// logLimit shortens the log after something large, such as an import, once it
// begins anew: a long one makes each sync take about twice as long. In everyday
// use it has 4 MB and keeps them.
const logLimit = "pragma journal_size_limit = 16777216"

// get waits for a free connection, and returns [ErrLocked] after waitFor. Each
// get without an error is followed by one put.
func (p *pool) get() (*conn, error) {
	select {
	case p.used <- struct{}{}:
	default:
		timer := time.NewTimer(waitFor)
		defer timer.Stop()
		select {
		case p.used <- struct{}{}:
		case <-timer.C:
			return nil, ErrLocked
		}
	}
	select {
	case c := <-p.idle:
		return c, nil
	default:
	}
	c, err := p.open()
	if err != nil {
		<-p.used
	}
	return c, err
}

func (p *pool) open() (*conn, error) {
	sqlConn, err := p.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	if p.first != "" {
		if _, err := sqlConn.ExecContext(context.Background(), p.first); err != nil {
			return nil, errors.Join(err, sqlConn.Close())
		}
	}
	c := &conn{sql: sqlConn, stmts: map[string]*stmt{}, watcher: p.watcher}
	_ = sqlConn.Raw(func(driverConn any) error { // it was just opened
		c.driver = driverConn.(driver.Conn)
		return nil
	})
	return c, nil
}

// put gives a connection back after use that ended with err. One that couldn't
// write is closed: SQLite opens a file for reading alone where it must, and that
// connection wouldn't notice when the file is writable again.
func (p *pool) put(c *conn, err error) {
	if errors.Is(err, ErrReadOnly) {
		c.drop()
	} else {
		p.idle <- c
	}
	<-p.used
}

// close waits until nobody uses a connection and closes them. Who comes later gets
// an error at once.
func (p *pool) close() error {
	for range cap(p.used) {
		p.used <- struct{}{}
	}
	var errs []error
	for range len(p.idle) {
		errs = append(errs, (<-p.idle).close())
	}
	errs = append(errs, p.db.Close())
	for range cap(p.used) {
		<-p.used
	}
	return errors.Join(errs...)
}

// close gives the connection back to database/sql, which closes it at last.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.sql.Close())...)
}

// drop closes the connection at once: database/sql keeps none that it is told
// is bad.
func (c *conn) drop() {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	_ = c.sql.Raw(func(any) error { return driver.ErrBadConn })
}

// stmt is a prepared statement, and room for what goes in and comes out.
type stmt struct {
	driverStmt
	args []driver.NamedValue
	row  row
}

// driverStmt takes its arguments as the driver keeps them, with no copy between.
type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// ready returns the prepared statement of a query with args in place.
func (c *conn) ready(query string, args []any) (*stmt, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	if len(args) != len(s.args) {
		return nil, fmt.Errorf("%d arguments for a statement with %d", len(args), len(s.args))
	}
	for i, arg := range args {
		if s.args[i].Value, err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// lasting makes a statement's plan independent of the values that it is given. The
// driver clears these before each use, and SQLite prepares a statement anew then
// if it looked at one of them; at an expression it doesn't look.
var lasting = strings.NewReplacer("= ?", "= +?", "limit ?", "limit +?")

func (c *conn) prepare(query string) (*stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	prepared, err := c.driver.Prepare(lasting.Replace(query))
	if err != nil {
		return nil, err
	}
	s := &stmt{driverStmt: prepared.(driverStmt), args: make([]driver.NamedValue, prepared.NumInput())}
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	c.stmts[query] = s
	return s, nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	c.watched(query)
	defer c.watched(query)
	s, err := c.ready(query, args)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query calls each for the rows of a query; a row holds until each returns.
func (c *conn) query(query string, args []any, each func(row) error) error {
	c.watched(query)
	defer c.watched(query)
	s, err := c.ready(query, args)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	defer rows.Close() // its error can only be the one of Next once more
	if s.row == nil {
		s.row = make(row, len(rows.Columns()))
	}
	for {
		if err := rows.Next(s.row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(s.row); err != nil {
			return err
		}
	}
}

// watched tells of a statement, before it runs and after it.
func (c *conn) watched(statement string) {
	if c.watcher != nil {
		c.watcher(statement)
	}
}

func (c *conn) run(statement string) error {
	_, err := c.exec(statement)
	return err
}
