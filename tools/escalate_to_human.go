package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/policy"
	"countersign/store"
)

// EscalateToHumanArgs are the arguments of escalate_to_human.
type EscalateToHumanArgs struct {
	Summary  string `json:"summary" jsonschema:"minLength=10,maxLength=4000" jsonschema_description:"What the customer wants and what was tried."`
	Category string `json:"category" jsonschema:"enum=order,enum=refund,enum=shipping,enum=product,enum=warranty,enum=account,enum=other"`
	Priority string `json:"priority,omitempty" jsonschema:"enum=low,enum=normal,enum=high,enum=urgent,default=normal"`
	OrderID  string `json:"order_id,omitempty" jsonschema:"maxLength=100"`
}

// TicketAnswer is the answer of escalate_to_human.
type TicketAnswer struct {
	TicketID       string `json:"ticket_id"`
	Created        bool   `json:"created"` // false: the same ticket was open already
	Priority       string `json:"priority"`
	PreviousTicket string `json:"previous_ticket_id,omitempty"`
	TellCustomer   string `json:"tell_customer"`
}

const (
	minSummary = 10 // characters

	// sameTicketFor is how long the same text counts as a repeat of an open ticket.
	sameTicketFor = 24 * time.Hour
)

// priorities from the least on.
var priorities = []string{"low", "normal", "high", "urgent"}

var escalateToHuman = define(spec[EscalateToHumanArgs, TicketAnswer]{
	Name:  store.TicketTool,
	Title: "Hand over to a human",
	Description: "Opens a ticket for the shop's people (talk to a person, manager or supervisor; complaint, claim, exception; cancel or exchange an order). Use it for what no other tool does " +
		"or when the customer asks for a human. It promises no outcome; the same text again gives the same ticket.",
	Hint:          "open a ticket, ask a supervisor",
	Role:          policy.Viewer,
	NeedsCustomer: true,
	Idempotent:    true,
	Plan:          planTicket,
})

func planTicket(s *Scope, in EscalateToHumanArgs) (p Plan[TicketAnswer], err error) {
	summary := strings.TrimSpace(in.Summary)
	if utf8.RuneCountInString(plainText(summary)) < minSummary {
		return p, invalid(policy.Problem{Path: "summary", Message: fmt.Sprintf("must say in at least %d characters what is wanted", minSummary)})
	}
	ticket := store.Ticket{
		Customer: s.Customer, Category: in.Category, Priority: in.Priority, Summary: summary,
		SummaryKey: keyOf(plainText(summary)), FiledBy: s.Principal.Name,
	}
	if ticket.Priority == "" {
		ticket.Priority = "normal"
	}
	if in.OrderID != "" {
		order, err := s.Order(in.OrderID)
		if err != nil {
			return p, err
		}
		ticket.OrderID = order.ID
	}
	last, err := s.LastTicket(s.Customer, ticket.OrderID, ticket.SummaryKey)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return p, err
	}
	p.Decision.Outcome = policy.Allow
	p.Perform = func(tx *store.Tx) (TicketAnswer, error) { return fileTicket(tx, ticket, last) }
	return p, nil
}

// fileTicket files a ticket, or raises the one that is open for the same text.
func fileTicket(tx *store.Tx, t, last store.Ticket) (TicketAnswer, error) {
	if last.State == "open" && tx.Now.Sub(last.Created) < sameTicketFor {
		if slices.Index(priorities, t.Priority) <= slices.Index(priorities, last.Priority) {
			return ticketAnswer(last, false), nil
		}
		last.Priority = t.Priority
		return ticketAnswer(last, false), tx.RaiseTicket(last.ID, t.Priority)
	}
	t.Previous = last.ID
	t, err := tx.AddTicket(t)
	return ticketAnswer(t, true), err
}

func ticketAnswer(t store.Ticket, created bool) TicketAnswer {
	return TicketAnswer{
		TicketID: t.ID, Created: created, Priority: t.Priority, PreviousTicket: t.Previous,
		TellCustomer: "A colleague has your request as ticket " + t.ID + " and will get back to you.",
	}
}
