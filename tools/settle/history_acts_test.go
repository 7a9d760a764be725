package settle_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"countersign/audit"
	"countersign/policy"
	"countersign/store/ingest"
	"countersign/tools/settle"
)

// What can happen in a history.

// ask asks for a refund that is drawn, mostly around what decides about it.
func (h *history) ask(t *rapid.T) {
	o := rapid.SampledFrom(h.focus).Draw(t, "order")
	who := rapid.SampledFrom(agents).Draw(t, "who")
	left := h.look(t, o, who)
	_, automatic := o.here()
	limit := max(autoLimit[o.currency]-automatic, 0) // what is left of it
	c := asking{who: who, customer: o.customer, order: o, minor: rapid.SampledFrom([]int64{
		everything, left, limit, left / 2, 700, left + 1, 0, unreadable, 1, limit + 1, o.paid / 5, o.paid / 10,
	}).Draw(t, "minor")}
	switch {
	case c.minor == unreadable:
		c.text = "1.2345"
	case c.minor >= 0:
		c.text = decimal(c.minor, o.currency)
	}
	if strings.HasSuffix(c.text, "0") && strings.Contains(c.text, ".") && rapid.Bool().Draw(t, "short") {
		c.text = "0" + c.text[:len(c.text)-1] // the same amount, written another way
	}
	c.currency = rapid.SampledFrom([]string{"", "", "", "", o.currency, "CHF", o.currency, "", ""}).Draw(t, "currency")
	c.reason = rapid.SampledFrom([]string{"does not fit", "came late"}).Draw(t, "reason")
	c.another = rapid.SampledFrom([]bool{false, false, true}).Draw(t, "another")
	if rapid.IntRange(0, 15).Draw(t, "foreign") == 11 {
		c.customer = map[string]string{"C-1": "C-2", "C-2": "C-1"}[o.customer]
	}
	h.refund(t, c, left)
}

// repeat makes the newest call again, word for word, at once or later.
func (h *history) repeat(t *rapid.T) {
	if h.last == nil {
		t.Skip("nothing was asked yet")
	}
	h.clock.Advance(rapid.SampledFrom([]time.Duration{0, 6 * time.Minute, 11 * time.Minute, 13 * time.Hour}).Draw(t, "later"))
	h.refund(t, *h.last, h.look(t, h.last.order, h.last.who))
}

// refund makes a call, just after get_order has said what is left, and books what has to come of it.
func (h *history) refund(t *rapid.T, c asking, left int64) {
	h.last = &c
	o, now := c.order, h.clock.Now()
	want := h.answerTo(c, now, left)
	args := map[string]any{"order_id": o.id, "reason": c.reason, "another": c.another}
	if c.text != "" {
		args["amount"] = c.text
	}
	if c.currency != "" {
		args["currency"] = c.currency
	}
	r, row := h.call(t, c.who, c.customer, "issue_refund", args)
	if want.either && r.Status == "pending_approval" {
		want.status = r.Status
	}
	same(t, "code and status", []string{want.code, want.status}, []string{r.Error, r.Status})
	if r.Paid != "" {
		same(t, "the figures of the refusal",
			[]string{decimal(o.paid, o.currency), decimal(o.refunded, o.currency), decimal(o.awaiting(now, nil), o.currency), decimal(left, o.currency)},
			[]string{r.Paid, r.Refunded, r.Awaiting, r.Refundable})
	}
	if want.parked != nil {
		same(t, "the earlier request", []string{want.parked.id, want.parked.id}, []string{r.ApprovalID, row.ApprovalID})
	}
	if want.code != "" {
		owned := o.id
		if want.code == "not_found" {
			owned = ""
		}
		same(t, "the row's order", owned, row.OrderID)
		return
	}
	same(t, "what was done", []any{decimal(want.minor, o.currency), o.currency, want.paid != nil || want.parked != nil},
		[]any{r.Amount, r.Currency, r.Replayed})
	same(t, "what was recorded", []any{o.id, r.ApprovalID, &want.minor, o.currency},
		[]any{row.OrderID, row.ApprovalID, row.Amount, row.Currency})
	switch {
	case want.paid != nil:
		same(t, "the earlier refund", want.paid.id, r.RefundID)
		same(t, "what remains", decimal(left, o.currency), r.Remaining)
		if want.parked != nil && want.parked.given < want.parked.minor {
			same(t, "what was asked", decimal(want.parked.minor, o.currency), r.Requested)
		}
	case want.parked != nil:
		same(t, "until when it waits", want.parked.created.Add(waitsFor).Format(time.RFC3339), r.ExpiresAt)
	case want.status == "refunded":
		o.refund(&payout{id: r.RefundID, what: c.identity(), minor: want.minor, at: now})
		same(t, "what remains", r.Remaining, decimal(h.look(t, o, c.who), o.currency))
	default:
		same(t, "until when it waits", now.Add(waitsFor).Format(time.RFC3339), r.ExpiresAt)
		o.asked = append(o.asked, &ask{id: r.ApprovalID, what: c.identity(), minor: want.minor, created: now, state: "pending"})
		if after := h.look(t, o, c.who); after != left-want.minor {
			t.Fatalf("%s: %d refundable, %d of it asked for, %d refundable", o.id, left, want.minor, after)
		}
	}
}

// parked is a request with its order.
type parked struct {
	o *ledger
	a *ask
}

func (p parked) GoString() string { return p.a.id }

// request draws a request, one that waits if there is one mostly, and says what deciding it has to be refused with, if
// that is plain. There is none behind an unknown id.
func (h *history) request(t *rapid.T) (o *ledger, a *ask, refusal string) {
	h.clock.Advance(rapid.SampledFrom([]time.Duration{0, 50 * time.Hour, 0, 0}).Draw(t, "later"))
	var waiting, rows []parked
	now := h.clock.Now()
	for _, o := range h.focus {
		for _, a := range o.asked {
			if rows = append(rows, parked{o, a}); a.stateAt(now) == "pending" {
				waiting = append(waiting, parked{o, a})
			}
		}
	}
	if rows = append(rows, parked{nil, &ask{id: "AP-9999"}}); len(rows) == 1 && rapid.IntRange(0, 15).Draw(t, "unknown") != 11 {
		t.Skip("nothing was parked yet")
	}
	if len(waiting) > 0 && rapid.IntRange(0, 15).Draw(t, "any") < 12 {
		rows = waiting
	}
	drawn := rapid.SampledFrom(rows).Draw(t, "request")
	return drawn.o, drawn.a, map[string]string{
		"": "not_found", "approved": "already_decided", "rejected": "already_decided", "stale": "request_stale", "expired": "request_expired",
	}[drawn.a.stateAt(now)]
}

// approve approves all of a request, or part of it, or more.
func (h *history) approve(t *rapid.T) {
	o, a, refusal := h.request(t)
	now, minor, text := h.clock.Now(), a.minor, ""
	allowed := []string{refusal}
	if o != nil {
		part := rapid.SampledFrom([]int64{everything, everything, a.minor, a.minor / 2, a.minor - 1, 1, a.minor + 1}).Draw(t, "minor")
		if part != everything {
			minor, text = part, decimal(part, o.currency)
		}
		if refusal == "" {
			allowed = h.approval(o, a, now, minor)
		}
	}
	decided, err := h.office.Approve(context.Background(), a.id, text, "fine")
	switch code := h.decided(t, "approvals approve", o, a, err); {
	case !slices.Contains(allowed, code):
		t.Fatalf("approving %d of %+v: %s, want one of %v: %v", minor, a, code, allowed, err)
	case code == "request_stale" && refusal == "":
		a.state, a.decided = "stale", now
	case code == "ok":
		same(t, "the decision", []any{"approved", minor, "dora"}, []any{decided.State, decided.ApprovedAmount, decided.DecidedByName})
		var result reply
		must(t, json.Unmarshal(decided.Result, &result))
		same(t, "the result", []string{"refunded", decimal(minor, o.currency), a.id}, []string{result.Status, result.Amount, result.ApprovalID})
		a.state, a.given, a.decided = "approved", minor, now
		a.paid = &payout{id: result.RefundID, what: a.what, minor: minor, at: now, human: true}
		o.refund(a.paid)
	}
	h.lookAt(t, o)
}

// reject says no.
func (h *history) reject(t *rapid.T) {
	o, a, refusal := h.request(t)
	_, err := h.office.Reject(context.Background(), a.id, "no, because")
	code := h.decided(t, "approvals reject", o, a, err)
	if refusal == "" {
		refusal, a.state, a.decided = "ok", "rejected", h.clock.Now()
	}
	same(t, "rejecting "+a.id, refusal, code)
	h.lookAt(t, o)
}

// issue refunds outside the policy, mostly around what bounds it.
func (h *history) issue(t *rapid.T) {
	o, now := rapid.SampledFrom(h.focus).Draw(t, "order"), h.clock.Now()
	rest := max(o.paid-o.refunded, 0)
	free := rest - o.awaiting(now, nil)
	minor := max(rapid.SampledFrom([]int64{300, free, 300, rest, free + 1, free / 3, rest + 1, 0}).Draw(t, "minor"), 0)
	in := settle.Refunding{Order: o.id, Amount: decimal(minor, o.currency), Note: "goodwill", Another: rapid.IntRange(0, 3).Draw(t, "another") == 3}
	made, err := h.office.IssueRefund(context.Background(), in)
	row := h.newRow(t)
	want, outcome := h.issued(o, now, minor, in.Another), "denied"
	code := "ok"
	var refused *settle.Error
	if errors.As(err, &refused) {
		code = string(refused.Code)
	} else {
		must(t, err)
		outcome = "ok"
		o.refund(&payout{id: made.ID, what: identity{who: "dora", amount: minor}, minor: minor, at: now, human: true})
	}
	amount := &minor
	if want == "invalid_arguments" {
		outcome, amount = "invalid", nil
	}
	same(t, "issuing", want, code)
	same(t, "the row of the act", []any{"dora", "refunds issue", o.id, "", outcome, strings.TrimPrefix(code, "ok"), amount},
		[]any{row.Actor, row.Action, row.OrderID, row.ApprovalID, row.Outcome, row.Code, row.Amount})
	h.lookAt(t, o)
}

// decided checks the row of an operator's act and returns the code of its refusal, or "ok".
func (h *history) decided(t *rapid.T, action string, o *ledger, a *ask, err error) string {
	var refused *settle.Error
	code, outcome := "ok", "ok"
	if errors.As(err, &refused) {
		code = string(refused.Code)
		outcome = map[settle.Kind]string{settle.Conflict: "denied", settle.NotFound: "error", settle.Invalid: "invalid", settle.Failed: "error"}[refused.Kind]
	} else {
		must(t, err)
	}
	row := h.newRow(t)
	order, approval := "", ""
	if o != nil {
		order, approval = o.id, a.id
	}
	same(t, "the row of the act", []string{"dora", action, order, approval, outcome, strings.TrimPrefix(code, "ok")},
		[]string{row.Actor, row.Action, row.OrderID, row.ApprovalID, row.Outcome, row.Code})
	return code
}

// moveClock moves the clock, now and then a little back.
func (h *history) moveClock(t *rapid.T) {
	h.clock.Advance(rapid.SampledFrom([]time.Duration{
		13 * time.Hour, 6 * time.Minute, 25 * time.Hour, 71 * time.Hour, 11 * time.Minute, 9 * 24 * time.Hour, 5 * time.Hour, time.Minute, 73 * time.Hour,
		-time.Minute, 27 * 24 * time.Hour, -2 * time.Hour,
	}).Draw(t, "by") + time.Millisecond) // never exactly on a boundary: those have tests of their own
}

// importLine imports what the shop says of an order, or of a parcel, by now.
func (h *history) importLine(t *rapid.T) {
	o := rapid.SampledFrom(h.focus).Draw(t, "order")
	at := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "not") {
			return time.Time{}
		}
		return h.clock.Now().UTC().Truncate(time.Second).Add(-time.Duration(rapid.IntRange(0, 35).Draw(t, "days")) * 24 * time.Hour)
	}).Draw(t, "delivered")
	if len(o.parcels) > 0 && rapid.Bool().Draw(t, "parcel") {
		i := rapid.IntRange(0, len(o.parcels)-1).Draw(t, "which")
		same(t, "the import", "ok", h.imported(t, o.parcelLine(i, at)))
		o.parcels[i] = sooner(o.parcels[i], at)
		h.lookAt(t, o)
		return
	}
	next := *o
	next.delivered = at
	next.status = rapid.SampledFrom([]string{o.status, o.status, o.status, "delivered", "shipped", "cancelled", o.status, o.status}).Draw(t, "status")
	next.paid = rapid.SampledFrom([]int64{o.paid, o.paid, o.paid, o.paid, o.price, o.refunded, max(o.refunded-1, 0)}).Draw(t, "paid")
	next.figure = min(next.paid, rapid.SampledFrom([]int64{
		o.refunded + 500, o.figure, 0, next.paid, o.figure, o.refunded, o.refunded + o.paid/2}).Draw(t, "figure"))
	want := "invalid_arguments"
	before := o.refunded
	if o.imports(next) {
		want = "ok"
	}
	same(t, "the import", want, h.imported(t, next.line()))
	if o.refunded < before {
		t.Fatalf("the model is wrong: %s: refunded fell from %d to %d", o.id, before, o.refunded)
	}
	h.lookAt(t, o)
}

// imported imports a line as the CLI does, and returns the code of the refusal, or "ok".
func (h *history) imported(t *rapid.T, line string) string {
	batch, err := ingest.Read(strings.NewReader(line), h.clock.Now())
	must(t, err)
	return h.decided(t, "import native", nil, nil, h.office.Do(context.Background(), "import native", policy.Manager, func(s *settle.Session) error {
		_, err := batch.Store(s.Tx, ingest.Options{})
		if errors.Is(err, ingest.ErrProblems) {
			err = &settle.Error{Kind: settle.Invalid, Code: policy.InvalidArguments, Message: err.Error()}
		}
		return err
	}))
}

// lookAt looks at an order after something was done about it.
func (h *history) lookAt(t *rapid.T, o *ledger) {
	if o != nil {
		h.look(t, o, agents[0])
	}
}

// lookAround looks at any order and at a customer, mostly after every program has been restarted.
func (h *history) lookAround(t *rapid.T) {
	if rapid.Bool().Draw(t, "restart") {
		for _, db := range h.servers {
			must(t, db.Close())
		}
		h.open(t)
	}
	who := rapid.SampledFrom(agents).Draw(t, "who")
	o := rapid.SampledFrom(h.orders).Draw(t, "order")
	h.look(t, o, who)
	r, _ := h.call(t, who, o.customer, "lookup_customer", nil)
	now := h.clock.Now()
	var want, got []string
	for _, other := range h.orders {
		for _, a := range other.asked {
			state := a.stateAt(now)
			recent := state == "pending" || state != "expired" && a.decided.After(now.Add(-7*24*time.Hour))
			if other.customer == o.customer && recent {
				want = append(want, a.id+" "+state)
			}
		}
	}
	slices.Sort(want) // ids count up
	slices.Reverse(want)
	for _, a := range r.Approvals {
		got = append(got, a.ID+" "+a.State)
	}
	same(t, "omitted", len(want)-len(got), r.Omitted)
	same(t, "the customer's requests", want[:len(got)], got)
}

// verify checks the whole log and, for once, every order.
func (h *history) verify(t *rapid.T) {
	head, err := audit.Verify(context.Background(), h.servers[0], nil)
	must(t, err)
	same(t, "rows in the log", h.rows, head.Seq)
	h.focus = h.orders
	h.agree(t)
}
