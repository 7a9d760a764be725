package settle

import (
	"context"
	"errors"

	"countersign/policy"
	"countersign/store"
)

// Reply writes an operator's reply on an open ticket; the agent reads it.
func (o *Office) Reply(ctx context.Context, id, text string) (store.Ticket, error) {
	return o.onTicket(ctx, "tickets reply", id, func(s *Session, t store.Ticket) error {
		if t.State != "open" {
			return closedAlready(t)
		}
		return s.AddReply(t.ID, s.Operator.ID, text)
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
