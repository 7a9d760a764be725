package store

import (
	"fmt"
	"time"
)

// Kinds of what starts to wait.
const (
	KindApproval = "approval"
	KindRequest  = "request"
	KindTicket   = "ticket"
)

// A Push is to tell a target that something starts to wait. It holds nothing
// that a person or a model wrote.
type Push struct {
	Seq      int64
	Target   string
	Queued   time.Time
	Due      time.Time // no process tries it before
	Attempts int

	ID       string // of what waits
	Kind     string
	Tool     string
	Category string // of a ticket: one of its tool's; else ""
	Priority string // as tickets have it
	Created  time.Time
	Expires  time.Time // zero for a ticket
	Waits    bool      // still, as of the reading
}

// announce puts a push for each target into the outbox.
func (tx *Tx) announce(id string) error {
	for _, target := range tx.outbox {
		err := tx.execOne("insert into outbox (subject, target, created_at, due_at) values (?, ?, ?, ?)",
			id, target, stamp(tx.Now), stamp(tx.Now))
		if err != nil {
			return fmt.Errorf("push of %s: %w", id, err)
		}
		tx.announces = true
	}
	return nil
}

// DuePush returns the push of a target that may be tried now and has been due
// longest, or [ErrNotFound].
func (v *View) DuePush(target string) (Push, error) {
	const query = `select o.seq, o.target, o.created_at, o.due_at, o.attempts, o.subject, coalesce(a.tool, ?1), coalesce(t.category, ''),
		coalesce(t.priority, 'normal'), coalesce(a.created_at, t.created_at, o.created_at), a.expires_at,
		coalesce(a.state = 'pending' and a.expires_at > ?3, t.state = 'open', false)
		from outbox o left join approvals a on a.id = o.subject left join tickets t on t.id = o.subject
		where o.target = ?2 and o.due_at <= ?3 order by o.due_at, o.seq limit 1`
	return first(v.pushes(query, TicketTool, target, stamp(v.Now)))
}

func (v *View) pushes(query string, args ...any) (pushes []Push, err error) {
	err = v.rows(query, args, func(rows scanner) error {
		var p Push
		err := rows.Scan(&p.Seq, &p.Target, into(&p.Queued), into(&p.Due), &p.Attempts, &p.ID, &p.Tool, &p.Category,
			&p.Priority, into(&p.Created), into(&p.Expires), &p.Waits)
		switch p.Tool {
		case TicketTool:
			p.Kind = KindTicket
		case RequestTool:
			p.Kind = KindRequest
		default:
			p.Kind = KindApproval
		}
		pushes = append(pushes, p)
		return err
	})
	return pushes, err
}

// NextPush returns when the next push of a target may be tried, or [ErrNotFound]
// where there is none.
func (v *View) NextPush(target string) (due time.Time, err error) {
	err = v.row("select min(due_at) from outbox where target = ?", []any{target}, into(&due))
	if err == nil && due.IsZero() {
		err = ErrNotFound
	}
	return due, err
}

// UndeliveredPushes counts the pushes queued since a moment that aren't
// delivered, and returns when the oldest was queued.
func (v *View) UndeliveredPushes(since time.Time) (n int64, oldest time.Time, err error) {
	err = v.row("select count(*), min(created_at) from outbox where created_at >= ?", []any{Since{Time: since}.from()}, &n, into(&oldest))
	return n, oldest, err
}

// PutOffPush lets a claimed push be tried again from a moment on.
func (tx *Tx) PutOffPush(p Push, due time.Time) error {
	_, err := tx.exec("update outbox set due_at = ? where seq = ? and subject = ? and due_at = ?", stamp(due), p.Seq, p.ID, stamp(p.Due))
	return err // another process may have claimed it since: then it is that one's
}

// RemovePush takes a push out of the outbox: delivered, or not worth it any more.
func (tx *Tx) RemovePush(p Push) error {
	_, err := tx.exec("delete from outbox where seq = ? and subject = ?", p.Seq, p.ID)
	return err
}

// TakePush claims the due push of a target, if there is one that is worth it: no
// other process tries it until a moment. Those that aren't go: what doesn't wait any more, and what was
// queued before oldest. It returns [ErrNotFound] where none is due.
func (tx *Tx) TakePush(target string, until, oldest time.Time) (Push, error) {
	for {
		p, err := tx.DuePush(target)
		if err != nil {
			return p, err
		}
		if !p.Waits || p.Queued.Before(oldest) {
			if err := tx.RemovePush(p); err != nil {
				return p, err
			}
			continue
		}
		was := p.Due
		p.Due, p.Attempts = until.UTC().Truncate(time.Microsecond), p.Attempts+1
		return p, tx.execOne("update outbox set due_at = ?, attempts = ? where seq = ? and due_at = ?", stamp(p.Due), p.Attempts, p.Seq, stamp(was))
	}
}
