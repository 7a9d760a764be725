package settle_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/approvals"
	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/tools"
	"countersign/tools/settle"
)

// person is in every text about the customer that the tests erase, its id
// among them.
const person = "Zq7Person"

// personLines are a customer with all that an import can bring. The name and
// the first order's status are as of the moment of the import.
func personLines(name, status string) string {
	address := strings.ReplaceAll(`{"recipient":"P","line1":"P Street 1","line2":"P","city":"P City","region":"P","postal_code":"P","country":"US"}`, "P", person)
	order := func(id, status string) string {
		return fmt.Sprintf(`{"type":"order","id":"%s","customer_id":"%s","status":"%s","currency":"USD","placed_at":"-9d","delivered_at":"-5d",`+
			`"items":[{"sku":"S-1","title":"Shoe","quantity":1,"unit_price":"300.00"}],"total":"300.00","address":%s,"note":"%[2]s rings twice"}`+"\n",
			id, person, status, address)
	}
	parcel := func(tracking string) string {
		return fmt.Sprintf(`{"type":"shipment","order_id":"E-1","tracking_number":"%s","status":"delivered",`+
			`"scans":[{"at":"-6d","location":"%s City","status":"left with %[2]s","description":"%[2]s signed"},{"at":"-5d","status":"delivered"}]}`+"\n", tracking, person)
	}
	return fmt.Sprintf(`{"type":"customer","id":"%s","name":"%s","email":"%[1]s@example.com","phone":"%[1]s 555","created_at":"-400d"}`+"\n", person, name) +
		order("E-1", status) + order("E-2", "delivered") + order("E-3", "shipped") + parcel(person) + parcel("") + parcel("") + parcel("")
}

// crowd are other customers and their orders, so that the person's rows stand
// amid many pages.
func crowd(prefix string) string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"type":"customer","id":"%s-%d","name":"Somebody %[2]d","email":"%[1]s%[2]d@example.com","created_at":"-90d"}`+"\n"+
			`{"type":"order","id":"%[1]s-%[2]d","customer_id":"%[1]s-%[2]d","status":"shipped","currency":"USD","placed_at":"-9d","items":[],"total":"1.00"}`+"\n", prefix, i)
	}
	return b.String()
}

// withPerson is a shop where a lot has happened to the person and nothing waits.
func withPerson(t *testing.T) *shop {
	t.Helper()
	s := open(t)
	storetest.Shop(t, s.db, crowd("X")+personLines("Old "+person+" with a name long enough to be kept apart", "processing")+crowd("Y"))
	s.asPerson("update_shipping_address", `{"order_id":"E-1","address":{"line1":"9 %s Lane","city":"Bend","region":"OR","postal_code":"97702","country":"US"}}`)
	storetest.Shop(t, s.db, personLines(person+" Bright", "delivered"))
	s.asPerson("issue_refund", `{"order_id":"E-1","amount":"20.00","reason":"%s says it does not fit"}`)
	for i, decide := range []func(id string) error{
		func(id string) error {
			_, err := office(s.db, "dora").Approve(t.Context(), id, "", person+" is right")
			return err
		},
		func(id string) error {
			_, err := office(s.db, "dora").Reject(t.Context(), id, person+" is wrong")
			return err
		},
		func(string) error { s.clock.Advance(80 * time.Hour); return nil }, // it expires
	} {
		id := s.asPerson("issue_refund", fmt.Sprintf(`{"order_id":"E-2","amount":"%d.00","reason":"%%s asks for more"}`, 50+i))["approval_id"]
		if err := decide(id.(string)); err != nil {
			t.Fatal(err)
		}
	}
	s.requestsOf(person)
	ticket := s.asPerson("escalate_to_human", `{"summary":"%s wants to talk to a person","category":"other","order_id":"E-2"}`)["ticket_id"].(string)
	if _, err := office(s.db, "dora").Reply(t.Context(), ticket, "Dear "+person); err != nil {
		t.Fatal(err)
	}
	if _, err := office(s.db, "dora").CloseTicket(t.Context(), ticket); err != nil {
		t.Fatal(err)
	}
	if _, _, err := office(s.db, "dora").OpenCase(t.Context(), person, "agent", 8*time.Hour); err != nil {
		t.Fatal(err)
	}
	s.tx(func(tx *store.Tx) error {
		c, err := tx.CustomerByID(person)
		if err == nil {
			_, err = tx.AddPrincipal(store.Principal{Name: "pinned", Kind: policy.Agent, Role: policy.Staff, Customer: c.Key}, "cs_pinned")
		}
		return err
	})
	return s
}

// requestsOf files requests to a human for a customer and lets them be answered
// and collected, answered, declined, and forgotten; the customer's id is in each
// text.
func (s *shop) requestsOf(customer string) {
	s.t.Helper()
	for i, decide := range []func(id string) error{
		func(id string) error {
			_, err := office(s.db, "dora").Answer(s.t.Context(), id, map[string]string{"WORD": customer}, customer+" said so")
			if err == nil && s.callFor("agent", customer, "check_request", fmt.Sprintf(`{"request_id":%q}`, id)).IsError {
				err = errors.New("the answer can't be collected")
			}
			return err
		},
		func(id string) error {
			_, err := office(s.db, "dora").Answer(s.t.Context(), id, map[string]string{"WORD": customer}, "")
			return err
		},
		func(id string) error {
			_, err := office(s.db, "dora").Decline(s.t.Context(), id, customer+" won't")
			return err
		},
		func(string) error { s.clock.Advance(80 * time.Hour); return nil }, // it expires
	} {
		form := `{"title":"Word %d of WHO","instructions":"Ask WHO for it.","context":"WHO called.","category":"WHO","timeout_seconds":0,
			"fields":[{"name":"WORD","label":"Word of WHO","type":"string"}]}`
		res := s.callFor("agent", customer, "request_human", strings.ReplaceAll(fmt.Sprintf(form, i), "WHO", customer))
		var filed struct {
			ID string `json:"request_id"`
		}
		if err := json.Unmarshal(res.JSON, &filed); err != nil || res.IsError {
			s.t.Fatalf("%v: %s", err, res.JSON)
		}
		if err := decide(filed.ID); err != nil {
			s.t.Fatal(err)
		}
	}
}

// asPerson calls a tool for the person; %s in the arguments is the mark.
func (s *shop) asPerson(tool, arguments string) (answer map[string]any) {
	s.t.Helper()
	res := s.callFor("agent", person, tool, strings.ReplaceAll(arguments, "%s", person))
	if err := json.Unmarshal(res.JSON, &answer); err != nil || res.IsError {
		s.t.Fatalf("%v: %s", err, res.JSON)
	}
	return answer
}

func (s *shop) callFor(name, customer, tool, arguments string) tools.Result {
	desk := tools.NewDesk(s.db, office(s.db, name).Rules, slices.Concat(tools.All, tools.Human))
	return desk.Call(context.Background(), tools.Caller{Token: "cs_" + name, Customer: customer, Door: audit.MCP}, tool, json.RawMessage(arguments))
}

// query is what statements give, a line for each row.
func (s *shop) query(statement string) string {
	s.t.Helper()
	raw, err := sql.Open("sqlite3", s.db.Path())
	if err != nil {
		s.t.Fatal(err)
	}
	defer raw.Close()
	rows, err := raw.Query(statement)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var all strings.Builder
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintln(&all, values...)
	}
	return all.String()
}

// inFiles says which of the database's files hold the mark.
func (s *shop) inFiles() (found []string) {
	s.t.Helper()
	for _, ending := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(s.db.Path() + ending)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Fatal(err)
		}
		if bytes.Contains(data, []byte(person)) {
			found = append(found, "shop.db"+ending)
		}
	}
	return found
}

// kept is what an erasure must not change.
const kept = `select 'order', id, status, total, paid, refunded, placed_at, delivered_at from orders
	union all select 'refund', id, order_id, amount, currency, human, approval_id, created_at from refunds
	union all select 'approval', id, order_id, state, amount, approved_amount, decided_by, decided_at from approvals
	union all select 'ticket', id, order_id, state, category, priority, created_at, closed_at from tickets
	union all select 'item', order_id, line, sku, title, quantity, unit_price, 0 from order_items
	union all select 'parcel', id, order_id, status, delivered_at, carrier, eta, 0 from shipments
	union all select 'audit', seq, hash, at, customer, action, outcome, order_id from audit where action <> 'erase'`

func TestEraseRemovesThePerson(t *testing.T) {
	s := withPerson(t)
	server, err := store.Open(s.db.Path(), store.Options{}) // it keeps the log's file in being
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := server.View(t.Context(), func(v *store.View) error { _, _, err := v.AuditHead(); return err }); err != nil {
		t.Fatal(err)
	}
	before := s.query(kept)
	if s.inFiles() == nil {
		t.Fatal("the mark isn't in the files to begin with")
	}

	done, err := office(s.db, "dora").Erase(t.Context(), person)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, store.Erased{Orders: 3, Shipments: 4, Refunds: 2, Approvals: 7, Tickets: 1, Replies: 1, Principals: 1}, done)
	equal(t, nil, s.inFiles())
	equal(t, "{}   true\n{}   true\n{}   false\n{}   false\n",
		s.query("select arguments, note, result, case state when 'approved' then 'true' else 'false' end from approvals where tool = 'request_human' order by seq"))
	equal(t, before, s.query(kept))
	log := s.log() // which verifies the chain
	equal(t, "dora erase  ok ", log[len(log)-1])
	key := strings.TrimSpace(s.query("select key from customers where id is null"))
	equal(t, key, strings.TrimSpace(s.query("select customer from audit where action = 'erase'")))
	for _, table := range strings.Fields(s.query("select name from sqlite_schema where type = 'table'")) {
		if strings.Contains(s.query("select * from "+table), person) {
			t.Errorf("%s tells of the person", table)
		}
	}

	// Other processes go on, and find nobody.
	err = server.View(t.Context(), func(v *store.View) error {
		_, err := v.CustomerByID(person)
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// Nobody can act for who was erased, and no order of theirs can be found.
func TestErasedIsUnknown(t *testing.T) {
	s := withPerson(t)
	if _, err := office(s.db, "dora").Erase(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	for _, caller := range [][2]string{{"agent", person}, {"agent", ""}, {"pinned", person}, {"pinned", ""}} {
		for _, tool := range tools.All {
			if !tool.NeedsCustomer {
				continue
			}
			res := s.callFor(caller[0], caller[1], tool.Name, `{"order_id":"E-1"}`)
			if res.Code != policy.NoCustomer && res.Code != policy.PermissionDenied { // a revoked token's role is the least
				t.Errorf("%s by %v: %s", tool.Name, caller, res.JSON)
			}
		}
	}
	foreign, unknown := s.callFor("agent", "C-1", "get_order", `{"order_id":"E-1"}`), s.callFor("agent", "C-1", "get_order", `{"order_id":"E-404"}`)
	equal(t, string(unknown.JSON), string(foreign.JSON))

	_, err := office(s.db, "dora").Erase(t.Context(), person)
	refused(t, err, settle.NotFound, policy.NotFound, "no customer has this id")
	for _, id := range []string{"", "C-404", "E-1"} {
		_, err := office(s.db, "dora").Erase(t.Context(), id)
		refused(t, err, settle.NotFound, policy.NotFound, "no customer has this id")
	}
	err = s.db.View(t.Context(), func(v *store.View) error { // an operator still sees what was decided
		all, err := v.Approvals(true)
		for _, a := range all {
			if a.State != store.Expired && approvals.Check(a) == nil {
				t.Errorf("%s is as it was asked", a.ID)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// While something waits nothing is erased, and the attempt is on record.
func TestEraseIsRefusedWhileSomethingWaits(t *testing.T) {
	s := open(t)
	erase := func() error {
		_, err := office(s.db, "dora").Erase(context.Background(), "C-1")
		return err
	}
	before := s.query("select * from customers")
	one, two := s.parked("A-1", "144.00"), s.parked("A-1", "145.00")
	refused(t, erase(), settle.Conflict, settle.StillWaits, "this customer has 2 requests that wait for a decision; finish that first")
	if err := errors.Join(s.approve("dora", one, ""), s.reject("dora", two)); err != nil {
		t.Fatal(err)
	}
	ask := `{"title":"A word","instructions":"Ask for it.","category":"word","timeout_seconds":0,"fields":[]}`
	if res := s.callFor("agent", "C-1", "request_human", ask); res.IsError {
		t.Fatalf("%s", res.JSON)
	}
	refused(t, erase(), settle.Conflict, settle.StillWaits, "this customer has a request that waits for a decision; finish that first")
	request := strings.TrimSpace(s.query("select id from approvals where tool = 'request_human'"))
	if _, err := office(s.db, "dora").Decline(t.Context(), request, "not needed"); err != nil {
		t.Fatal(err)
	}
	var ticket struct {
		ID string `json:"ticket_id"`
	}
	res := s.callFor("agent", "C-1", "escalate_to_human", `{"summary":"wants to talk to a person","category":"other"}`)
	if err := json.Unmarshal(res.JSON, &ticket); err != nil {
		t.Fatal(err)
	}
	s.sql("update orders set status = 'processing' where id = 'A-2'")
	refused(t, erase(), settle.Conflict, settle.StillWaits, "this customer has an open ticket and an order that is still processing; finish that first")
	if _, err := office(s.db, "dora").CloseTicket(t.Context(), ticket.ID); err != nil {
		t.Fatal(err)
	}
	refused(t, erase(), settle.Conflict, settle.StillWaits, "this customer has an order that is still processing; finish that first")
	equal(t, before, s.query("select * from customers"))

	s.sql("update orders set status = 'shipped' where id = 'A-2'")
	expiring := s.parked("A-1", "100.00")
	s.clock.Advance(80 * time.Hour) // nobody decides it any more
	if err := erase(); err != nil {
		t.Errorf("%s has expired: %v", expiring, err)
	}
	log := s.log()
	equal(t, "dora erase  denied still_waits", log[0])
	equal(t, "dora erase  ok ", log[len(log)-1])
}

// Only a manager of kind operator may, and not in an agent's shell.
func TestWhoMayErase(t *testing.T) {
	s := open(t)
	for _, name := range []string{"agent", "robot", "sam", "nobody"} {
		_, err := office(s.db, name).Erase(t.Context(), "C-1")
		if refused := (*settle.Error)(nil); !errors.As(err, &refused) || refused.Kind != settle.NotPermitted {
			t.Errorf("%s: %v", name, err)
		}
	}
	inside := office(s.db, "dora")
	inside.AgentShell = true
	if _, err := inside.Erase(t.Context(), "C-1"); err == nil {
		t.Error("an agent's shell may erase")
	}
	equal(t, "C-1", strings.TrimSpace(s.query("select id from customers")))
}

// If the row can't be written nobody is erased.
func TestNoRowNoErasure(t *testing.T) {
	s := withPerson(t)
	s.sql("create trigger broken before insert on audit begin select raise(abort, 'no space'); end")
	before := s.query("select * from customers") + s.query("select * from scans") + s.query("select * from approvals") + s.query("select * from erased")
	if _, err := office(s.db, "dora").Erase(t.Context(), person); err == nil {
		t.Error("it was erased")
	}
	equal(t, before, s.query("select * from customers")+s.query("select * from scans")+s.query("select * from approvals")+s.query("select * from erased"))
}
