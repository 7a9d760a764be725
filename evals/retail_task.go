package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"countersign/policy/money"
)

// A RetailTask is a task under way: one customer, one session with a server, one
// database of the retail shop. After a fault it does nothing more.
type RetailTask struct {
	Problems []string // what was wrong beside the rows' own expectations
	Parked   int      // how many refunds waited for an operator
	Fault    error    // what kept the task from its end

	ctx     context.Context // of the whole task
	tools   Toolbox
	approve func(approval string) error
	filed   map[string]bool // tickets by id
}

// NewRetailTask begins a task. With approve, which has an operator approve a
// request, refunds of more than $100 must wait for one; without (nil) none may.
func NewRetailTask(ctx context.Context, tools Toolbox, approve func(approval string) error) *RetailTask {
	return &RetailTask{ctx: ctx, tools: tools, approve: approve, filed: map[string]bool{}}
}

// errorf notes a problem.
func (c *RetailTask) errorf(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// check keeps the first fault.
func (c *RetailTask) check(err error) {
	if c.Fault == nil {
		c.Fault = err
	}
}

// call calls a tool, decodes its answer and returns its text.
func (c *RetailTask) call(tool string, args, answer any) string {
	if c.Fault != nil {
		return ""
	}
	res, err := c.tools.Call(c.ctx, tool, args)
	if err != nil {
		c.check(err)
		return ""
	}
	var code struct{ Error string }
	c.check(errors.Join(json.Unmarshal(res.JSON, answer), json.Unmarshal(res.JSON, &code)))
	if res.IsError != (code.Error != "") {
		c.errorf("%s: isError is %v: %s", tool, res.IsError, res.JSON)
	}
	return string(res.JSON)
}

// Play makes a row's call and returns what came of it.
func (c *RetailTask) Play(r RetailRow) RetailOutcome {
	switch r.Tool {
	case "get_order":
		return c.getOrder(r)
	case "lookup_customer":
		return c.lookupCustomer(r)
	case "issue_refund":
		return c.issueRefund(r)
	case "update_shipping_address":
		return c.updateShippingAddress(r)
	case "escalate_to_human":
		return c.escalateToHuman(r)
	}
	c.check(fmt.Errorf("%s: no tool is named %s", r.ID, r.Tool))
	return RetailOutcome{}
}

type retailOrder struct {
	Status           string
	Total            string
	ItemCount        int `json:"item_count"`
	Refunded         string
	AwaitingApproval string `json:"awaiting_approval"`
	Refundable       string
	Address          struct{ Untrusted map[string]string }
	Refunds          []struct {
		RefundID   string `json:"refund_id"`
		Amount     string
		ApprovalID string `json:"approval_id"`
	}
	Error string
}

func (c *RetailTask) getOrder(r RetailRow) RetailOutcome {
	var o retailOrder
	text := c.call(r.Tool, r.Args, &o)
	if id := r.Args["order_id"].(string); o.Error != "" && strings.Contains(text, strings.Trim(id, "#")) {
		c.errorf("%s: the refusal repeats the id: %s", r.ID, text)
	}
	return RetailOutcome{Status: o.Status, Total: o.Total, ItemCount: o.ItemCount, Error: o.Error}
}

// order looks at an order from outside a row.
func (c *RetailTask) order(id any) (o retailOrder, text string) {
	text = c.call("get_order", map[string]any{"order_id": id}, &o)
	if o.Error != "" {
		c.check(fmt.Errorf("get_order %v: %s", id, text))
	}
	return o, text
}

type retailCustomer struct {
	Profile struct {
		Untrusted struct{ Email string }
	}
	Orders []struct {
		OrderID string `json:"order_id"`
	}
	OrderCount int `json:"order_count"`
	Tickets    []struct {
		TicketID string `json:"ticket_id"`
		OrderID  string `json:"order_id"`
		Category string
		Summary  struct{ Untrusted string }
	}
	Error string
}

func (c *RetailTask) lookupCustomer(r RetailRow) RetailOutcome {
	var answer retailCustomer
	c.call(r.Tool, r.Args, &answer)
	got := RetailOutcome{Email: answer.Profile.Untrusted.Email, Error: answer.Error}
	for _, o := range answer.Orders {
		got.Orders = append(got.Orders, o.OrderID)
	}
	slices.Sort(got.Orders) // all of them were placed at the same moment
	if answer.OrderCount != len(r.Expect.Orders) {
		c.errorf("%s: order_count is %d, want %d", r.ID, answer.OrderCount, len(r.Expect.Orders))
	}
	return got
}

type retailRefund struct {
	Status       string
	RefundID     string `json:"refund_id"`
	ApprovalID   string `json:"approval_id"`
	Amount       string
	Currency     string
	Remaining    string
	TellCustomer string `json:"tell_customer"`
	Replayed     bool
	Error        string
}

func (c *RetailTask) issueRefund(r RetailRow) RetailOutcome {
	before, _ := c.order(r.Args["order_id"])
	var got retailRefund
	text := c.call(r.Tool, r.Args, &got)
	amount := r.Args["amount"].(string)
	waits := c.approve != nil && c.minor(amount) > c.minor("100.00")
	if waits {
		c.awaitApproval(r, before, got, text)
		approval := got.ApprovalID
		got = retailRefund{}
		c.call(r.Tool, r.Args, &got)
		if got.ApprovalID != approval {
			c.errorf("%s: approved %s, and the same call is told of %q", r.ID, approval, got.ApprovalID)
		}
	}
	if got.Status != "refunded" || got.Currency != "USD" || got.Replayed != waits || got.TellCustomer == "" || got.RefundID == "" {
		c.errorf("%s: the refund is answered with %+v", r.ID, got)
	}

	after, _ := c.order(r.Args["order_id"])
	if c.minor(after.Refunded) != c.minor(before.Refunded)+c.minor(amount) || after.AwaitingApproval != before.AwaitingApproval {
		c.errorf("%s: %s on %+v gave %+v", r.ID, amount, before, after)
	}
	if c.Fault != nil {
		return RetailOutcome{}
	}
	if made := after.Refunds[len(after.Refunds)-1:]; len(made) != 1 || made[0].RefundID != got.RefundID || made[0].Amount != got.Amount || made[0].ApprovalID != got.ApprovalID {
		c.errorf("%s: get_order lists %+v, not %+v", r.ID, made, got)
	}
	if got.Remaining != after.Refundable {
		c.errorf("%s: remaining %s, but get_order says refundable %s", r.ID, got.Remaining, after.Refundable)
	}
	return RetailOutcome{Refunded: got.Amount, RefundableAfter: got.Remaining, Error: got.Error}
}

// awaitApproval checks that a refund is parked and nothing else has happened, and has
// an operator approve it.
func (c *RetailTask) awaitApproval(r RetailRow, before retailOrder, got retailRefund, text string) {
	pending := got.Status == "pending_approval" && got.ApprovalID != "" && got.RefundID == "" && got.Amount == r.Args["amount"]
	if !pending || !strings.Contains(got.TellCustomer, "Nothing has been refunded yet") {
		c.check(fmt.Errorf("%s: not parked: %s", r.ID, text))
		return
	}
	c.Parked++
	amount := c.minor(got.Amount)
	waiting, _ := c.order(r.Args["order_id"])
	if waiting.Refunded != before.Refunded || len(waiting.Refunds) != len(before.Refunds) ||
		c.minor(waiting.AwaitingApproval) != c.minor(before.AwaitingApproval)+amount ||
		c.minor(waiting.Refundable) != c.minor(before.Refundable)-amount {
		c.errorf("%s: parked %s on %+v, which gave %+v", r.ID, got.Amount, before, waiting)
	}
	if c.Fault == nil {
		c.check(c.approve(got.ApprovalID))
	}
}

func (c *RetailTask) updateShippingAddress(r RetailRow) RetailOutcome {
	before, text := c.order(r.Args["order_id"])
	var got struct {
		Updated    bool
		OldAddress struct{ Untrusted map[string]string } `json:"old_address"`
		NewAddress struct{ Untrusted map[string]string } `json:"new_address"`
		Error      string
	}
	c.call(r.Tool, r.Args, &got)

	asked := map[string]string{}
	for field, value := range r.Args["address"].(map[string]any) {
		asked[field] = value.(string)
	}
	after, changed := c.order(r.Args["order_id"])
	for _, same := range []struct{ want, got map[string]string }{
		{before.Address.Untrusted, got.OldAddress.Untrusted},
		{asked, got.NewAddress.Untrusted},
		{asked, after.Address.Untrusted},
	} {
		if !maps.Equal(same.want, same.got) {
			c.errorf("%s: the address is %v, want %v", r.ID, same.got, same.want)
		}
	}
	if !reflect.DeepEqual(c.without(text, "address"), c.without(changed, "address")) {
		c.errorf("%s: more than the address has changed: from %s to %s", r.ID, text, changed)
	}
	return RetailOutcome{Updated: got.Updated, Error: got.Error}
}

func (c *RetailTask) escalateToHuman(r RetailRow) RetailOutcome {
	id, aboutOrder := r.Args["order_id"]
	var before, after string
	if aboutOrder {
		_, before = c.order(id)
	}
	var got struct {
		TicketID     string `json:"ticket_id"`
		Created      bool
		TellCustomer string `json:"tell_customer"`
		Error        string
	}
	text := c.call(r.Tool, r.Args, &got)
	if aboutOrder {
		_, after = c.order(id)
	}
	if got.Created == c.filed[got.TicketID] || got.TellCustomer == "" {
		c.errorf("%s: the ticket is answered with %s", r.ID, text)
	}
	c.filed[got.TicketID] = true
	return RetailOutcome{Ticket: c.holdsTicket(got.TicketID, r.Args), OrderUnchanged: aboutOrder && before == after, Error: got.Error}
}

// holdsTicket reports whether lookup_customer lists a ticket as it was asked for.
func (c *RetailTask) holdsTicket(id string, asked map[string]any) bool {
	var listed retailCustomer
	c.call("lookup_customer", nil, &listed)
	for _, t := range listed.Tickets {
		if t.TicketID == id {
			order, _ := asked["order_id"].(string)
			summary := asked["summary"].(string)
			shown, shortened := strings.CutSuffix(t.Summary.Untrusted, "…")
			same := shown == summary || shortened && len(shown) > 150 && strings.HasPrefix(summary, shown)
			return same && t.OrderID == order && t.Category == asked["category"]
		}
	}
	return false
}

// without returns an answer's fields but one.
func (c *RetailTask) without(text, field string) map[string]any {
	var fields map[string]any
	if c.Fault == nil {
		c.check(json.Unmarshal([]byte(text), &fields))
	}
	delete(fields, field)
	return fields
}

// minor is an amount in cents.
func (c *RetailTask) minor(decimal string) int64 {
	if c.Fault != nil {
		return 0
	}
	amount, err := money.Parse(decimal, "USD")
	c.check(err)
	return amount.Minor
}
