package settle_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
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

// shopFile names the database for a process that TestManyProcesses starts.
const shopFile = "SETTLE_TEST_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(shopFile); path != "" {
		decideInAnotherProcess(path)
		return
	}
	os.Exit(m.Run())
}

func equal[T any](t testing.TB, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// shop has a customer C-1 with orders A-1 (300.00) and A-2 (60.00), delivered 5
// days ago, an agent and three operators.
type shop struct {
	t     *testing.T
	db    *store.DB
	clock *storetest.Clock
	ids   map[string]string // by principal's name
}

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{t: t, clock: new(storetest.Clock), ids: map[string]string{}}
	s.db = storetest.New(t, storetest.WithClock(s.clock))
	order := `{"type":"order","id":"%s","customer_id":"C-1","status":"delivered","currency":"USD","placed_at":"-9d","delivered_at":"-5d",` +
		`"items":[{"sku":"S-1","title":"Shoe","quantity":1,"unit_price":"%s"}],"total":"%[2]s"}` + "\n"
	storetest.Shop(t, s.db, `{"type":"customer","id":"C-1","name":"Ava","created_at":"-400d"}`+"\n"+
		fmt.Sprintf(order, "A-1", "300.00")+fmt.Sprintf(order, "A-2", "60.00"))
	s.tx(func(tx *store.Tx) error {
		for _, p := range []store.Principal{
			{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, {Name: "robot", Kind: policy.Agent, Role: policy.Manager},
			{Name: "dora", Kind: policy.Operator, Role: policy.Manager}, {Name: "emil", Kind: policy.Operator, Role: policy.Manager},
			{Name: "sam", Kind: policy.Operator, Role: policy.Staff},
		} {
			added, err := tx.AddPrincipal(p, "cs_"+p.Name)
			if err != nil {
				return err
			}
			s.ids[p.Name] = added.ID
		}
		return tx.SetSetting(store.SettingPolicy, "refund: {auto_limit: {USD: \"40.00\"}}")
	})
	return s
}

func (s *shop) tx(act func(*store.Tx) error) {
	s.t.Helper()
	if err := s.db.Tx(context.Background(), act); err != nil {
		s.t.Fatal(err)
	}
}

// sql runs statements beside the program.
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

func office(db *store.DB, name string) *settle.Office {
	rules, err := tools.NewRulebook(context.Background(), db, nil)
	if err != nil {
		panic(err)
	}
	return &settle.Office{DB: db, Rules: rules, Caller: tools.Caller{Token: "cs_" + name, Door: audit.CLI}}
}

// ask asks for a refund as a principal and returns the answer.
func (s *shop) ask(name, order, amount string) (answer struct {
	Status     string
	Error      string
	Amount     string
	ApprovalID string `json:"approval_id"`
	RefundID   string `json:"refund_id"`
}) {
	s.t.Helper()
	desk := tools.NewDesk(s.db, office(s.db, name).Rules, tools.All)
	res := desk.Call(context.Background(), tools.Caller{Token: "cs_" + name, Customer: "C-1", Door: audit.MCP}, "issue_refund",
		fmt.Appendf(nil, `{"order_id":%q,"amount":%q,"reason":"does not fit"}`, order, amount))
	if err := json.Unmarshal(res.JSON, &answer); err != nil {
		s.t.Fatal(err)
	}
	return answer
}

// parked asks for a refund that has to wait and returns the request's id.
func (s *shop) parked(order, amount string) string {
	s.t.Helper()
	answer := s.ask("agent", order, amount)
	if answer.Status != "pending_approval" {
		s.t.Fatalf("the request doesn't wait: %+v", answer)
	}
	return answer.ApprovalID
}

func (s *shop) approve(name, id, amount string) error {
	_, err := office(s.db, name).Approve(context.Background(), id, amount, "")
	return err
}

func (s *shop) reject(name, id string) error {
	_, err := office(s.db, name).Reject(context.Background(), id, "worn for weeks")
	return err
}

// state is a request's state, who decided it, and how much was approved.
func (s *shop) state(id string) string {
	s.t.Helper()
	var a store.Approval
	err := s.db.View(context.Background(), func(v *store.View) (err error) {
		a, err = v.Approval(id)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(fmt.Sprint(a.State, " ", a.DecidedByName, " ", a.ApprovedAmount))
}

func (s *shop) refunds(order string) (amounts []int64) {
	s.t.Helper()
	err := s.db.View(context.Background(), func(v *store.View) error {
		refunds, err := v.Refunds(order)
		for _, r := range refunds {
			amounts = append(amounts, r.Amount)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return amounts
}

// log is the audit rows of operators: who, what, to which request, with what outcome.
func (s *shop) log() (rows []string) {
	s.t.Helper()
	err := s.db.View(context.Background(), func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{}, func(r store.AuditRow) error {
			if r.Door == string(audit.CLI) {
				rows = append(rows, strings.Join([]string{r.Actor, r.Action, r.ApprovalID, r.Outcome, r.Code}, " "))
			}
			return nil
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := audit.Verify(context.Background(), s.db, nil); err != nil {
		s.t.Error(err)
	}
	return rows
}

// refused checks a refusal's kind, code and words.
func refused(t *testing.T, err error, kind settle.Kind, code policy.Code, words string) {
	t.Helper()
	var e *settle.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Code != code || e.Message != words {
		t.Errorf("got  %+v\nwant %v %s %q", err, kind, code, words)
	}
}

func TestApprove(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	s.clock.Advance(time.Hour)
	a, err := office(s.db, "dora").Approve(t.Context(), id, "", "enjoy")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "approved dora enjoy 14400", fmt.Sprint(a.State, " ", a.DecidedByName, " ", a.Note, " ", a.ApprovedAmount))
	if !a.Decided.Equal(s.clock.Now()) {
		t.Errorf("decided at %v", a.Decided)
	}
	equal(t, []int64{14400}, s.refunds("A-1"))
	err = s.db.View(t.Context(), func(v *store.View) error {
		r, err := v.RefundOf(id)
		equal(t, fmt.Sprint(true, s.ids["agent"], storetest.Start, s.clock.Now()), fmt.Sprint(r.Human, r.MadeBy, r.Judged, r.Created))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	equal(t, []string{"dora approvals approve " + id + " ok "}, s.log())
}

func TestApproveForLess(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	for amount, words := range map[string]string{
		"144.01": "amount: AP-0001 asks for 144.00 USD; approve that or less, above zero",
		"0":      "amount: AP-0001 asks for 144.00 USD; approve that or less, above zero",
		"-5":     `amount: not an amount: send plain decimal digits such as "12.50" for USD`,
		"80.001": `amount: too many decimals: send at most 2 for USD, such as "12.50"`,
		"all":    `amount: not an amount: send plain decimal digits such as "12.50" for USD`,
	} {
		refused(t, s.approve("dora", id, amount), settle.Invalid, policy.InvalidArguments, words)
	}
	equal(t, "pending  0", s.state(id))
	if err := s.approve("dora", id, "80"); err != nil {
		t.Fatal(err)
	}
	equal(t, "approved dora 8000", s.state(id))
	equal(t, []int64{8000}, s.refunds("A-1"))
	refused(t, s.approve("emil", id, "64.00"), settle.Conflict, settle.AlreadyDecided, "AP-0001 was approved by dora at 2026-05-01T12:00:00Z")
}

func TestReject(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	for _, note := range []string{"", " \n"} {
		_, err := office(s.db, "dora").Reject(t.Context(), id, note)
		refused(t, err, settle.Invalid, policy.InvalidArguments, "a rejection needs a note: it tells the agent, and so the customer, why")
	}
	if err := s.reject("dora", id); err != nil {
		t.Fatal(err)
	}
	equal(t, "rejected dora 0", s.state(id))
	for _, err := range []error{s.approve("emil", id, ""), s.reject("emil", id)} {
		refused(t, err, settle.Conflict, settle.AlreadyDecided, "AP-0001 was rejected by dora at 2026-05-01T12:00:00Z")
	}
	equal(t, []string{
		"dora approvals reject AP-0001 invalid invalid_arguments", "dora approvals reject AP-0001 invalid invalid_arguments",
		"dora approvals reject AP-0001 ok ", "emil approvals approve AP-0001 denied already_decided", "emil approvals reject AP-0001 denied already_decided",
	}, s.log())
	equal(t, 0, len(s.refunds("A-1")))
}

// Only an operator of role manager decides, in a shell of its own, and never
// what it asked for itself.
func TestWhoMayDecide(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	for name, words := range map[string]string{
		"agent": `"approvals approve" needs an operator of role manager; this token is for agent "agent" of role staff`,
		"robot": `"approvals approve" needs an operator of role manager; this token is for agent "robot" of role manager`,
		"sam":   `"approvals approve" needs an operator of role manager; this token is for operator "sam" of role staff`,
		"ghost": `"approvals approve" needs an operator of role manager; no token that holds was given; set COUNTERSIGN_TOKEN, or use the account that ran countersign init`,
	} {
		refused(t, s.approve(name, id, ""), settle.NotPermitted, policy.PermissionDenied, words)
	}
	shell := office(s.db, "dora")
	shell.AgentShell = true
	_, err := shell.Approve(t.Context(), id, "", "")
	refused(t, err, settle.NotPermitted, settle.AgentShell,
		`"approvals approve" is for people: this shell seems to be an agent's; run it in a terminal of your own`)

	own := s.ask("dora", "A-2", "50.00").ApprovalID
	refused(t, s.approve("dora", own, ""), settle.NotPermitted, settle.FourEyes, "AP-0002 was asked for by dora; somebody else has to decide it")
	refused(t, s.reject("dora", own), settle.NotPermitted, settle.FourEyes, "AP-0002 was asked for by dora; somebody else has to decide it")
	if err := s.approve("emil", own, ""); err != nil {
		t.Error(err)
	}
	s.sql("update principals set revoked_at = '2026-05-01T12:00:00.000000Z' where name = 'emil'")
	if err := s.approve("emil", id, ""); err == nil {
		t.Error("a revoked operator decided")
	}
	equal(t, "pending  0", s.state(id))
	equal(t, 9, len(s.log()))
}

func TestUnknownID(t *testing.T) {
	s := open(t)
	for _, id := range []string{"", "AP-9999", "ap-0001", "%", "TK-0001"} {
		for _, err := range []error{s.approve("dora", id, ""), s.reject("dora", id)} {
			refused(t, err, settle.NotFound, policy.NotFound, "there is no approval of this id; see countersign approvals list")
		}
	}
	equal(t, slices.Repeat([]string{"dora approvals approve  error not_found", "dora approvals reject  error not_found"}, 5), s.log())
}

// Case 62: when nobody answers in time, nobody has said no.
func TestExpiredNamesNobody(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	s.clock.Advance(72*time.Hour - time.Microsecond)
	equal(t, "pending  0", s.state(id))
	s.clock.Advance(time.Microsecond)
	equal(t, "expired  0", s.state(id))
	for _, err := range []error{s.approve("dora", id, ""), s.reject("dora", id)} {
		refused(t, err, settle.Conflict, settle.RequestExpired, "AP-0001 expired at 2026-05-04T12:00:00Z; nobody decided it")
	}
	equal(t, "expired  0", s.state(id))
	equal(t, 0, len(s.refunds("A-1")))
}

// Nothing of it can be done any more: it ends, and nobody has decided it.
func TestStale(t *testing.T) {
	for change, words := range map[string]string{
		"update orders set status = 'cancelled'": "the order is cancelled, and the shop refunds a cancelled order by itself",
		"update orders set refunded = paid":      "nothing is left to refund on the order",
	} {
		s := open(t)
		id := s.parked("A-1", "144.00")
		s.sql(change + " where id = 'A-1'")
		refused(t, s.approve("dora", id, ""), settle.Conflict, settle.RequestStale, "AP-0001 is stale: "+words)
		equal(t, "stale  0", s.state(id))
		refused(t, s.approve("emil", id, ""), settle.Conflict, settle.RequestStale,
			"AP-0001 was found stale at 2026-05-01T12:00:00Z: nothing of it could be done any more")
		equal(t, []string{"dora approvals approve AP-0001 denied request_stale", "emil approvals approve AP-0001 denied request_stale"}, s.log())
		equal(t, 0, len(s.refunds("A-1")))
	}
}

// Case 63: the order changed while the request waited, and the program was
// restarted. It waits on, and what still fits can be approved.
func TestAmountNoLongerFits(t *testing.T) {
	s := open(t)
	id := s.parked("A-2", "50.00")
	s.sql("update orders set refunded = 3000, source_refunded = 3000, source_refunded_at = '2026-05-01T12:30:00.000000Z' where id = 'A-2'")
	s.clock.Advance(time.Hour)
	again, err := store.Open(s.db.Path(), store.Options{Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	dora := office(again, "dora")
	for _, amount := range []string{"", "50.00", "30.01"} {
		_, err = dora.Approve(t.Context(), id, amount, "")
		refused(t, err, settle.Conflict, policy.AmountExceedsRefundable,
			"AP-0001 doesn't fit any more: only 30.00 USD of it is left; approve --amount 30.00, or reject it")
	}
	equal(t, "pending  0", s.state(id))
	if _, err = dora.Approve(t.Context(), id, "30.00", ""); err != nil {
		t.Fatal(err)
	}
	equal(t, "approved dora 3000", s.state(id))
	equal(t, []int64{3000}, s.refunds("A-2"))
	equal(t, 4, len(s.log()))
}

// What other requests hold may become free again, so the request waits on.
func TestHeldByOtherRequests(t *testing.T) {
	s := open(t)
	first, second := s.parked("A-1", "180.00"), s.parked("A-1", "120.00")
	s.sql("update orders set refunded = 18000, source_refunded = 18000, source_refunded_at = '2026-05-01T12:00:00.000000Z' where id = 'A-1'")
	refused(t, s.approve("dora", first, ""), settle.Conflict, policy.NothingToRefund,
		"AP-0001 doesn't fit now and keeps waiting: other requests on the order hold what is left; decide those first")
	equal(t, "pending  0", s.state(first))
	if err := s.reject("dora", second); err != nil {
		t.Fatal(err)
	}
	if err := s.approve("dora", first, "120.00"); err != nil {
		t.Error(err)
	}
}

// Nothing can become of a request on a cancelled order, whatever else waits there.
func TestStaleBesideOtherRequests(t *testing.T) {
	s := open(t)
	first, second := s.parked("A-1", "180.00"), s.parked("A-1", "60.00")
	s.sql("update orders set status = 'cancelled' where id = 'A-1'")
	_, err := office(s.db, "dora").Approve(t.Context(), first, "100.00", "enjoy")
	refused(t, err, settle.Conflict, settle.RequestStale,
		"AP-0001 is stale: the order is cancelled, and the shop refunds a cancelled order by itself")
	equal(t, "stale  0 pending  0", s.state(first)+" "+s.state(second))
	equal(t, "", s.approval(first).Note) // nobody has said anything to it
}

// The window is judged as of the request, however late it is decided.
func TestWindowIsJudgedAsOfTheRequest(t *testing.T) {
	s := open(t)
	s.tx(func(tx *store.Tx) error {
		return tx.SetSetting(store.SettingPolicy, "refund: {approval_expires: 2000h, auto_limit: {USD: \"40.00\"}}")
	})
	id := s.parked("A-1", "144.00")
	s.clock.Advance(60 * 24 * time.Hour)
	if err := s.approve("dora", id, ""); err != nil {
		t.Error(err)
	}
	equal(t, []int64{14400}, s.refunds("A-1"))
}

// A request that isn't what was asked for is not performed, and the attempt is
// in the log.
func TestAlteredRequest(t *testing.T) {
	for _, change := range []string{"amount = 30000", "order_id = 'A-2'", `arguments = replace(arguments, 'A-1', 'A-2')`, "asked_by = 'PR-0005'",
		"expires_at = '2027-01-01T00:00:00.000000Z'", "digest = ''"} {
		s := open(t)
		id := s.parked("A-1", "144.00")
		s.sql("drop trigger approvals_asked; update approvals set " + change)
		refused(t, s.approve("dora", id, ""), settle.Failed, settle.RequestAltered, "AP-0001: the stored request differs from what was asked")
		equal(t, "pending  0", s.state(id))
		equal(t, []string{"dora approvals approve AP-0001 error request_altered"}, s.log())
		equal(t, 0, len(s.refunds("A-1"))+len(s.refunds("A-2")))
	}
}

// If performing fails all of it is undone and the request waits on; the same if
// the log can't be written.
func TestFailingLeavesItPending(t *testing.T) {
	for _, table := range []string{"refunds", "audit"} {
		s := open(t)
		id := s.parked("A-1", "144.00")
		s.sql("create trigger broken before insert on " + table + " begin select raise(abort, 'broken'); end")
		var e *settle.Error
		if err := s.approve("dora", id, ""); err == nil || errors.As(err, &e) {
			t.Errorf("%s: %v, want a fault", table, err)
		}
		equal(t, "pending  0", s.state(id))
		s.sql("drop trigger broken")
		if table == "audit" {
			s.sql("create trigger broken before insert on audit begin select raise(abort, 'broken'); end")
			if err := s.reject("dora", id); err == nil {
				t.Error("a rejection without its row in the log")
			}
			equal(t, "pending  0", s.state(id))
			s.sql("drop trigger broken")
		}
		if err := s.approve("dora", id, ""); err != nil {
			t.Error(err)
		}
		equal(t, []int64{14400}, s.refunds("A-1"))
	}
}

// Cases 57 to 59: twenty at once, half of them saying no: exactly one decision
// holds, and the others learn whose.
func TestManyAtOnce(t *testing.T) {
	for name, decide := range map[string]func(s *shop, i int, who, id string) error{
		"all approve": func(s *shop, _ int, who, id string) error { return s.approve(who, id, "") },
		"half reject": func(s *shop, i int, who, id string) error {
			if i%2 == 0 {
				return s.reject(who, id)
			}
			return s.approve(who, id, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			id := s.parked("A-1", "144.00")
			errs := make([]error, 20)
			var wg sync.WaitGroup
			for i := range errs {
				wg.Go(func() { errs[i] = decide(s, i, []string{"dora", "emil"}[i%2], id) })
			}
			wg.Wait()
			settledOnce(t, s, id, errs)
		})
	}
}

// settledOnce checks that of many attempts one decided.
func settledOnce(t *testing.T, s *shop, id string, errs []error) {
	t.Helper()
	state := strings.Fields(s.state(id))
	want := fmt.Sprintf("%s was %s by %s at 2026-05-01T12:00:00Z", id, state[0], state[1])
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		refused(t, err, settle.Conflict, settle.AlreadyDecided, want)
	}
	decided, lost := 0, 0
	for _, row := range s.log() {
		switch {
		case strings.HasSuffix(row, id+" ok "):
			decided++
		case strings.HasSuffix(row, id+" denied already_decided"):
			lost++
		default:
			t.Errorf("the log has %q", row)
		}
	}
	equal(t, []int{1, 1, len(errs) - 1}, []int{won, decided, lost})
	equal(t, state[0] == "approved", len(s.refunds("A-1")) == 1)
}

// The same from several processes.
func TestManyProcesses(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), shopFile+"="+s.db.Path(), "WHO="+[]string{"dora", "emil"}[i%2], "ID="+id)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
			if string(out) != "done" {
				errs[i] = &settle.Error{Kind: settle.Conflict, Code: settle.AlreadyDecided, Message: string(out)}
			}
		})
	}
	wg.Wait()
	settledOnce(t, s, id, errs)
}

// decideInAnotherProcess approves $ID or refunds 10.00 on $ORDER, prints "done" or the conflict's words, and
// ends with 1 on anything else.
func decideInAnotherProcess(path string) {
	db, err := store.Open(path, store.Options{Now: new(storetest.Clock).Now})
	if err == nil {
		defer db.Close()
		who := office(db, os.Getenv("WHO"))
		if order := os.Getenv("ORDER"); order != "" {
			_, err = who.IssueRefund(context.Background(), settle.Refunding{Order: order, Amount: "10.00", Note: "goodwill"})
		} else {
			_, err = who.Approve(context.Background(), os.Getenv("ID"), "", "")
		}
	}
	var e *settle.Error
	switch {
	case err == nil:
		fmt.Print("done")
	case errors.As(err, &e) && (e.Code == settle.AlreadyDecided || e.Code == settle.RepeatedRefund):
		fmt.Print(e.Message)
	default:
		fmt.Print(err)
		os.Exit(1)
	}
}

// Case 60: looking never decides.
func TestLookingDecidesNothing(t *testing.T) {
	s := open(t)
	id := s.parked("A-1", "144.00")
	err := s.db.View(t.Context(), func(v *store.View) error {
		all, err := v.Approvals(false)
		equal(t, 1, len(all))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := office(s.db, "sam").Permit(t.Context(), "approvals show", policy.Staff); err != nil {
		t.Error(err)
	}
	if err := office(s.db, "sam").Permit(t.Context(), "approvals show", policy.Manager); err == nil {
		t.Error("a staff operator passed as a manager")
	}
	if err := office(s.db, "robot").Permit(t.Context(), "approvals show", policy.Staff); err == nil {
		t.Error("an agent passed as an operator")
	}
	equal(t, "pending  0", s.state(id))
	equal(t, 0, len(s.log()))
}

func TestTickets(t *testing.T) {
	s := open(t)
	s.tx(func(tx *store.Tx) error {
		c, err := tx.CustomerByID("C-1")
		if err != nil {
			return err
		}
		_, err = tx.AddTicket(store.Ticket{Customer: c.Key, OrderID: "A-1", Category: "other", Priority: "normal", Summary: "call me back", FiledBy: "agent"})
		return err
	})
	dora := office(s.db, "dora")
	if _, err := office(s.db, "sam").Reply(t.Context(), "TK-0001", "hello"); err == nil {
		t.Error("a staff operator replied")
	}
	ticket, err := dora.Reply(t.Context(), "TK-0001", "hello")
	if err != nil || len(ticket.Replies) != 1 || ticket.Replies[0].By != "dora" {
		t.Errorf("%+v, %v", ticket, err)
	}
	if _, err := dora.CloseTicket(t.Context(), "TK-0001"); err != nil {
		t.Error(err)
	}
	_, closed := dora.CloseTicket(t.Context(), "TK-0001")
	_, replied := dora.Reply(t.Context(), "TK-0001", "again")
	for _, err := range []error{closed, replied} {
		refused(t, err, settle.Conflict, settle.AlreadyClosed, "TK-0001 was closed at 2026-05-01T12:00:00Z")
	}
	_, err = dora.Reply(t.Context(), "TK-0009", "hello")
	refused(t, err, settle.NotFound, policy.NotFound, "there is no ticket of this id; see countersign tickets list")
	equal(t, []string{
		"sam tickets reply  denied permission_denied", "dora tickets reply  ok ", "dora tickets close  ok ",
		"dora tickets close  denied already_closed", "dora tickets reply  denied already_closed", "dora tickets reply  error not_found",
	}, s.log())
}
