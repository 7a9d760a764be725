package settle_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
	"countersign/tools"
	"countersign/tools/settle"
)

// TestHistories plays random histories of a small shop: two agents on two servers and an operator on one file, who also refunds outside the policy, imports, and
// a clock that mostly runs forward. Whatever happens, what was paid, refunded and waits, what can be refunded, every
// answer, and every row of the audit log agree with the model. Try -rapid.checks=5000, -rapid.steps=80.
func TestHistories(t *testing.T) {
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		must(t, checks.Value.Set("40")) // each takes a tenth of a second: it syncs some hundred commits
		defer checks.Value.Set(checks.DefValue)
	}
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		h := begin(t, rt, dir)
		defer h.close()
		rt.Repeat(map[string]func(*rapid.T){
			"":            h.agree,
			"ask":         h.ask,
			"ask again":   h.ask,
			"repeat":      h.repeat,
			"approve":     h.approve,
			"reject":      h.reject,
			"issue":       h.issue,
			"move clock":  h.moveClock,
			"import":      h.importLine,
			"look around": h.lookAround,
		})
		h.verify(rt)
	})
}

// history is a shop in the making, and the model of it.
type history struct {
	*book
	path    string
	opts    store.Options
	clock   *storetest.Clock
	servers [2]*store.DB
	desks   [2]*tools.Desk
	office  *settle.Office
	rows    int64     // in the log
	focus   []*ledger // orders that most of it is about
	last    *asking   // the newest call
}

var agents = []string{"ann", "bob"} // ann calls one server, bob the other

// begin makes a shop in a file of its own.
func begin(outer *testing.T, t *rapid.T, dir string) *history {
	zone, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "America/New_York", "Pacific/Auckland"}).Draw(t, "zone"))
	must(t, err)
	h := &history{clock: new(storetest.Clock), book: &book{zone: zone, orders: historyShop()}}
	counted := map[string]int{}
	h.opts = store.Options{Now: h.clock.Now, NewID: func(prefix string) string {
		counted[prefix]++
		return fmt.Sprintf("%s%04d", prefix, counted[prefix])
	}}
	folder, err := os.MkdirTemp(dir, "")
	must(t, err)
	h.path = filepath.Join(folder, "shop.db")
	must(t, store.Create(h.path, h.opts, func(tx *store.Tx) error {
		for _, name := range agents {
			if _, err := tx.AddPrincipal(store.Principal{Name: name, Kind: policy.Agent, Role: policy.Staff}, "cs_"+name); err != nil {
				return err
			}
		}
		_, err := tx.AddPrincipal(store.Principal{Name: "dora", Kind: policy.Operator, Role: policy.Manager}, "cs_dora")
		return errors.Join(err, tx.SetSetting(store.SettingPolicy, fmt.Sprintf(historyPolicy, zone)))
	}))
	h.open(t)
	lines := `{"type":"customer","id":"C-1","name":"Ava","created_at":"-400d"}` + "\n" +
		`{"type":"customer","id":"C-2","name":"Ben","created_at":"-400d"}` + "\n"
	for _, o := range h.orders {
		lines += o.line()
		for i := range o.parcels {
			lines += o.parcelLine(i, o.parcels[i])
		}
	}
	storetest.Shop(outer, h.servers[0], lines)
	drawn := rapid.Permutation(h.orders[:len(h.orders)-2]).Draw(t, "orders")
	third := rapid.SampledFrom(slices.Concat(drawn[2:], h.orders[len(h.orders)-2:])).Draw(t, "order")
	h.focus = []*ledger{drawn[0], drawn[1], third}
	return h
}

func (h *history) open(t *rapid.T) {
	for i := range h.servers {
		db, err := store.Open(h.path, h.opts)
		must(t, err)
		h.servers[i] = db
		rules, err := tools.NewRulebook(t.Context(), db, nil)
		must(t, err)
		h.desks[i] = tools.NewDesk(db, rules, tools.All)
	}
	h.office = office(h.servers[1], "dora")
}

func (h *history) close() {
	for _, db := range h.servers {
		if err := db.Close(); err != nil {
			panic(err)
		}
	}
	if err := os.RemoveAll(filepath.Dir(h.path)); err != nil {
		panic(err)
	}
}

// historyShop has every kind of order: paid in part and not at all, delivered, half delivered and not delivered, in one parcel,
// two, and none, with the window about to close.
func historyShop() []*ledger {
	order := func(id, currency string, price, paid int64, days ...int) *ledger {
		o := &ledger{id: id, customer: "C-" + id[1:2], currency: currency, status: "delivered", price: price, paid: paid}
		for _, d := range days {
			o.parcels = append(o.parcels, daysAgo(d))
		}
		return o
	}
	without := func(o *ledger, days int) *ledger {
		o.delivered = daysAgo(days)
		return o
	}
	cancelled := without(order("A1-6", "USD", 2000, 2000), 9)
	cancelled.status = "cancelled"
	partly := without(order("A2-3", "USD", 12000, 5000), 8)
	partly.refunded, partly.figure = 1000, 1000
	return []*ledger{
		without(order("A1-1", "USD", 14400, 14400), 28), order("A1-2", "USD", 3500, 3500, 12),
		without(order("A1-3", "JPY", 5400, 5400), 2), order("A1-4", "USD", 4001, 8002, 29, 3),
		order("A1-5", "USD", 5000, 5000, never),
		without(order("A2-1", "KWD", 30500, 30500), 29), order("A2-2", "EUR", 6000, 6000, 28), partly,
		order("A2-4", "USD", 2500, 5000, 10, never),
		cancelled, without(order("A2-5", "USD", 2500, 0), 4), // the last two are of little interest
	}
}

const never = -1

func daysAgo(days int) time.Time {
	if days == never {
		return time.Time{}
	}
	return storetest.Start.Add(-time.Duration(days) * 24 * time.Hour)
}

// line is what the shop says of an order.
func (o *ledger) line() string {
	var items []string
	for i := range max(len(o.parcels), 1) {
		items = append(items, fmt.Sprintf(`{"sku":"S-%d","title":"Shoe","quantity":1,"unit_price":%q}`, i, decimal(o.price, o.currency)))
	}
	delivered := ""
	if !o.delivered.IsZero() {
		delivered = fmt.Sprintf(`"delivered_at":%q,`, o.delivered.Format(time.RFC3339))
	}
	return fmt.Sprintf(`{"type":"order","id":%q,"customer_id":%q,"status":%q,"currency":%q,"placed_at":"2026-01-01T00:00:00Z",%s`+
		`"items":[%s],"total":%q,"paid":%q,"refunded":%q}`+"\n", o.id, o.customer, o.status, o.currency, delivered,
		strings.Join(items, ","), decimal(o.price*int64(len(items)), o.currency), decimal(o.paid, o.currency), decimal(o.figure, o.currency))
}

// parcelLine is what the shop says of a parcel of an order that was delivered then, or wasn't.
func (o *ledger) parcelLine(i int, delivered time.Time) string {
	scan := ""
	if !delivered.IsZero() {
		scan = fmt.Sprintf(`{"at":%q,"status":"delivered"}`, delivered.Format(time.RFC3339))
	}
	return fmt.Sprintf(`{"type":"shipment","order_id":%q,"tracking_number":"T-%d","status":"in_transit",`+
		`"items":[{"sku":"S-%d","quantity":1}],"scans":[%s]}`+"\n", o.id, i, i, scan)
}

// reply is whatever a tool answers.
type reply struct {
	Error, Status, Amount, Currency, Remaining string
	Paid, Refunded, Refundable                 string
	Awaiting                                   string `json:"awaiting_approval"`
	WindowEnds                                 string `json:"refund_window_ends"`
	RefundID                                   string `json:"refund_id"`
	ApprovalID                                 string `json:"approval_id"`
	Requested                                  string `json:"requested_amount"`
	ExpiresAt                                  string `json:"expires_at"`
	Replayed                                   bool
	Operator                                   struct{ Name, Note string }
	Refunds                                    []struct {
		ID     string `json:"refund_id"`
		Amount string
	}
	Approvals []struct {
		ID    string `json:"approval_id"`
		State string
	}
	Earlier int `json:"earlier_omitted"`
	Omitted int `json:"tickets_and_approvals_omitted"`
}

// call makes one call and checks its row in the log against its answer.
func (h *history) call(t *rapid.T, who, customer, tool string, args map[string]any) (r reply, row store.AuditRow) {
	raw, err := json.Marshal(args)
	must(t, err)
	desk := h.desks[slices.Index(agents, who)]
	res := desk.Call(context.Background(), tools.Caller{Token: "cs_" + who, Customer: customer, Door: audit.MCP, Session: "of " + who}, tool, raw)
	must(t, json.Unmarshal(res.JSON, &r))
	outcome := "ok"
	switch {
	case r.Error == "invalid_arguments":
		outcome = "invalid"
	case r.Error != "":
		outcome = "denied"
	case r.Status == "pending_approval":
		outcome = "pending_approval"
	}
	code := r.Error
	if r.Replayed {
		code = "replayed"
	}
	row = h.newRow(t)
	same(t, "the row of the call", []any{who, "of " + who, tool, outcome, code, r.Error != ""},
		[]any{row.Actor, row.Session, row.Action, row.Outcome, row.Code, res.IsError})
	return r, row
}

// newRow returns the one row that was just written.
func (h *history) newRow(t *rapid.T) (row store.AuditRow) {
	count := 0
	must(t, h.servers[0].View(context.Background(), func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{After: h.rows}, func(r store.AuditRow) error {
			row, count = r, count+1
			return nil
		})
	}))
	same(t, "rows in the log", 1, count)
	h.rows++
	return row
}

// agree holds the orders' rows against the model.
func (h *history) agree(t *rapid.T) {
	type order struct {
		ID, Status         string
		Paid, Refunded     int64
		Refunds, Approvals []string
	}
	var want, got []order
	for _, o := range h.focus {
		w := order{ID: o.id, Status: o.status, Paid: o.paid, Refunded: o.refunded}
		for _, p := range o.made {
			w.Refunds = append(w.Refunds, fmt.Sprint(p.id, p.minor, p.human))
		}
		for _, a := range o.asked {
			w.Approvals = append(w.Approvals, fmt.Sprint(a.id, a.minor, a.stateAt(h.clock.Now()), a.given))
		}
		want = append(want, w)
	}
	var refunds []store.Refund
	must(t, h.servers[0].View(context.Background(), func(v *store.View) error {
		for _, o := range h.focus {
			stored, err := v.OrderByID(o.id)
			made, err2 := v.Refunds(o.id)
			asked, err3 := v.ApprovalsOfOrder(o.id)
			if err := errors.Join(err, err2, err3); err != nil {
				return err
			}
			g := order{ID: stored.ID, Status: stored.Status, Paid: stored.Paid, Refunded: stored.Refunded}
			for _, r := range made {
				g.Refunds = append(g.Refunds, fmt.Sprint(r.ID, r.Amount, r.Human))
			}
			for _, a := range asked {
				g.Approvals = append(g.Approvals, fmt.Sprint(a.ID, a.Amount, a.State, a.ApprovedAmount))
			}
			got, refunds = append(got, g), append(refunds, made...)
		}
		return nil
	}))
	same(t, "the orders", want, got)
	withinLimits(t, refunds)
	for _, o := range h.focus {
		if ours, _ := o.here(); o.refunded > o.paid || ours > o.refunded {
			t.Fatalf("%s: %d paid, %d refunded, %d of it here", o.id, o.paid, o.refunded, ours)
		}
	}
}

// withinLimits checks that no limit was passed without a human, on an order or over any 24 hours of a customer.
func withinLimits(t *rapid.T, refunds []store.Refund) {
	for _, last := range refunds {
		var order, day int64
		for _, r := range refunds {
			if r.Human || last.Human {
				continue
			}
			if r.OrderID == last.OrderID {
				order += r.Amount
			}
			age := last.Created.Sub(r.Created)
			if r.Customer == last.Customer && r.Currency == last.Currency && age >= 0 && age < 24*time.Hour {
				day += r.Amount
			}
		}
		daily, limited := dayLimit[last.Currency]
		if order > autoLimit[last.Currency] || limited && day > daily {
			t.Fatalf("%s: %d on the order and %d in 24 hours without a human", last.ID, order, day)
		}
	}
}

// look asks for an order, holds the answer against the model, and returns what is refundable.
func (h *history) look(t *rapid.T, o *ledger, who string) int64 {
	r, row := h.call(t, who, o.customer, "get_order", map[string]any{"order_id": o.id})
	same(t, "the row's order", o.id, row.OrderID)
	now := h.clock.Now()
	same(t, o.id+": paid, refunded, awaiting, end of the window",
		[]string{decimal(o.paid, o.currency), decimal(o.refunded, o.currency), decimal(o.awaiting(now, nil), o.currency), h.windowEnds(o)},
		[]string{r.Paid, r.Refunded, r.Awaiting, r.WindowEnds})
	left := minorUnits(r.Refundable)
	if least, most := h.refundable(o, now, now, nil); left < least || left > most {
		t.Fatalf("%s: %d refundable, want %d to %d", o.id, left, least, most)
	}
	var want, got []string
	for _, p := range o.made[max(len(o.made)-8, 0):] {
		want = append(want, p.id+" "+decimal(p.minor, o.currency))
	}
	for _, a := range o.asked[max(len(o.asked)-8, 0):] {
		want = append(want, a.id+" "+a.stateAt(now))
	}
	for _, p := range r.Refunds {
		got = append(got, p.ID+" "+p.Amount)
	}
	for _, a := range r.Approvals {
		got = append(got, a.ID+" "+a.State)
	}
	same(t, o.id+": what happened", want, got)
	same(t, o.id+": omitted", len(o.made)+len(o.asked)-len(want), r.Earlier)
	return left
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same[T any](t *rapid.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: -want +got:\n%s", what, diff)
	}
}
