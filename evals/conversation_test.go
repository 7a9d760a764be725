package evals_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/policy/money"
	"countersign/tools/client"
)

// conversation is a task under way: one customer, one server, one database.
type conversation struct {
	*testing.T
	shop   shop
	agent  *client.Client
	parks  bool                // refunds of more than $100 wait for an operator
	parked int                 // how many did
	filed  map[string]struct{} // tickets by id
}

func converse(t *testing.T, s shop, customer string, flags ...string) *conversation {
	t.Helper()
	p, err := programs()
	check(t, err)
	server := exec.Command(p.server, append([]string{"--db", s.db, "--customer", customer, "--log-level", "error"}, flags...)...)
	server.Env = []string{"COUNTERSIGN_TOKEN=" + s.agent}
	server.Dir = "/"
	server.Stderr = t.Output()
	agent, err := client.Start(t.Context(), server, "retail")
	check(t, err)
	t.Cleanup(func() {
		if err := agent.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return &conversation{T: t, shop: s, agent: agent, filed: map[string]struct{}{}}
}

// call calls a tool, decodes its answer and returns its text.
func (c *conversation) call(tool string, args, answer any) string {
	c.Helper()
	res, err := c.agent.Call(c.Context(), tool, args)
	check(c.T, err)
	check(c.T, json.Unmarshal(res.JSON, answer))
	var code struct{ Error string }
	check(c.T, json.Unmarshal(res.JSON, &code))
	if res.IsError != (code.Error != "") {
		c.Errorf("%s: isError is %v: %s", tool, res.IsError, res.JSON)
	}
	return string(res.JSON)
}

// replay makes a row's call and returns what came of it.
func (c *conversation) replay(r row) outcome {
	c.Helper()
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
	c.Fatalf("%s: no tool is named %s", r.ID, r.Tool)
	return outcome{}
}

type order struct {
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

func (c *conversation) getOrder(r row) outcome {
	c.Helper()
	var o order
	text := c.call(r.Tool, r.Args, &o)
	if id := r.Args["order_id"].(string); o.Error != "" && strings.Contains(text, strings.Trim(id, "#")) {
		c.Errorf("%s: the refusal repeats the id: %s", r.ID, text)
	}
	return outcome{Status: o.Status, Total: o.Total, ItemCount: o.ItemCount, Error: o.Error}
}

// order looks at an order from outside a row.
func (c *conversation) order(id any) (o order, text string) {
	c.Helper()
	text = c.call("get_order", map[string]any{"order_id": id}, &o)
	if o.Error != "" {
		c.Fatalf("get_order %v: %s", id, text)
	}
	return o, text
}

type customer struct {
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

func (c *conversation) lookupCustomer(r row) outcome {
	c.Helper()
	var answer customer
	c.call(r.Tool, r.Args, &answer)
	got := outcome{Email: answer.Profile.Untrusted.Email, Error: answer.Error}
	for _, o := range answer.Orders {
		got.Orders = append(got.Orders, o.OrderID)
	}
	slices.Sort(got.Orders) // all of them were placed at the same moment
	if answer.OrderCount != len(r.Expect.Orders) {
		c.Errorf("%s: order_count is %d, want %d", r.ID, answer.OrderCount, len(r.Expect.Orders))
	}
	return got
}

type refund struct {
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

func (c *conversation) issueRefund(r row) outcome {
	c.Helper()
	before, _ := c.order(r.Args["order_id"])
	var got refund
	text := c.call(r.Tool, r.Args, &got)
	amount := r.Args["amount"].(string)
	waits := c.parks && minor(c.T, amount) > minor(c.T, "100.00")
	if waits {
		c.approve(r, before, got, text)
		approval := got.ApprovalID
		got = refund{}
		c.call(r.Tool, r.Args, &got)
		if got.ApprovalID != approval {
			c.Errorf("%s: approved %s, and the same call is told of %q", r.ID, approval, got.ApprovalID)
		}
	}
	if got.Status != "refunded" || got.Currency != "USD" || got.Replayed != waits || got.TellCustomer == "" || got.RefundID == "" {
		c.Errorf("%s: the refund is answered with %+v", r.ID, got)
	}

	after, _ := c.order(r.Args["order_id"])
	if minor(c.T, after.Refunded) != minor(c.T, before.Refunded)+minor(c.T, amount) || after.AwaitingApproval != before.AwaitingApproval {
		c.Errorf("%s: %s on %+v gave %+v", r.ID, amount, before, after)
	}
	if made := after.Refunds[len(after.Refunds)-1:]; len(made) != 1 || made[0].RefundID != got.RefundID || made[0].Amount != got.Amount || made[0].ApprovalID != got.ApprovalID {
		c.Errorf("%s: get_order lists %+v, not %+v", r.ID, made, got)
	}
	if got.Remaining != after.Refundable {
		c.Errorf("%s: remaining %s, but get_order says refundable %s", r.ID, got.Remaining, after.Refundable)
	}
	return outcome{Refunded: got.Amount, RefundableAfter: got.Remaining, Error: got.Error}
}

// approve checks that a refund is parked and nothing else has happened, and has
// an operator approve it.
func (c *conversation) approve(r row, before order, got refund, text string) {
	c.Helper()
	pending := got.Status == "pending_approval" && got.ApprovalID != "" && got.RefundID == "" && got.Amount == r.Args["amount"]
	if !pending || !strings.Contains(got.TellCustomer, "Nothing has been refunded yet") {
		c.Fatalf("%s: not parked: %s", r.ID, text)
	}
	c.parked++
	amount := minor(c.T, got.Amount)
	waiting, _ := c.order(r.Args["order_id"])
	if waiting.Refunded != before.Refunded || len(waiting.Refunds) != len(before.Refunds) ||
		minor(c.T, waiting.AwaitingApproval) != minor(c.T, before.AwaitingApproval)+amount ||
		minor(c.T, waiting.Refundable) != minor(c.T, before.Refundable)-amount {
		c.Errorf("%s: parked %s on %+v, which gave %+v", r.ID, got.Amount, before, waiting)
	}
	_, err := operate("", "approvals", "approve", got.ApprovalID, "--yes", "--token", c.shop.manager, "--db", c.shop.db)
	check(c.T, err)
}

func (c *conversation) updateShippingAddress(r row) outcome {
	c.Helper()
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
		if diff := cmp.Diff(same.want, same.got); diff != "" {
			c.Errorf("%s: address: -want +got:\n%s", r.ID, diff)
		}
	}
	if diff := cmp.Diff(without(c.T, text, "address"), without(c.T, changed, "address")); diff != "" {
		c.Errorf("%s: more than the address has changed: -before +after:\n%s", r.ID, diff)
	}
	return outcome{Updated: got.Updated, Error: got.Error}
}

func (c *conversation) escalateToHuman(r row) outcome {
	c.Helper()
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
	if _, again := c.filed[got.TicketID]; got.Created == again || got.TellCustomer == "" {
		c.Errorf("%s: the ticket is answered with %s", r.ID, text)
	}
	c.filed[got.TicketID] = struct{}{}
	return outcome{Ticket: c.holdsTicket(got.TicketID, r.Args), OrderUnchanged: aboutOrder && before == after, Error: got.Error}
}

// holdsTicket reports whether lookup_customer lists a ticket as it was asked for.
func (c *conversation) holdsTicket(id string, asked map[string]any) bool {
	c.Helper()
	var listed customer
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
func without(t *testing.T, text, field string) map[string]any {
	t.Helper()
	var fields map[string]any
	check(t, json.Unmarshal([]byte(text), &fields))
	delete(fields, field)
	return fields
}

// minor is an amount in cents.
func minor(t *testing.T, decimal string) int64 {
	t.Helper()
	amount, err := money.Parse(decimal, "USD")
	check(t, err)
	return amount.Minor
}
