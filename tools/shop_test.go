package tools_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/tools"
	"countersign/tools/settle"
)

// everyTool is what the tests of the registry walk: both toolsets.
var everyTool = slices.Concat(tools.All, tools.Human)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, string(want), got)
}

func equal[T any](t testing.TB, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// fields are of a line of the native format; nil ones are left out.
type fields = map[string]any

func line(base, more fields) string {
	all := maps.Clone(base)
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func customer(id string) string {
	return line(fields{"type": "customer", "id": id, "name": "Ava " + id, "email": id + "@example.com", "created_at": "-400d"}, nil)
}

// order is delivered 5 days ago and paid: one piece at the total, in USD.
func order(id, customer, total string, more fields) string {
	return line(fields{
		"type": "order", "id": id, "customer_id": customer, "status": "delivered", "currency": "USD",
		"placed_at": "-9d", "delivered_at": "-5d", "total": total,
		"items": []fields{{"sku": "S-1", "title": "Shoe", "quantity": 1, "unit_price": total}},
		"address": fields{"recipient": "Ava", "line1": "1 Main St", "city": "Reno", "region": "NV",
			"postal_code": "89501", "country": "US"},
	}, more)
}

// processing is an order whose address can be changed.
func processing(id, customer string) string {
	return order(id, customer, "20.00", fields{"status": "processing", "delivered_at": nil, "placed_at": "-1d"})
}

func items(all ...fields) fields { return fields{"items": all} }

func item(sku string, quantity int, price string) fields {
	return fields{"sku": sku, "title": "Thing " + sku, "quantity": quantity, "unit_price": price}
}

// shop is a database with a desk, a movable clock and an operator.
type shop struct {
	t        testing.TB
	db       *store.DB
	clock    *storetest.Clock
	desk     *tools.Desk
	rules    *tools.Rulebook
	operator *settle.Office
}

// open makes a shop of lines; a customer C-1 is there whether they say so or not.
func open(t testing.TB, lines ...string) *shop {
	t.Helper()
	s := &shop{t: t, clock: new(storetest.Clock)}
	s.db = storetest.New(t, storetest.WithClock(s.clock))
	jsonl := strings.Join(lines, "\n")
	if !strings.Contains(jsonl, `"id":"C-1"`) {
		jsonl = customer("C-1") + "\n" + jsonl
	}
	storetest.Shop(t, s.db, jsonl)
	rules, err := tools.NewRulebook(t.Context(), s.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.rules = rules
	s.desk = tools.NewDesk(s.db, rules, everyTool)
	s.desk.Faulted = func(action string, fault error) { t.Logf("fault in %s: %v", action, fault) }
	s.operator = s.newOperator("dora")
	return s
}

func (s *shop) principal(p store.Principal) (token string) {
	s.t.Helper()
	token = "cs_" + p.Name
	s.tx(func(tx *store.Tx) error {
		_, err := tx.AddPrincipal(p, token)
		return err
	})
	return token
}

func (s *shop) newOperator(name string) *settle.Office {
	s.t.Helper()
	token := s.principal(store.Principal{Name: name, Kind: policy.Operator, Role: policy.Manager})
	return &settle.Office{DB: s.db, Rules: s.rules, Caller: tools.Caller{Token: token, Door: audit.CLI}}
}

func (s *shop) tx(act func(*store.Tx) error) {
	s.t.Helper()
	if err := s.db.Tx(context.Background(), act); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) view(read func(*store.View) error) {
	s.t.Helper()
	if err := s.db.View(context.Background(), read); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) policy(yaml string) {
	s.t.Helper()
	s.tx(func(tx *store.Tx) error { return tx.SetSetting(store.SettingPolicy, yaml) })
}

// sql runs statements beside the program: what no code of ours would do.
func (s *shop) sql(statements string) {
	s.t.Helper()
	raw, err := sql.Open("sqlite3", s.db.Path())
	if err != nil {
		s.t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(statements); err != nil {
		s.t.Fatal(err)
	}
}

// dump is everything in the given tables, a line each.
func (s *shop) dump(tables ...string) string {
	s.t.Helper()
	raw, err := sql.Open("sqlite3", s.db.Path())
	if err != nil {
		s.t.Fatal(err)
	}
	defer raw.Close()
	var all strings.Builder
	for _, table := range tables {
		rows, err := raw.Query("select * from " + table)
		if err != nil {
			s.t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				s.t.Fatal(err)
			}
			row := fmt.Sprintln(append([]any{table}, values...)...)
			all.WriteString(strings.ReplaceAll(strings.TrimSpace(row), "\n", "⏎") + "\n")
		}
		rows.Close()
	}
	return all.String()
}

// everything is all that the database holds, but the log.
func (s *shop) everything() string {
	var tables []string
	for _, row := range strings.Split(s.dump("sqlite_master"), "\n") {
		if words := strings.Fields(row); len(words) > 2 && words[1] == "table" && words[2] != "audit" {
			tables = append(tables, words[2])
		}
	}
	if len(tables) < 10 {
		s.t.Fatalf("the database has the tables %q", tables)
	}
	return s.dump(tables...)
}

// business is everything that a call may change, but the log.
func (s *shop) business() string {
	return s.dump("orders", "refunds", "approvals", "tickets", "ticket_replies", "address_changes")
}

func (s *shop) rows() (rows []store.AuditRow) {
	s.view(func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{}, func(r store.AuditRow) error {
			rows = append(rows, r)
			return nil
		})
	})
	return rows
}

// logged is the last row's outcome, code, order, approval and amount.
func (s *shop) logged() string {
	var r store.AuditRow
	s.view(func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{Last: 1}, func(last store.AuditRow) error {
			r = last
			return nil
		})
	})
	amount := ""
	if r.Amount != nil {
		amount = fmt.Sprint(*r.Amount)
	}
	return strings.Join(slices.DeleteFunc([]string{r.Outcome, r.Code, r.OrderID, r.ApprovalID, amount, r.Currency},
		func(text string) bool { return text == "" }), " ")
}

// agent calls tools.
type agent struct {
	*shop
	caller tools.Caller
}

// staff is an agent of role staff for C-1.
func (s *shop) staff(name string) agent { return s.agent(name, policy.Staff, "C-1") }

func (s *shop) agent(name string, role policy.Role, customer string) agent {
	s.t.Helper()
	return agent{s, tools.Caller{
		Token: s.principal(store.Principal{Name: name, Kind: policy.Agent, Role: role}), Customer: customer,
		Door: audit.MCP, Session: "s1", Client: "test",
	}}
}

func (s *shop) anonymous(customer string) agent {
	return agent{s, tools.Caller{Customer: customer, Door: audit.MCP}}
}

// as is the same principal for another customer.
func (a agent) as(customer string) agent {
	a.caller.Customer = customer
	return a
}

func (a agent) call(tool, arguments string) tools.Result {
	return a.desk.Call(context.Background(), a.caller, tool, json.RawMessage(arguments))
}

// refund asks for a refund and returns the fields of the answer that matter.
func (a agent) refund(order, amount string, more ...string) string {
	a.t.Helper()
	arguments := fields{"order_id": order, "reason": "it does not fit"}
	if amount != "" {
		arguments["amount"] = amount
	}
	for _, m := range more {
		name, value, _ := strings.Cut(m, "=")
		arguments[name] = value
		if value == "true" {
			arguments[name] = true
		}
	}
	return pick(a.t, a.call("issue_refund", line(arguments, nil)),
		"status refund_id approval_id amount requested_amount remaining replayed error refundable")
}

// pick returns the values of an answer's fields, those that are there.
func pick(t testing.TB, res tools.Result, names string) string {
	t.Helper()
	answer := decode(t, res)
	var values []string
	for _, name := range strings.Fields(names) {
		switch value := answer[name].(type) {
		case nil:
		case bool:
			if value {
				values = append(values, name)
			}
		default:
			values = append(values, fmt.Sprint(value))
		}
	}
	return strings.Join(values, " ")
}

func decode(t testing.TB, res tools.Result) (answer fields) {
	t.Helper()
	if err := json.Unmarshal(res.JSON, &answer); err != nil {
		t.Fatalf("%v in %q", err, res.JSON)
	}
	return answer
}

// code is an answer's error, or "ok".
func code(res tools.Result) string {
	if !res.IsError {
		return "ok"
	}
	return string(res.Code)
}

func (s *shop) approve(id, amount string) store.Approval {
	s.t.Helper()
	a, err := s.operator.Approve(s.t.Context(), id, amount, "agreed")
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *shop) reject(id string) {
	s.t.Helper()
	if _, err := s.operator.Reject(s.t.Context(), id, "worn for weeks"); err != nil {
		s.t.Fatal(err)
	}
}

// schema is what the tests need to know of a JSON schema.
type schema struct {
	Type                 string            `json:"type"`
	Properties           map[string]schema `json:"properties"`
	AdditionalProperties *bool             `json:"additionalProperties"`
	Required             []string          `json:"required"`
	Items                *schema           `json:"items"`
	Enum                 []any             `json:"enum"`
	Examples             []any             `json:"examples"`
	MinLength            int               `json:"minLength"`
	Minimum              int               `json:"minimum"`
}

func schemaOf(t testing.TB, tool *tools.Tool) (s schema) {
	t.Helper()
	if err := json.Unmarshal(tool.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// sample is the least that satisfies a schema: an order's number is NW-5001.
func (s schema) sample() any {
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case "object":
		object := fields{}
		for _, name := range s.Required {
			object[name] = s.Properties[name].sample()
		}
		return object
	case "array":
		return []any{s.Items.sample()}
	case "integer", "number":
		return s.Minimum
	case "boolean":
		return false
	}
	return strings.Repeat("word ", max(1, s.MinLength/5+1))
}

// filled has text wherever a schema takes a string, and the least that it takes
// elsewhere.
func (s schema) filled(text string) any {
	switch s.Type {
	case "object":
		object := fields{}
		for name, property := range s.Properties {
			object[name] = property.filled(text)
		}
		return object
	case "array":
		return []any{s.Items.filled(text)}
	case "string":
		return text
	}
	return s.sample()
}

// valid are arguments that a tool accepts for an order NW-5001, with more of its own.
func valid(t testing.TB, tool *tools.Tool, more fields) string {
	t.Helper()
	arguments := schemaOf(t, tool).sample().(fields)
	if arguments["address"] != nil {
		arguments["address"].(fields)["postal_code"] = "89501"
	}
	if tool.Name == "request_human" {
		arguments["timeout_seconds"] = 0 // nobody answers here
	}
	return line(arguments, more)
}

func find(t testing.TB, name string) *tools.Tool {
	t.Helper()
	for _, tool := range everyTool {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

const day = 24 * time.Hour

// deskOn is another process's desk on the same file.
func deskOn(db *store.DB, s *shop) *tools.Desk { return tools.NewDesk(db, s.rules, everyTool) }
