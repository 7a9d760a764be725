package settle

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"countersign/policy"
	"countersign/store"
)

// CheckReply returns an [*Error] for what can't be a reply: one has 1 to 4,000
// characters beside the blanks around it.
func CheckReply(text string) error {
	const most = 4000
	if n := utf8.RuneCountInString(strings.TrimSpace(text)); n == 0 || n > most {
		return invalid("a reply has 1 to %d characters", most)
	}
	return nil
}

// Reply writes an operator's reply on an open ticket, without the blanks around
// it; the agent reads it.
func (o *Office) Reply(ctx context.Context, id, text string) (store.Ticket, error) {
	return o.onTicket(ctx, "tickets reply", id, func(s *Session, t store.Ticket) error {
		if t.State != "open" {
			return closedAlready(t)
		}
		if err := CheckReply(text); err != nil {
			return err
		}
		return s.AddReply(t.ID, s.Operator.ID, strings.TrimSpace(text))
	})
}

// CloseTicket closes an open ticket.
func (o *Office) CloseTicket(ctx context.Context, id string) (store.Ticket, error) {
	return o.onTicket(ctx, "tickets close", id, func(s *Session, t store.Ticket) error {
		closed, err := s.CloseTicket(t.ID)
		if err == nil && !closed {
			err = closedAlready(t)
		}
		return err
	})
}

// onTicket runs work on a ticket and returns it as it stands afterwards.
func (o *Office) onTicket(ctx context.Context, action, id string, work func(*Session, store.Ticket) error) (after store.Ticket, err error) {
	err = o.Do(ctx, action, policy.Manager, func(s *Session) error {
		t, err := s.Ticket(id)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("there is no ticket of this id; see countersign tickets list")
		}
		if err != nil {
			return err
		}
		s.Entry.OrderID, s.Entry.Customer = t.OrderID, t.Customer
		if err := work(s, t); err != nil {
			return err
		}
		after, err = s.Ticket(id)
		return err
	})
	return after, err
}

func closedAlready(t store.Ticket) *Error {
	return conflict(AlreadyClosed, "%s was closed at %s", t.ID, rfc3339(t.Closed))
}
