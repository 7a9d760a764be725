package store

import (
	"errors"
	"fmt"
	"time"
)

// A Ticket hands a conversation to the shop's people.
type Ticket struct {
	Seq        int64
	ID         string
	Customer   string // key
	OrderID    string // "" where it is about no order
	Category   string
	Priority   string // low, normal, high or urgent
	Summary    string
	SummaryKey string // equal for the same text, however it is cased and spaced
	Previous   string // the closed ticket it follows, or ""
	State      string // open or closed
	FiledBy    string
	Created    time.Time
	Closed     time.Time
	Replies    []Reply // oldest first
}

// A Reply is what an operator wrote on a ticket.
type Reply struct {
	By      string // the operator's name
	Body    string
	Created time.Time
}

const selectTickets = `select seq, id, customer, coalesce(order_id, ''), category, priority, summary, summary_key,
	coalesce(previous_ticket, ''), state, filed_by, created_at, closed_at from tickets where `

func (v *View) tickets(where string, args ...any) (tickets []Ticket, err error) {
	err = v.rows(selectTickets+where, args, func(rows scanner) error {
		var t Ticket
		defer func() { tickets = append(tickets, t) }()
		return rows.Scan(&t.Seq, &t.ID, &t.Customer, &t.OrderID, &t.Category, &t.Priority, &t.Summary, &t.SummaryKey,
			&t.Previous, &t.State, &t.FiledBy, into(&t.Created), into(&t.Closed))
	})
	if err != nil {
		return nil, err
	}
	for i := range tickets {
		if tickets[i].Replies, err = v.replies(tickets[i].ID); err != nil {
			return nil, err
		}
	}
	return tickets, nil
}

func (v *View) replies(ticketID string) (replies []Reply, err error) {
	err = v.rows(`select p.name, r.body, r.created_at from ticket_replies r join principals p on p.id = r.written_by
		where r.ticket_id = ? order by r.seq`, []any{ticketID}, func(rows scanner) error {
		var r Reply
		defer func() { replies = append(replies, r) }()
		return rows.Scan(&r.By, &r.Body, into(&r.Created))
	})
	return replies, err
}

// Ticket returns the ticket of an id, whoever's it is. It is for operators.
func (v *View) Ticket(id string) (Ticket, error) {
	return first(v.tickets("id = ?", id))
}

// CustomersTicket returns customer's own ticket of an id, open or closed. An
// unknown id gives [ErrNotFound], another customer's [ErrForeignID].
func (v *View) CustomersTicket(customer, id string) (Ticket, error) {
	t, err := first(v.tickets("id = ? and customer = ?", id, customer))
	if errors.Is(err, ErrNotFound) {
		err = v.foreign("select 1 from tickets where id = ?", id)
	}
	return t, err
}

// Tickets returns tickets in the order they were filed; only open ones, or all.
func (v *View) Tickets(all bool) ([]Ticket, error) {
	if all {
		return v.tickets("true order by seq")
	}
	return v.tickets("state = 'open' order by seq")
}

// TicketsSince returns tickets, open and closed, in the order they were filed.
func (v *View) TicketsSince(s Since) ([]Ticket, error) {
	return v.tickets("seq > ? and created_at >= ? order by seq", s.Seq, s.from())
}

// TicketsOfOrder returns the tickets about an order, oldest first.
func (v *View) TicketsOfOrder(orderID string) ([]Ticket, error) {
	return v.tickets("order_id = ? order by seq", orderID)
}

// TicketsOfCustomer returns a customer's open tickets and then those that were
// closed since a moment, both newest first, at most limit.
func (v *View) TicketsOfCustomer(customer string, since time.Time, limit int) ([]Ticket, error) {
	return v.tickets(`customer = ? and (state = 'open' or closed_at > ?)
		order by state = 'open' desc, seq desc limit ?`, customer, stamp(since), limit)
}

// LastTicket returns the customer's newest ticket about an order ("" for none)
// with this summary key, open or closed.
func (v *View) LastTicket(customer, orderID, summaryKey string) (Ticket, error) {
	return first(v.tickets(`customer = ? and coalesce(order_id, '') = ? and summary_key = ?
		order by seq desc limit 1`, customer, orderID, summaryKey))
}

// AddTicket files t. ID and Created are filled in and the state is open.
func (tx *Tx) AddTicket(t Ticket) (Ticket, error) {
	t.ID, t.Created, t.State = tx.NewID("TK-"), tx.Now, "open"
	err := tx.execOne(`insert into tickets (id, customer, order_id, category, priority, summary, summary_key,
		previous_ticket, state, filed_by, created_at)
		values (?, ?, nullif(?, ''), ?, ?, ?, ?, nullif(?, ''), ?, ?, ?)`,
		t.ID, t.Customer, t.OrderID, t.Category, t.Priority, t.Summary, t.SummaryKey,
		t.Previous, t.State, t.FiledBy, stamp(t.Created))
	if err != nil {
		return t, fmt.Errorf("ticket: %w", err)
	}
	return t, tx.announce(t.ID)
}

// RaiseTicket sets a ticket's priority.
func (tx *Tx) RaiseTicket(id, priority string) error {
	return tx.execOne("update tickets set priority = ? where id = ?", priority, id)
}

// CloseTicket closes an open ticket and reports false where it was closed already.
func (tx *Tx) CloseTicket(id string) (bool, error) {
	n, err := tx.exec("update tickets set state = 'closed', closed_at = ? where id = ? and state = 'open'", stamp(tx.Now), id)
	return n == 1, err
}

// AddReply writes an operator's reply on a ticket.
func (tx *Tx) AddReply(ticketID, principalID, body string) error {
	return tx.execOne("insert into ticket_replies (ticket_id, written_by, body, created_at) values (?, ?, ?, ?)",
		ticketID, principalID, body, stamp(tx.Now))
}

// first returns the only or first of found, or [ErrNotFound].
func first[T any](found []T, err error) (T, error) {
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
}
