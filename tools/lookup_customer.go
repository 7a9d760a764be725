package tools

import (
	"time"

	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// LookupCustomerArgs are the arguments of lookup_customer: none. The session's
// customer is not for the model to choose.
type LookupCustomerArgs struct{}

// CustomerAnswer is the answer of lookup_customer.
type CustomerAnswer struct {
	CustomerID string             `json:"customer_id"`
	Profile    Untrusted[Profile] `json:"profile"`
	Orders     []OrderSummary     `json:"orders"`      // newest first
	OrderCount int                `json:"order_count"` // all; get_order shows any of them by its number
	Tickets    []TicketState      `json:"tickets"`     // open ones, then those closed in the last 7 days, newest first
	Approvals  []ApprovalState    `json:"approvals"`   // waiting, or decided in the last 7 days
	Omitted    int                `json:"tickets_and_approvals_omitted,omitempty"`
	More       string             `json:"how_to_see_more,omitempty"` // where something is left out
}

// moreOfCustomer is for what the lists leave out.
const moreOfCustomer = "These are the newest. get_order shows any order by its number, with its refund requests."

// shorter leaves out the oldest of what there is most of.
func (a CustomerAnswer) shorter() (shortener, bool) {
	a.More = moreOfCustomer
	switch {
	case len(a.Tickets) > 2:
		a.Tickets = a.Tickets[:len(a.Tickets)-1]
		a.Omitted++
	case len(a.Approvals) > 3:
		a.Approvals = a.Approvals[:len(a.Approvals)-1]
		a.Omitted++
	case len(a.Orders) > 5:
		a.Orders = a.Orders[:len(a.Orders)-1]
	case len(a.Tickets)+len(a.Approvals) > 0:
		a.Omitted += len(a.Tickets) + len(a.Approvals)
		a.Tickets, a.Approvals = []TicketState{}, []ApprovalState{}
	default:
		return a, false
	}
	return a, true
}

// Profile is what the shop knows of a person.
type Profile struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Phone string `json:"phone,omitempty"`
}

// OrderSummary is an order in a list.
type OrderSummary struct {
	OrderID  string `json:"order_id"`
	Status   string `json:"status"`
	PlacedAt string `json:"placed_at"`
	Total    string `json:"total"`
	Currency string `json:"currency"`
}

// TicketState is how a ticket stands.
type TicketState struct {
	TicketID  string            `json:"ticket_id"`
	State     string            `json:"state"` // open or closed
	OrderID   string            `json:"order_id,omitempty"`
	Category  string            `json:"category"`
	Priority  string            `json:"priority"`
	CreatedAt string            `json:"created_at"`
	ClosedAt  string            `json:"closed_at,omitempty"`
	Summary   Untrusted[string] `json:"summary"`
	Replies   []TicketReply     `json:"replies"`
}

// TicketReply is what an operator wrote.
type TicketReply struct {
	Operator string `json:"operator"`
	At       string `json:"at"`
	Text     string `json:"text"`
}

// What a customer's answer shows of long lists.
const (
	mostOrders    = 20
	mostTickets   = 5
	mostApprovals = 8
	mostReplies   = 3
	mostCounted   = 100 // tickets, and approvals, that are counted where they are left out
	mostProfile   = 250 // bytes of each field
	mostSummary   = 300
	mostReply     = 400
	shownFor      = 7 * 24 * time.Hour // approvals once they are decided, tickets once they are closed
)

var lookupCustomer = define(spec[LookupCustomerArgs, CustomerAnswer]{
	Name:  "lookup_customer",
	Title: "Look up the customer",
	Description: "Shows the customer of this conversation: profile and contact details, newest orders, tickets open or lately closed with the team's replies, and refund requests " +
		"that wait or were decided. Use it first, and to find \"my latest order\". Takes no arguments; it can't show anybody else.",
	Hint:          "who is the customer, contact details, open tickets, order history",
	Role:          policy.Viewer,
	NeedsCustomer: true,
	Answer:        answerCustomer,
})

func answerCustomer(s *Scope, _ LookupCustomerArgs) (a CustomerAnswer, err error) {
	customer, err := s.View.Customer(s.Customer)
	if err != nil {
		return a, err
	}
	a = CustomerAnswer{
		CustomerID: customer.ID,
		Profile: untrusted(Profile{
			short(customer.Name, mostProfile), short(customer.Email, mostProfile), short(customer.Phone, mostProfile)}),
		Orders: []OrderSummary{}, Tickets: []TicketState{}, Approvals: []ApprovalState{},
	}
	orders, count, err := s.Orders(s.Customer, mostOrders)
	if err != nil {
		return a, err
	}
	a.OrderCount = count
	for _, o := range orders {
		total := money.Amount{Minor: o.Total, Currency: o.Currency}
		a.Orders = append(a.Orders, OrderSummary{o.ID, o.Status, rfc3339(o.Placed), total.Decimal(), o.Currency})
	}
	tickets, err := s.TicketsOfCustomer(s.Customer, s.Now.Add(-shownFor), mostCounted)
	if err != nil {
		return a, err
	}
	for _, t := range tickets[:min(len(tickets), mostTickets)] {
		a.Tickets = append(a.Tickets, ticketState(t))
	}
	approvals, err := s.ApprovalsOfCustomer(s.Customer, s.Now.Add(-shownFor), mostCounted)
	for _, ap := range approvals[:min(len(approvals), mostApprovals)] {
		a.Approvals = append(a.Approvals, approvalState(ap))
	}
	a.Omitted = len(tickets) - len(a.Tickets) + len(approvals) - len(a.Approvals)
	if a.OrderCount > len(a.Orders) || a.Omitted > 0 {
		a.More = moreOfCustomer
	}
	return a, err
}

func ticketState(t store.Ticket) TicketState {
	state := TicketState{
		TicketID: t.ID, State: t.State, OrderID: t.OrderID, Category: t.Category, Priority: t.Priority,
		CreatedAt: rfc3339(t.Created), ClosedAt: rfc3339(t.Closed),
		Summary: untrusted(short(t.Summary, mostSummary)), Replies: []TicketReply{},
	}
	replies, _ := newest(t.Replies, mostReplies)
	for _, r := range replies {
		state.Replies = append(state.Replies, TicketReply{r.By, rfc3339(r.Created), short(r.Body, mostReply)})
	}
	return state
}
