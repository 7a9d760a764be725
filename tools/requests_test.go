package tools_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

// form are arguments of request_human, which doesn't wait: a code is asked for.
func form(more fields) string {
	return line(fields{
		"title": "Login code", "instructions": "Read the code from the app.", "category": "login code", "timeout_seconds": 0,
		"fields": []fields{{"name": "CODE", "type": "string", "required": true, "pattern": "[0-9]{6}"}},
	}, more)
}

func (a agent) ask(more fields) tools.Result { return a.call("request_human", form(more)) }

func (a agent) check(id string, waitSeconds int) tools.Result {
	return a.call("check_request", line(fields{"request_id": id, "wait_seconds": waitSeconds}, nil))
}

// checked is how a request stands for the agent.
func (a agent) checked(id string) string {
	a.t.Helper()
	return pick(a.t, a.check(id, 0), "status answer error")
}

func (s *shop) answer(id string, entered map[string]string) error {
	_, err := s.operator.Answer(s.t.Context(), id, entered, "")
	return err
}

func (s *shop) answers(id string, entered map[string]string) {
	s.t.Helper()
	if err := s.answer(id, entered); err != nil {
		s.t.Fatal(err)
	}
}

var code6 = map[string]string{"CODE": "123456"}

// withEnv gives the desk a .env file and returns its path.
func (s *shop) withEnv() string {
	path := filepath.Join(s.t.TempDir(), ".env")
	s.desk.EnvFile = &envfile.File{Path: path}
	return path
}

const secretFields = `[{"name":"API_KEY","type":"secret","required":true},{"name":"USER","type":"string"}]`

func secretForm() fields { return fields{"fields": json.RawMessage(secretFields)} }

// A request is filed, waits, is answered once, and its answer is there for every
// later check.
func TestRequestIsAnswered(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	filed := a.ask(nil)
	equal(t, "pending RQ-0001", pick(t, filed, "status request_id"))
	equal(t, "ok RQ-0001", s.logged())
	rows := s.rows()
	equal(t, "request_human pending_approval RQ-0001", rows[0].Action+" "+rows[0].Outcome+" "+rows[0].ApprovalID)
	equal(t, "pending", a.checked("RQ-0001"))
	s.answers("RQ-0001", code6)
	equal(t, "ok RQ-0001", s.logged())
	for range 2 {
		equal(t, "answered map[CODE:123456]", a.checked(" rq-0001 "))
	}
	equal(t, "map[name:dora]", pick(t, a.check("RQ-0001", 0), "operator"))
	if strings.Contains(s.dump("approvals", "audit"), "123456") {
		t.Error("the answer is stored in the clear")
	}
}

// It needs neither a customer nor more than staff, and belongs to whoever filed
// it for whom: for everybody else it is an unknown one.
func TestRequestBelongsToWhoFiledIt(t *testing.T) {
	s := open(t, customer("C-1"), customer("C-2"), order("A-1", "C-1", "900.00", nil))
	a := s.staff("agent")
	nobody := a.as("")
	equal(t, "RQ-0001", pick(t, a.ask(nil), "request_id"))
	equal(t, "RQ-0002", pick(t, nobody.ask(nil), "request_id"))
	equal(t, "pending_approval AP-0001 900.00", a.refund("A-1", ""))
	other := s.staff("other")
	unknown := string(a.check("RQ-0404", 0).JSON)
	equal(t, notAsked, unknown)
	equal(t, "error not_found", s.logged())
	for name, res := range map[string]tools.Result{
		"another customer":      a.as("C-2").check("RQ-0001", 1),
		"no customer":           nobody.check("RQ-0001", 1),
		"a customer":            a.check("RQ-0002", 1),
		"another principal":     other.check("RQ-0001", 1),
		"anonymous":             s.anonymous("C-1").check("RQ-0002", 1),
		"another's approval":    a.as("C-2").check("AP-0001", 1),
		"approval, no customer": nobody.check("AP-0001", 1),
	} {
		if string(res.JSON) != unknown {
			t.Errorf("%s: %s", name, res.JSON)
		}
		equal(t, "denied not_found", s.logged())
	}
	equal(t, "pending", a.checked("RQ-0001"))
	equal(t, "pending", nobody.checked("RQ-0002"))
	equal(t, "pending", a.checked("AP-0001"))
	equal(t, "pending", other.checked("AP-0001")) // an approval is its customer's
	s.approve("AP-0001", "80.00")
	equal(t, "approved map[amount:900.00 approval_id:AP-0001 approved_amount:80.00 asked_at:2026-05-01T12:00:00Z currency:USD decided_at:2026-05-01T12:00:00Z "+
		"operator:map[name:dora note:agreed] order_id:A-1 state:approved]", pick(t, a.check("AP-0001", 0), "status approval"))
}

// Approvals and requests don't show up in each other's lists.
func TestRequestsAreNoApprovals(t *testing.T) {
	s := open(t, order("A-1", "C-1", "900.00", nil))
	a := s.staff("agent")
	a.ask(nil)
	a.refund("A-1", "")
	equal(t, "[]", pick(t, s.agent("other", policy.Viewer, "").call("search_help_center", `{"query":"x"}`), "articles"))
	if text := string(a.call("lookup_customer", "").JSON); strings.Contains(text, "RQ-") || !strings.Contains(text, "AP-0001") {
		t.Errorf("%s", text)
	}
	if _, err := s.operator.Approve(t.Context(), "RQ-0001", "", ""); err == nil {
		t.Error("a request is approved as if it were a refund")
	}
	if _, err := s.operator.Reject(t.Context(), "RQ-0001", "no"); err == nil {
		t.Error("a request is rejected as if it were a refund")
	}
	if err := s.answer("AP-0001", nil); err == nil {
		t.Error("a refund is answered")
	}
	s.view(func(v *store.View) error {
		for _, all := range []bool{true, false} {
			approvals, err := v.Approvals(all)
			if err != nil || len(approvals) != 1 {
				t.Errorf("%d approvals, %v", len(approvals), err)
			}
			requests, err := v.Requests(all)
			if err != nil || len(requests) != 1 {
				t.Errorf("%d requests, %v", len(requests), err)
			}
		}
		return nil
	})
}

// The same form again is the same request until its outcome was collected.
func TestSameRequest(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	equal(t, "RQ-0001", pick(t, a.ask(nil), "request_id"))
	equal(t, "RQ-0001", pick(t, a.ask(nil), "request_id"))
	equal(t, "RQ-0002", pick(t, a.ask(fields{"title": "Another code"}), "request_id"))
	equal(t, "RQ-0003", pick(t, a.as("").ask(nil), "request_id"))
	equal(t, "RQ-0004", pick(t, s.staff("other").ask(nil), "request_id"))
	s.answers("RQ-0001", code6)
	equal(t, "answered map[CODE:123456] RQ-0001", pick(t, a.ask(nil), "status answer request_id")) // the answer was never read
	equal(t, "pending RQ-0005", pick(t, a.ask(nil), "status request_id"))
	s.clock.Advance(73 * time.Hour)
	equal(t, "expired", a.checked("RQ-0005"))
	equal(t, "pending RQ-0006", pick(t, a.ask(nil), "status request_id"))
}

func TestRequestIsDeclinedOrExpires(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ask(nil)
	if _, err := s.operator.Decline(t.Context(), "RQ-0001", " "); err == nil {
		t.Error("declined without a note")
	}
	if _, err := s.operator.Decline(t.Context(), "RQ-0001", "not by mail"); err != nil {
		t.Fatal(err)
	}
	equal(t, "declined map[name:dora note:not by mail]", pick(t, a.check("RQ-0001", 0), "status operator"))
	err := s.answer("RQ-0001", code6)
	equal(t, "RQ-0001 was declined by dora at 2026-05-01T12:00:00Z", fmt.Sprint(err))
	a.ask(fields{"title": "Later"})
	s.clock.Advance(72 * time.Hour)
	equal(t, "RQ-0002 expired at 2026-05-04T12:00:00Z; nobody decided it", fmt.Sprint(s.answer("RQ-0002", code6)))
	equal(t, "denied request_expired RQ-0002", s.logged())
	equal(t, "expired", a.checked("RQ-0002"))
	equal(t, "", pick(t, a.check("RQ-0002", 0), "operator"))
}

// Who asked can't answer; nor can an agent's shell, nor who is no manager.
func TestWhoMayAnswer(t *testing.T) {
	s := open(t)
	self := agent{s, s.operator.Caller}
	equal(t, "pending", pick(t, self.ask(nil), "status"))
	equal(t, "RQ-0001 was asked for by dora; somebody else has to decide it", fmt.Sprint(s.answer("RQ-0001", code6)))
	equal(t, "denied four_eyes RQ-0001", s.logged())
	office := s.newOperator("eve")
	office.AgentShell = true
	if _, err := office.Answer(t.Context(), "RQ-0001", code6, ""); err == nil || !strings.Contains(err.Error(), "is for people") {
		t.Error(err)
	}
	office.AgentShell = false
	office.Caller.Token = s.principal(store.Principal{Name: "clerk", Kind: policy.Operator, Role: policy.Staff})
	if _, err := office.Answer(t.Context(), "RQ-0001", code6, ""); err == nil || !strings.Contains(err.Error(), "needs an operator of role manager") {
		t.Error(err)
	}
	equal(t, "pending", self.checked("RQ-0001"))
}

// A wrong answer says what is wrong without repeating it, and the request waits on.
func TestWrongAnswer(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ask(nil)
	equal(t, "CODE doesn't match its pattern [0-9]{6}", fmt.Sprint(s.answer("RQ-0001", map[string]string{"CODE": mark})))
	equal(t, "invalid invalid_arguments RQ-0001", s.logged())
	equal(t, "CODE is required", fmt.Sprint(s.answer("RQ-0001", nil)))
	equal(t, "the answer has a value for a field that the form doesn't have; it has: CODE", fmt.Sprint(s.answer("RQ-0001", map[string]string{"PIN": mark})))
	equal(t, "pending", a.checked("RQ-0001"))
}

// A form that nobody can fill is refused, and says why.
func TestFormThatCantBeFilled(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	for want, more := range map[string]fields{
		`fields.0.pattern is not a regular expression of RE2 syntax (no lookaround, no backreferences), or a too large one`: {
			"fields": []fields{{"name": "A", "type": "string", "pattern": "(?=x)"}}},
		`title must say something`: {"title": " \u200b "},
		`fields.1.name is the name of an earlier field (upper and lower case count as the same); fields.1.options must be 1 to 50 for a choice`: {
			"fields": []fields{{"name": "a", "type": "string"}, {"name": "A", "type": "choice"}}},
		`fields must have at most 50 items; it has 51`: {"fields": make([]fields, 51)},
	} {
		equal(t, "Mend the arguments and call again: "+want+".", pick(t, a.ask(more), "message"))
	}
	equal(t, "env_file_unavailable", pick(t, a.ask(secretForm()), "error"))
	equal(t, "denied env_file_unavailable", s.logged())
	equal(t, "", s.dump("approvals"))
}

// A secret goes into the .env file when the answer is collected, and only its
// name reaches the agent.
func TestSecretByReference(t *testing.T) {
	s := open(t)
	path := s.withEnv()
	a := s.staff("agent")
	equal(t, "RQ-0001", pick(t, a.ask(secretForm()), "request_id"))
	s.answers("RQ-0001", map[string]string{"API_KEY": `Zq7"$ecret #1`, "USER": "ava"})
	if _, err := os.Stat(path); err == nil {
		t.Error("it is written before anybody collects it")
	}
	sealed := s.dump("approvals")
	for range 2 {
		equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}> USER:ava]", a.checked("RQ-0001"))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "API_KEY='Zq7\"$ecret #1'\n", string(text))
	for _, dump := range []string{sealed, s.dump("approvals", "audit")} {
		if strings.Contains(dump, "Zq7") || strings.Contains(dump, "ava") {
			t.Error("stored in the clear:", dump)
		}
	}
	// It is erased: what a later owner of the file finds stays as they left it.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}> USER:ava]", a.checked("RQ-0001"))
	if _, err := os.Stat(path); err == nil {
		t.Error("the secret was kept after it was collected")
	}
}

// While the .env file can't be written nothing of the answer is lost.
func TestSecretThatCantBeWritten(t *testing.T) {
	s := open(t)
	path := s.withEnv()
	a := s.staff("agent")
	a.ask(secretForm())
	s.answers("RQ-0001", map[string]string{"API_KEY": mark})
	if err := os.Symlink("elsewhere", path); err != nil {
		t.Skip(err)
	}
	refused := a.check("RQ-0001", 0)
	equal(t, "env_file_unavailable A human has answered, but the secrets can't be put into .env: it is a symbolic link, which this server follows only with --env-file-follow. "+
		"The answer is kept. Have whoever runs this server mend that, then call check_request again.", pick(t, refused, "error message"))
	equal(t, "error env_file_unavailable RQ-0001", s.logged())
	s.desk.EnvFile = nil
	equal(t, "env_file_unavailable", a.checked("RQ-0001"))
	s.desk.EnvFile = &envfile.File{Path: filepath.Join(path, "no", ".env")}
	var faults []string
	s.desk.Faulted = func(action string, fault error) { faults = append(faults, action+": "+fault.Error()) }
	equal(t, true, strings.Contains(pick(t, a.check("RQ-0001", 0), "message"), "can't be put into .env: its folder isn't there. The answer is kept."))
	equal(t, []string{"check_request: secrets can't be put into .env: its folder isn't there: it can't be written: no such file or directory"}, faults)

	fresh := s.withEnv()
	// Nor is it lost where the row can't be written after the file was.
	s.sql("create trigger broken before insert on audit begin select raise(abort, 'full'); end")
	equal(t, "audit_unavailable", a.checked("RQ-0001"))
	s.sql("drop trigger broken")
	if err := os.Remove(fresh); err != nil {
		t.Fatal(err)
	}
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", a.checked("RQ-0001"))
	text, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "API_KEY="+mark+"\n", string(text))
}

// A secret that readers wouldn't find in the file isn't written, and isn't lost.
func TestSecretThatWouldNotBeRead(t *testing.T) {
	s := open(t)
	path := s.withEnv()
	a := s.staff("agent")
	a.ask(secretForm())
	s.answers("RQ-0001", map[string]string{"API_KEY": mark})
	before := "# mine\nA='open\nB=2\n"
	s.write(path, before)
	refused := a.check("RQ-0001", 0)
	equal(t, "env_file_unavailable A human has answered, but the secrets can't be put into .env: its line 2 has a quote that nothing closes. "+
		"The answer is kept. Have whoever runs this server mend that, then call check_request again.", pick(t, refused, "error message"))
	equal(t, before, s.read(path))
	s.desk.EnvFile.Own = []string{path}
	equal(t, true, strings.Contains(pick(t, a.check("RQ-0001", 0), "message"), "it is one of Countersign's own files"))
	s.desk.EnvFile.Own = nil
	s.write(path, "A='open'\n")
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", a.checked("RQ-0001"))
	equal(t, "A='open'\nAPI_KEY="+mark+"\n", s.read(path))
}

func (s *shop) write(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) read(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// A reference names the file that has the secret, where that isn't the server's own.
func TestSecretInAnotherServersFile(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	theirs := s.withEnv()
	a.ask(secretForm())
	s.answers("RQ-0001", map[string]string{"API_KEY": mark})
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", a.checked("RQ-0001"))
	folder, err := filepath.EvalSymlinks(filepath.Dir(theirs))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := "answered map[API_KEY:<written to another server's " + folder + "/.env; use ${API_KEY}>]"
	s.withEnv()
	equal(t, elsewhere, a.checked("RQ-0001"))
	s.desk.EnvFile = nil
	equal(t, elsewhere, a.checked("RQ-0001"))
	s.desk.EnvFile = &envfile.File{Path: filepath.Join(folder, "x", "..", ".env")}
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", a.checked("RQ-0001"))
}

// What a human answered last stays in the file, in whichever order the answers
// are collected and whoever asked.
func TestNewerSecretStays(t *testing.T) {
	s := open(t)
	path := s.withEnv()
	a, other := s.staff("agent"), s.staff("other")
	a.ask(secretForm())
	other.ask(secretForm())
	a.ask(fields{"title": "Two", "fields": json.RawMessage(`[{"name":"API_KEY","type":"secret"},{"name":"PIN","type":"secret"}]`)})
	for i, value := range []string{"first", "second", "third"} {
		s.answers(fmt.Sprintf("RQ-%04d", i+1), map[string]string{"API_KEY": value})
		s.clock.Advance(time.Second)
	}
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", other.checked("RQ-0002"))
	sealed := s.dump("approvals")
	for range 2 {
		equal(t, "answered map[API_KEY:<a newer answer for ${API_KEY} is in the file already: .env; use ${API_KEY}>]", a.checked("RQ-0001"))
	}
	equal(t, "API_KEY=second\n", s.read(path))
	if s.dump("approvals") == sealed {
		t.Error("the older secret is kept")
	}
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", a.checked("RQ-0003"))
	equal(t, "API_KEY=third\n", s.read(path))

	// In another file it is the first.
	a.ask(secretForm())
	a.ask(fields{"title": "Again", "fields": json.RawMessage(secretFields)})
	s.answers("RQ-0004", map[string]string{"API_KEY": "fourth"})
	s.clock.Advance(time.Second)
	s.answers("RQ-0005", map[string]string{"API_KEY": "fifth"})
	a.checked("RQ-0005")
	elsewhere := s.withEnv()
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", a.checked("RQ-0004"))
	equal(t, "API_KEY=fourth\n", s.read(elsewhere))
}

// A database opens with the key of its creation alone. In one that doesn't name
// it, another key doesn't open the answer, and loses nothing.
func TestWrongKey(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ask(nil)
	s.answers("RQ-0001", code6)
	t.Setenv("COUNTERSIGN_KEY", strings.Repeat("ab", 32))
	if _, err := store.Open(s.db.Path(), store.Options{}); !errors.Is(err, store.ErrKey) {
		t.Errorf("opened with another key: %v", err)
	}
	s.sql("delete from settings where name = 'key'")
	other, err := store.Open(s.db.Path(), store.Options{Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	b := a
	elsewhere := *s
	elsewhere.desk = deskOn(other, s)
	b.shop = &elsewhere
	equal(t, "answer_unreadable", b.checked("RQ-0001"))
	equal(t, "error answer_unreadable RQ-0001", s.logged())
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0001"))
}

// Once the key is rotated everybody goes on with the new one: who had the
// database open, who opens it later, and what was sealed before.
func TestKeyIsRotated(t *testing.T) {
	s := open(t)
	s.withEnv()
	a := s.staff("agent")
	a.ask(nil)
	a.ask(secretForm())
	s.answers("RQ-0001", code6)
	s.answers("RQ-0002", map[string]string{"API_KEY": mark})
	elsewhere, err := store.Open(s.db.Path(), store.Options{Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	keyFile := func() string {
		text, err := os.ReadFile(store.KeyPath(s.db.Path()))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before, sealed := keyFile(), s.dump("approvals")
	office := settle.Office{DB: elsewhere, Rules: s.rules, Caller: s.operator.Caller}
	for range 2 {
		n, err := office.RotateKey(t.Context())
		if err != nil || n != 2 {
			t.Fatalf("%d sealed anew, %v", n, err)
		}
	}
	if keyFile() == before || s.dump("approvals") == sealed {
		t.Error("the key is the old one")
	}
	if left, err := filepath.Glob(store.KeyPath(s.db.Path()) + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0001"))
	equal(t, "answered map[API_KEY:<written to .env; use ${API_KEY}>]", a.checked("RQ-0002"))
	equal(t, hex.EncodeToString(s.db.Key())+"\n", keyFile())
	a.ask(fields{"title": "After it"})
	s.answers("RQ-0003", code6) // by the office that had the old key
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0003"))
	later, err := store.Open(s.db.Path(), store.Options{Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	equal(t, s.db.Key(), later.Key())
	if _, err := audit.Verify(t.Context(), later, nil); err != nil {
		t.Error(err)
	}

	// The old key, put back, is refused; nothing is lost by that.
	now := keyFile()
	if err := os.WriteFile(store.KeyPath(s.db.Path()), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(s.db.Path(), store.Options{}); !errors.Is(err, store.ErrKey) {
		t.Errorf("opened with the old key: %v", err)
	}
	if err := os.WriteFile(store.KeyPath(s.db.Path()), []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0003"))
}

// What can't be opened stops a rotation, and nothing is changed.
func TestKeyIsNotRotated(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ask(nil)
	a.ask(fields{"title": "Another"})
	s.answers("RQ-0001", code6)
	s.answers("RQ-0002", code6)
	s.sql("update approvals set result = 'sealed1:00:AA' where id = 'RQ-0002'")
	if n, err := s.operator.RotateKey(t.Context()); err == nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	if left, err := filepath.Glob(store.KeyPath(s.db.Path()) + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0001"))
	s.sql("update approvals set result = '' where id = 'RQ-0002'")
	t.Setenv("COUNTERSIGN_KEY", hex.EncodeToString(s.db.Key()))
	if _, err := s.operator.RotateKey(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "the key is in COUNTERSIGN_KEY") {
		t.Error(err)
	}
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0001"))
}

// An answer that is moved to another request, or changed, doesn't open.
func TestAnswerIsBoundToItsRequest(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ask(nil)
	a.ask(fields{"title": "Another"})
	s.answers("RQ-0001", code6)
	s.answers("RQ-0002", map[string]string{"CODE": "654321"})
	s.sql("update approvals set result = (select result from approvals where id = 'RQ-0001') where id = 'RQ-0002'")
	equal(t, "answer_unreadable", a.checked("RQ-0002"))
	equal(t, "answered map[CODE:123456]", a.checked("RQ-0001"))
}

// waits begins a call and returns where its answer will be, once it waits for a
// human.
func (a agent) waits(ctx context.Context, tool, arguments string) <-chan tools.Result {
	a.t.Helper()
	started := make(chan struct{})
	tell := sync.OnceFunc(func() { close(started) })
	a.caller.Progress = func(time.Duration, time.Duration) { tell() }
	answers := make(chan tools.Result, 1)
	go func() { answers <- a.desk.Call(ctx, a.caller, tool, json.RawMessage(arguments)) }()
	select {
	case <-started:
	case res := <-answers:
		a.t.Fatalf("%s doesn't wait: %s", tool, res.JSON)
	}
	return answers
}

// A call waits until the answer is there, and tells how long it has waited.
func TestWaiting(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	told := make(chan time.Duration, 100)
	a.caller.Progress = func(waited, most time.Duration) {
		if most != 40*time.Second {
			t.Errorf("told of %v at most", most)
		}
		told <- waited
	}
	answers := make(chan tools.Result)
	go func() { answers <- a.ask(fields{"timeout_seconds": 40}) }()
	var progress []time.Duration
	for len(progress) < 2 {
		select {
		case waited := <-told:
			progress = append(progress, waited)
		case res := <-answers:
			t.Fatalf("it waits no longer than %v: %s", progress, res.JSON)
		}
	}
	if progress[1] <= progress[0] {
		t.Errorf("progress from %v to %v", progress[0], progress[1])
	}
	s.answers("RQ-0001", code6)
	equal(t, "answered map[CODE:123456]", pick(t, <-answers, "status answer"))
}

// Who waits for a secret that can't be written hears of it, and not that nobody
// has answered.
func TestWaitingForWhatCantBeWritten(t *testing.T) {
	s := open(t)
	s.desk.EnvFile = &envfile.File{Path: filepath.Join(t.TempDir(), "no", ".env")}
	a := s.staff("agent")
	begun := make(chan struct{})
	a.caller.Progress = func(time.Duration, time.Duration) {
		select {
		case begun <- struct{}{}:
		default:
		}
	}
	answers := make(chan tools.Result)
	form := secretForm()
	form["timeout_seconds"] = 40
	go func() { answers <- a.ask(form) }()
	<-begun
	s.answers("RQ-0001", map[string]string{"API_KEY": mark})
	equal(t, "env_file_unavailable", pick(t, <-answers, "error"))
}

// A wait ends with the session, with the call, and with the caller's rights.
func TestWaitEnds(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ask(nil)
	wait := func(ctx context.Context) <-chan tools.Result {
		return a.waits(ctx, "check_request", `{"request_id":"RQ-0001","wait_seconds":45}`)
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	answer := wait(ctx)
	cancel()
	equal(t, true, (<-answer).IsError)
	answer = wait(t.Context())
	s.sql("update principals set revoked_at = '2026-05-01T12:00:00.000000Z' where name = 'agent'")
	equal(t, "not_found", code(<-answer))
	s.sql("update principals set revoked_at = null where name = 'agent'")
	answer = wait(t.Context())
	s.desk.StopWaiting()
	equal(t, "pending", pick(t, <-answer, "status"))
	equal(t, "pending", pick(t, a.check("RQ-0001", 45), "status"))
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Calls that wait leave room for others, however many wait.
func TestManyWait(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	a.ask(nil)
	answers := make(chan tools.Result)
	for range 40 {
		go func() { answers <- a.check("RQ-0001", 45) }()
	}
	for range 40 - 16 {
		equal(t, "pending", pick(t, <-answers, "status"))
	}
	s.answers("RQ-0001", code6)
	for range 16 {
		equal(t, "answered", pick(t, <-answers, "status"))
	}
}

// A form of 50 fields, and an answer of 10,000 characters, pass whole.
func TestLargeForms(t *testing.T) {
	s := open(t)
	a := s.staff("agent")
	var many []fields
	entered := map[string]string{}
	for i := range 50 {
		name := fmt.Sprintf("päron_%d", i)
		many = append(many, fields{"name": name, "label": "Päron 梨", "type": "number"})
		entered[name] = fmt.Sprint(i)
	}
	equal(t, "RQ-0001", pick(t, a.ask(fields{"fields": many}), "request_id"))
	s.answers("RQ-0001", entered)
	answer := decode(t, a.check("RQ-0001", 0))["answer"].(fields)
	equal(t, 50, len(answer))
	equal[any](t, 49.0, answer["päron_49"])

	long := strings.Repeat("0123456789", 1000)
	equal(t, "RQ-0002", pick(t, a.ask(fields{"fields": []fields{{"name": "text", "type": "string"}}}), "request_id"))
	equal(t, "text has 10001 characters, more than 10000", fmt.Sprint(s.answer("RQ-0002", map[string]string{"text": long + "x"})))
	equal(t, "the answer has 40011 bytes, and an agent can read 16000 of one; shorten it, or say where the rest is",
		fmt.Sprint(s.answer("RQ-0002", map[string]string{"text": strings.Repeat("🔑", 10000)})))
	s.answers("RQ-0002", map[string]string{"text": long})
	res := a.check("RQ-0002", 0)
	equal[any](t, long, decode(t, res)["answer"].(fields)["text"])
	if len(res.JSON) > 20_000 {
		t.Errorf("the answer has %d bytes", len(res.JSON))
	}
}

func TestToolsets(t *testing.T) {
	for names, want := range map[string]int{"": 7, "support": 7, "human": 2, "support,human": 9, " human , support ": 9, "human,human": 2} {
		list, err := tools.Toolsets(names)
		if err != nil || len(list) != want {
			t.Errorf("%q: %d tools, %v", names, len(list), err)
		}
	}
	for _, names := range []string{"admin", "support,", "support human"} {
		if _, err := tools.Toolsets(names); err == nil {
			t.Errorf("%q is taken", names)
		}
	}
}
