package tools_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
)

const notFound = `{"error":"not_found","message":"This customer has nothing of that id. Check it with the customer, or see lookup_customer for what they have."}`

// notAsked is the same of what was asked of a human.
const notAsked = `{"error":"not_found","message":"Nothing of that id was asked in this session's name. Take the request_id from the answer of request_human, or the approval_id of a refund."}`

// notFoundBy is how a tool says so.
func notFoundBy(tool string) string {
	if tool == "check_request" {
		return notAsked
	}
	return notFound
}

// retail opens a shop of many customers and returns their ids and the orders of
// each.
func retail(t *testing.T) (s *shop, customers []string, orders map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("../evals/testdata/shop.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s = open(t)
	storetest.Shop(t, s.db, string(text))
	orders = map[string][]string{}
	for line := range strings.Lines(string(text)) {
		switch field(line, "type") {
		case "customer":
			customers = append(customers, field(line, "id"))
		case "order":
			orders[field(line, "customer_id")] = append(orders[field(line, "customer_id")], field(line, "id"))
		}
	}
	return s, customers, orders
}

func field(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// Case 38 to 40: a number is found however people write it.
func TestSpellingsOfAnOrderNumber(t *testing.T) {
	s := open(t, order("#1001", "C-1", "1.00", nil), order("NW-5001", "C-1", "2.00", nil), order("W9502127", "C-1", "3.00", nil),
		order("EU-7/12", "C-1", "4.00", nil), order("EU-7/13", "C-1", "4.00", nil), order("AU-7/13", "C-1", "4.00", nil),
		customer("C-2"), order("NW-9001", "C-2", "5.00", nil), order("#2002", "C-2", "6.00", nil), order("W4284542", "C-2", "6.00", nil))
	a := s.staff("agent")
	for number, want := range map[string]string{
		"#1001": "#1001", "1001": "#1001", " #1001 ": "#1001", "#1001\n": "#1001", "1001\t": "#1001", "##1001": "#1001", "１００１": "#1001",
		"\u00a01001\u00a0": "#1001", "\u200b1001": "#1001", "# 1001": "#1001", "\ufeff#1001": "#1001",
		"NW-5001": "NW-5001", "nw-5001 ": "NW-5001", "#NW-5001": "NW-5001", "5001": "NW-5001", "NW\u20115001": "NW-5001", "NW–5001": "NW-5001",
		"NW−5001": "NW-5001", "NW - 5001": "NW-5001", "NW\u00ad-5001": "NW-5001", "ＮＷ－5001": "NW-5001", "#5001": "NW-5001", "n\u200dw-5001": "NW-5001",
		"W9502127": "W9502127", "w9502127": "W9502127", "12": "EU-7/12", "eu-7/12": "EU-7/12",

		"9502127": "not_found", "#9502126": "not_found", "13": "not_found", "1": "not_found", "2": "not_found", "/1": "not_found", "rowid": "not_found",
		"NW5001": "not_found", "NW-500": "not_found", "NW-50011": "not_found", "05001": "not_found", "5001.0": "not_found", "-5001": "not_found",
		"NW-5001 OR 1=1": "not_found", "NW-5001'--": "not_found", "NW-500_": "not_found", "NW-%1": "not_found", "NW-5001;W9502127": "not_found",
		"9001": "not_found", "NW-9001": "not_found", "#2002": "not_found", "2002": "not_found", "4284542": "not_found", "W4284542": "not_found",
		strings.Repeat("5", 65): "invalid_arguments",

		"": "invalid_arguments", "#": "invalid_arguments", "%": "invalid_arguments", "*": "invalid_arguments", "#%": "invalid_arguments",
		" ": "invalid_arguments", "\u200b": "invalid_arguments", "-": "invalid_arguments", "??": "invalid_arguments", "_": "invalid_arguments",
	} {
		got := pick(t, a.call("get_order", line(fields{"order_id": number}, nil)), "order_id error")
		if got != want {
			t.Errorf("%q finds %s, want %s", number, got, want)
		}
		// Every other tool finds the same.
		if tracked := pick(t, a.call("track_shipment", line(fields{"order_id": number}, nil)), "order_id error"); tracked != got {
			t.Errorf("%q: track_shipment finds %s, get_order %s", number, tracked, got)
		}
	}
}

// The refund and the ticket name the order by its own number.
func TestWritesNameTheOrderByItsOwnNumber(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "20.00", nil), processing("NW-5003", "C-1"))
	a := s.staff("agent")
	equal(t, "refunded RF-0001 20.00 0.00", a.refund(" #5001\u00a0", ""))
	equal(t, "ok NW-5001 2000 USD", s.logged())
	equal(t, "NW-5003", pick(t, a.call("update_shipping_address", valid(t, find(t, "update_shipping_address"), fields{"order_id": "nw–5003"})), "order_id"))
	a.ticket("please call me back", fields{"order_id": "5003"})
	equal(t, "ok NW-5003", s.logged())
}

// A decision, a refund and a ticket of one customer show up in nobody else's answers.
func TestListsHoldOneCustomer(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "144.00", nil), customer("C-2"), order("NW-9001", "C-2", "20.00", nil))
	a := s.staff("agent")
	a.refund("NW-5001", "")
	a.ticket("please call me back", nil)
	equal(t, "C-2 [map[currency:USD order_id:NW-9001 placed_at:2026-04-22T12:00:00Z status:delivered total:20.00]] 1 [] []",
		pick(t, a.as("C-2").call("lookup_customer", ""), "customer_id orders order_count tickets approvals"))
	other := fmt.Sprint(decode(t, a.call("lookup_customer", "")))
	if strings.Contains(other, "NW-9001") || !strings.Contains(other, "AP-0001") || !strings.Contains(other, "TK-0001") {
		t.Errorf("%s", other)
	}
}

// An order that changes hands after the gates, before the transaction, is
// foreign in it.
func TestOwnerIsCheckedInTheTransaction(t *testing.T) {
	s := open(t, order("A-1", "C-1", "20.00", nil), customer("C-2"))
	a := s.staff("agent")
	s.sql("update orders set customer = (select key from customers where id = 'C-2')")
	equal(t, "not_found", a.refund("A-1", ""))
	equal(t, "denied not_found", s.logged())
	equal(t, "refunded RF-0001 20.00 0.00", a.as("C-2").refund("A-1", ""))
}

// The log knows a customer by its key alone, and everybody who acted by name.
func TestLogNamesWhoActed(t *testing.T) {
	s := open(t, order("A-1", "C-1", "144.00", nil))
	a := s.staff("agent")
	a.caller.Client = "claude <b>code</b>/1.0 " + strings.Repeat("x", 200)
	a.refund("A-1", "")
	s.approve("AP-0001", "80.00")
	var key string
	s.view(func(v *store.View) error {
		c, err := v.CustomerByID("C-1")
		key = c.Key
		return err
	})
	rules := policy.Default()
	var got []string
	for _, r := range s.rows() {
		got = append(got, strings.Join([]string{r.Actor, r.ActorKind, r.Role, r.Door, r.Session, r.Client, r.Customer, r.Action, r.OrderID,
			r.ApprovalID, fmt.Sprint(*r.Amount), r.Currency, r.Outcome, r.Code, r.Policy}, "|"))
	}
	equal(t, []string{
		"agent|agent|staff|mcp|s1|claudebcodeb1.0" + strings.Repeat("x", 64-15) + "|" + key + "|issue_refund|A-1|AP-0001|14400|USD|pending_approval||" + rules.Version(),
		"dora|operator|manager|cli|||" + key + "|approvals approve|A-1|AP-0001|8000|USD|ok||" + rules.Version(),
	}, got)
	if _, err := audit.Verify(t.Context(), s.db, nil); err != nil {
		t.Error(err)
	}
}
