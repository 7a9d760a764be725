package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/tools"
)

// shop is a demo shop in which things wait since two hours, with ids that count.
type shop struct {
	t    *testing.T
	path string
	desk *tools.Desk
	then time.Time // when what is asked next is asked
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return shopSince(t, 2*time.Hour)
}

func shopSince(t *testing.T, since time.Duration) *shop {
	t.Helper()
	ids := 0
	s := &shop{t: t, path: filepath.Join(t.TempDir(), "demo.db"), then: time.Now().Add(-since - time.Minute)}
	opts := store.Options{
		Now:   func() time.Time { return s.then },
		NewID: func(prefix string) string { ids++; return fmt.Sprintf("%s%010d", prefix, ids) },
	}
	db, err := fixtures.OpenDemo(s.path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	rules, err := tools.NewRulebook(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids = 0
	s.desk = tools.NewDesk(db, rules, append(append([]*tools.Tool{}, tools.All...), tools.Human...))
	s.desk.EnvFile = &envfile.File{Path: filepath.Join(filepath.Dir(s.path), ".env")}
	return s
}

// ask is an agent's call, which gives something that waits. It returns its id.
func (s *shop) ask(customer, tool, arguments string) string {
	s.t.Helper()
	s.then = s.then.Add(time.Minute)
	res := s.desk.Call(s.t.Context(), tools.Caller{Token: fixtures.StaffToken, Customer: customer, Door: audit.MCP}, tool, []byte(arguments))
	id := regexp.MustCompile(`(AP|RQ|TK)-\d{10}`).FindString(string(res.JSON))
	if id == "" {
		s.t.Fatalf("%s", res.JSON)
	}
	return id
}

// busy fills the shop with some of everything.
func (s *shop) busy() *shop {
	s.t.Helper()
	s.ask("C-1001", "issue_refund", `{"order_id":"NW-5001","reason":"don't fit, sent back unworn"}`)
	s.ask("C-1002", "issue_refund", `{"order_id":"NW-5101","reason":"two weeks late","amount":"20.00"}`)
	s.ask("C-1001", "escalate_to_human", `{"summary":"The left buckle broke on the second day. Wants the strap mended, not replaced.","category":"warranty","priority":"high","order_id":"NW-5001"}`)
	s.ask("C-1001", "request_human", `{"title":"Carrier login","instructions":"Open the app and read the code.","category":"login","timeout_seconds":0,"fields":[
		{"name":"CODE","label":"Code in the app","type":"string","required":true,"pattern":"[0-9]{6}"},
		{"name":"KEY","label":"Key of the account","type":"secret","required":true},
		{"name":"SPEED","type":"choice","options":["slow","fast"]}, {"name":"PARCELS","type":"number"}, {"name":"SURE","type":"boolean"}]}`)
	s.ask("C-1003", "escalate_to_human", `{"summary":"Asks for an invoice with another name on it","category":"other"}`)
	return s
}

// inbox opens the inbox at a terminal.
func (s *shop) inbox(width, height int, env ...string) *screen {
	s.t.Helper()
	return onScreen(s.t, width, height, s.cli(env, "inbox"))
}

func (s *shop) cli(env []string, args ...string) *exec.Cmd {
	return program(s.t, "countersign", append([]string{"COUNTERSIGN_DB=" + s.path}, env...), args...)
}

// operate runs another operator's command.
func (s *shop) operate(args ...string) string {
	s.t.Helper()
	r := run(s.t, s.cli([]string{"COUNTERSIGN_TOKEN=" + fixtures.ManagerToken}, args...))
	if r.code != exitDone {
		s.t.Fatalf("%v: %+v", args, r)
	}
	return r.stdout
}

// The list, its details, the help and the filters, as an operator sees them.
func TestInboxShowsWhatWaits(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.golden("list", "All 5", "Ava Lindqvist (C-1001)", "policy")
	x.keys("Down", "Down")
	x.golden("ticket", "> ticket", "summary")
	x.keys("Down", "Enter")
	x.golden("open", "SPEED", "esc list")
	x.keys("Escape")
	x.shows("> request") // what follows an escape at once is a key with alt
	x.keys("?")
	x.golden("help", "Help")
	x.keys("q", "/")
	x.text("buckle")
	x.golden("filter", "filter: buckle", "! The left", "keep the filter", "summary")
	x.text("zzz")
	x.shows("Nothing of this fits")
	x.keys("Escape")
	x.shows("Ava", "policy")
	x.keys("Tab")
	if shown := x.lacks("ticket  "); !strings.Contains(shown, "approval  Ava") || strings.Contains(shown, "Carrier login") {
		t.Errorf("not the approvals alone:\n%s", shown)
	}
	x.keys("BTab", "q")
	if code, shown := x.left(); code != "0" || strings.Contains(shown, "approval") {
		t.Errorf("exit code %s; the terminal isn't as it was:\n%s", code, shown)
	}
}

// On a wider screen there is more of everything; a small one says so, and what
// was typed survives it.
func TestInboxFitsTheScreen(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(120, 40)
	x.golden("wide", "All 5", "policy")
	x.keys("r")
	x.shows("Reject AP-0000000001")
	x.text("not before")
	x.shows("not before")
	x.tmux("resize-window", "-x", "40", "-y", "10")
	x.golden("small", "too small")
	x.keys("q", "Enter")
	x.tmux("resize-window", "-x", "60", "-y", "14")
	x.golden("narrow", "Reject", "not before")
	x.keys("Escape")
	x.golden("narrow-list", "> approval", "tool")
	x.keys("C-c")
	x.shows("Discard what you typed? y")
	x.keys("C-c")
	if code, _ := x.left(); code != "0" {
		t.Errorf("exit code %s", code)
	}
}

// What comes while the inbox is open appears, what others decide says so, and
// an empty one says that it is.
func TestInboxIsLive(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	x := s.inbox(80, 24)
	x.golden("empty", "Nothing waits.")
	first := s.ask("C-1001", "issue_refund", `{"order_id":"NW-5001","reason":"don't fit"}`)
	x.shows("> approval  Ava Lindqvist", "All 1")
	s.ask("C-1003", "escalate_to_human", `{"summary":"Asks for an invoice","category":"other"}`)
	x.shows("* ticket", "All 2")
	s.operate("approvals", "reject", first, "--note", "no", "--yes")
	x.shows("Ava Lindqvist", "  rejected\n", first+" rejected by demo-manager", "All 1")
	x.keys("a")
	x.lacks("y yes")
	x.keys("x")
	x.lacks("approval  ")
}

// Less is approved than was asked for; the list goes on to the next.
func TestInboxApprovesForLess(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	x.keys("l")
	x.shows("Amount, at most 144.00 USD")
	x.text("800")
	x.keys("Enter")
	x.shows("> Amount", "amount: AP-0000000001 asks for 144.00 USD; approve that or less, above zero")
	for typed, wrong := range map[string]string{
		"abc": "amount: not an amount: send plain decimal digits", "-5": "amount: not an amount: send plain decimal digits",
		"80.005": "amount: too many decimals: send at most 2 for USD", "0": "approve that or less, above zero",
	} {
		x.keys("C-u")
		x.lacks("amount: ")
		x.paste(typed)
		x.keys("Enter")
		x.shows("> Amount", wrong)
	}
	x.keys("Tab")
	x.text("worn once")
	x.keys("Enter")
	x.shows("> Amount", "amount: ", "worn once") // nothing is asked, and what was typed is still there
	x.keys("C-u")
	x.text("80.00")
	x.keys("Tab", "Enter")
	x.golden("approve", "80.00 instead of 144.00 USD", "y yes")
	x.keys("n")
	x.shows("Inbox  All 5")
	if got := s.operate("approvals", "list"); strings.Contains(got, "approved") {
		t.Fatalf("decided without a yes:\n%s", got)
	}
	x.keys("l")
	x.shows("80.00", "worn once")
	x.keys("Tab", "Enter")
	x.shows("y yes")
	x.keys("y")
	x.golden("approved", "AP-0000000001  approved by demo-manager: 80.00 USD refunded on NW-5001", "> approval  Marcus", "two weeks late")
	if got := s.operate("approvals", "show", "AP-0000000001"); !strings.Contains(got, "approved    80.00 USD") || !strings.Contains(got, "note        worn once") {
		t.Errorf("it isn't approved:\n%s", got)
	}
}

func TestInboxRejectsWithANote(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	x.keys("r", "Enter")
	x.golden("reject", "Why? The agent reads it", "is required")
	x.text("please offer an exchange")
	x.keys("C-j")
	x.text("first")
	x.keys("Enter")
	x.shows("Reject AP-0000000001?", "y yes")
	x.keys("y")
	x.shows("AP-0000000001  rejected by demo-manager")
	if got := s.operate("approvals", "show", "AP-0000000001", "--json"); !strings.Contains(got, `"please offer an exchange\nfirst"`) {
		t.Errorf("not the note:\n%s", got)
	}
}

// A form is filled in and sent. What is secret is neither shown nor stored in the
// clear.
func TestInboxAnswersAForm(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-Zq7"
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("All 5")
	x.keys("3", "a")
	x.shows("> CODE", "Open the app and read the code.")
	x.text("12")
	x.keys("Enter")
	x.shows("CODE doesn't match its pattern")
	x.text("3456")
	x.keys("Enter")
	x.shows("> KEY")
	x.text(secret)
	x.keys("Enter", "Right", "Right", "Enter")
	x.text("many")
	x.keys("Enter")
	x.shows("PARCELS must be a number")
	x.keys("C-u")
	x.text("3")
	x.keys("Enter")
	x.text("y")
	x.golden("form", "‹ yes", "‹ fast", "••••••••••")
	x.keys("Enter", "Enter")
	x.golden("answer", "Send this answer to RQ-0000000004?", "y yes")
	if shown := x.tmux("capture-pane", "-p", "-e", "-S", "-"); strings.Contains(shown, "Zq7") {
		t.Errorf("the secret was shown:\n%s", shown)
	}
	x.keys("y")
	x.shows("RQ-0000000004  answered by demo-manager")
	x.keys("q")
	x.left()
	for _, name := range []string{s.path, s.path + "-wal"} {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), secret) {
			t.Errorf("%s holds the secret", name)
		}
	}
	res := s.desk.Call(t.Context(), tools.Caller{Token: fixtures.StaffToken, Customer: "C-1001", Door: audit.MCP}, "check_request", []byte(`{"request_id":"RQ-0000000004"}`))
	for _, want := range []string{`"CODE":"123456"`, `"SPEED":"fast"`, `"PARCELS":3`, `"SURE":true`} {
		if !strings.Contains(string(res.JSON), want) {
			t.Errorf("the agent lacks %s: %s", want, res.JSON)
		}
	}
	if text, err := os.ReadFile(s.desk.EnvFile.Path); err != nil || !strings.Contains(string(text), "KEY="+secret) {
		t.Errorf("the server got %q, %v", text, err)
	}
}

func TestInboxDeclinesARequest(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("All 5")
	x.keys("3", "d")
	x.shows("Decline RQ-0000000004", "Why?")
	x.text("ask the carrier")
	x.keys("Enter")
	x.shows("Decline RQ-0000000004?", "y yes")
	x.keys("y")
	x.shows("RQ-0000000004  declined by demo-manager", "request   Carrier login                                 demo-staff    declined\n")
	if got := s.operate("requests", "show", "RQ-0000000004"); !strings.Contains(got, "ask the carrier") {
		t.Errorf("not the note:\n%s", got)
	}
}

func TestInboxRepliesAndCloses(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("All 5")
	x.keys("4", "r")
	x.shows("Reply on TK-0000000003")
	x.paste(strings.Repeat("é", 4001))
	x.keys("Enter")
	x.shows("lines 1–", "it is decided once you have seen all of it")
	for range 20 {
		x.keys("Space")
	}
	x.shows("y yes")
	x.keys("y")
	x.shows("a reply has 1 to 4000 characters", "éééé") // and stays, to be shortened
	x.keys("C-u")
	x.text("Send it in; we mend it. ")
	x.paste("\u202eevil")
	x.shows("⟨U+202E⟩evil")
	x.keys("Enter")
	x.shows("Send this reply on TK-0000000003?", "y yes")
	x.keys("y")
	x.shows("TK-0000000003  replied", "reply       Send it in; we mend it. ⟨U+202E⟩evil — demo-manager")
	x.keys("c")
	x.shows("Close TK-0000000003?", "y yes")
	x.keys("y")
	x.shows("TK-0000000003  closed", "Tickets 1")
	if got := s.operate("tickets", "show", "TK-0000000003"); !strings.Contains(got, "TK-0000000003  closed") || !strings.Contains(got, "reply       Send it in") {
		t.Errorf("it isn't:\n%s", got)
	}
}

// Somebody else decides while an operator is at it, or less is left than was
// asked for: that is said, and what was typed stays.
func TestInboxIsTooLate(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	x.keys("r")
	x.shows("Why?")
	x.text("a long thought")
	s.operate("refunds", "issue", "NW-5101", "--amount", "10.00", "--note", "gift", "--yes")
	s.operate("approvals", "approve", "AP-0000000001", "--yes")
	x.golden("meanwhile", "meanwhile: AP-0000000001 approved by demo-manager: 144.00 USD refunded on", "a long thought")
	x.keys("Enter")
	x.golden("conflict", "AP-0000000001 was approved by demo-manager at ", "> Why?", "a long thought")
	x.keys("Escape")
	x.shows("Inbox  All 4")
	x.keys("j", "a")
	x.shows("Approve AP-0000000002: 20.00 USD on NW-5101?", "y yes")
	s.operate("approvals", "reject", "AP-0000000002", "--note", "no", "--yes")
	x.shows("meanwhile: AP-0000000002 rejected by demo-manager")
	x.lacks("Approve AP-0000000002: ") // what would be refused isn't asked any more
	x.keys("y")
	x.shows("AP-0000000002 was rejected by demo-manager at ")
}

// What no longer fits keeps waiting, and how much would fit is said.
func TestInboxSaysHowMuchFits(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	s.lessIsLeft()
	x.keys("a")
	x.shows("Approve AP-0000000001: 144.00 USD on NW-5001?", "y yes")
	x.keys("y")
	x.golden("fits", "only 44.00 USD of it is left")
	x.keys("e")
	x.text("44.00")
	x.keys("Tab", "Enter")
	x.shows("44.00 instead of", "y yes")
	x.keys("y")
	x.shows("approved by demo-manager: 44.00 USD refunded on NW-5001")
}

// lessIsLeft has the shop itself refund 100.00 of NW-5001.
func (s *shop) lessIsLeft() {
	s.t.Helper()
	var lines []string
	for line := range strings.Lines(string(fixtures.Northwind())) {
		if strings.Contains(line, `"NW-5001"`) && strings.Contains(line, `"type": "order"`) {
			lines = append(lines, strings.Replace(strings.TrimSpace(line), `"refunded": "0.00"`, `"refunded": "100.00"`, 1))
		}
	}
	file := filepath.Join(filepath.Dir(s.path), "shop.jsonl")
	put(s.t, file, strings.Join(lines, "\n")+"\n")
	s.operate("import", "native", file)
}

// It expires under the operator's hands.
func TestInboxRequestExpires(t *testing.T) {
	t.Parallel()
	const waits = 72 * time.Hour
	s := shopSince(t, waits-15*time.Second)
	s.ask("C-1001", "issue_refund", `{"order_id":"NW-5001","reason":"don't fit"}`)
	x := s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	x.keys("r")
	x.shows("Why?")
	x.text("a long thought")
	x.shows("meanwhile: AP-0000000001 expired", "a long thought")
	x.keys("Enter")
	x.shows("> Why?", "a long thought", "AP-0000000001 expired at ", "nobody decided it")
}

// Fifty fields are scrolled through, and a long answer is taken whole.
func TestInboxLongForm(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var fields []string
	for i := range 50 {
		fields = append(fields, fmt.Sprintf(`{"name":"F%d","label":"漢字 field %d","type":"string"}`, i+1, i+1))
	}
	id := s.ask("C-1001", "request_human", `{"title":"包裹 \u202eeman","instructions":"Fill in.","category":"form","timeout_seconds":0,"fields":[`+strings.Join(fields, ",")+`]}`)
	x := s.inbox(80, 24)
	x.shows("包裹 ⟨U+202E⟩eman", "Fill in.")
	x.keys("a")
	x.shows("field 1 of 51")
	x.paste(strings.Repeat("word ", 1999) + "last!\nnewer")
	x.shows("last!", "newer")
	x.keys("Enter")
	x.shows("F1 has 10006 characters, more than 10000")
	for range 6 {
		x.keys("BSpace")
	}
	for range 49 {
		x.keys("Tab")
	}
	x.text("🙂 ok")
	x.golden("fields", "field 50 of 51", "🙂 ok")
	x.keys("Enter", "Enter")
	x.shows("lines 1–")
	x.until(func(shown string) bool {
		if !strings.Contains(shown, "y yes") {
			x.keys("PPage", "NPage", "NPage")
		}
		return strings.Contains(shown, "y yes")
	}, func(string) string { return "never seen to its end" })
	x.keys("y")
	x.shows(id + "  answered by demo-manager")
	res := s.desk.Call(t.Context(), tools.Caller{Token: fixtures.StaffToken, Customer: "C-1001", Door: audit.MCP}, "check_request", []byte(`{"request_id":"`+id+`"}`))
	if text := string(res.JSON); !strings.Contains(text, strings.Repeat("word ", 1999)+`last!"`) || !strings.Contains(text, `"F50":"🙂 ok"`) {
		t.Errorf("the agent doesn't get all of it: %d bytes", len(text))
	}
}

// What was typed and not sent isn't lost without a question: neither on the list
// nor in the form, and not on a screen that is too small for either.
func TestInboxAsksBeforeDiscarding(t *testing.T) {
	t.Parallel()
	const question = "Discard what you typed? y"
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	x.keys("r")
	x.shows("Why?") // else nothing would be lacking yet, and q be one key with escape
	x.keys("Escape")
	x.lacks("Why?")
	x.keys("q")
	if code, _ := x.left(); code != "0" {
		t.Errorf("nothing was typed: exit code %s", code)
	}
	x = s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	x.keys("r")
	x.text("a long thought")
	x.shows("a long thought")
	x.keys("Escape")
	x.shows("> approval  Ava")
	x.keys("q")
	x.golden("discard", question, "> approval  Ava", "y discard it and leave")
	x.keys("Escape")
	x.lacks(question)
	x.keys("r")
	x.shows("a long thought")
	x.paste(strings.Repeat("word ", 2000))
	x.keys("C-c")
	x.shows(question, "Why?")
	x.keys("n")
	x.lacks(question)
	x.tmux("resize-window", "-x", "40", "-y", "10")
	x.shows("too small")
	x.keys("C-c")
	x.shows(question)
	x.keys("y")
	if code, _ := x.left(); code != "0" {
		t.Errorf("exit code %s", code)
	}
	if got := s.operate("approvals", "list", "--all"); strings.Contains(got, "rejected") {
		t.Errorf("it was sent:\n%s", got)
	}
}

// Who may not decide something hears it before the form, and it is recorded.
func TestInboxRefusesBeforeTheForm(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.then = s.then.Add(time.Minute)
	for tool, arguments := range map[string]string{
		"issue_refund":  `{"order_id":"NW-5001","reason":"don't fit"}`,
		"request_human": `{"title":"Carrier login","instructions":"Read.","category":"login","timeout_seconds":0,"fields":[{"name":"CODE","type":"string"}]}`,
	} {
		s.desk.Call(t.Context(), tools.Caller{Token: fixtures.ManagerToken, Customer: "C-1001", Door: audit.MCP}, tool, []byte(arguments))
	}
	s.ask("C-1003", "escalate_to_human", `{"summary":"Asks for an invoice","category":"other"}`)
	x := s.inbox(80, 24)
	x.shows("All 3", "was asked for by demo-manager; somebody else has to decide it") // before any key
	for _, kind := range []struct{ tab, keys, shown string }{{"2", "alr", "> approval  Ava"}, {"3", "ad", "> request   Carrier"}} {
		x.keys(kind.tab)
		x.shows(kind.shown)
		for _, key := range kind.keys {
			x.keys("x", string(key))
			x.shows(kind.shown, "was asked for by demo-manager; somebody else has to decide it")
		}
	}
	if got := s.operate("audit", "tail", "--json"); strings.Count(got, `"code":"four_eyes"`) != 5 {
		t.Errorf("not recorded:\n%s", got)
	}
	x.keys("4", "c")
	x.shows("Close TK-", "y yes")
	staff := strings.TrimSpace(s.operate("tokens", "create", "sam", "--operator", "--role", "staff"))
	x = s.inbox(80, 24, "COUNTERSIGN_TOKEN="+regexp.MustCompile(`cs_\S+`).FindString(staff))
	x.shows("All 3", "read only: deciding needs an operator of role manager")
	for tab, deed := range map[string]string{"2": "approvals reject", "4": "tickets reply"} {
		x.keys(tab, "r")
		x.shows("Inbox", `"`+deed+`" needs an operator of role manager; this token is for operator`, "of role staff\n") // to its end
	}
}

// The help is whole on a narrow screen, too.
func TestInboxHelpIsWhole(t *testing.T) {
	t.Parallel()
	x := newShop(t).inbox(60, 20)
	x.shows("Nothing waits.")
	x.keys("?")
	x.golden("narrow-help", "more (lines 1–18 of ")
	x.keys("End")
	if shown := x.shows("erase before, after", "the same key returns to it."); strings.Contains(shown, "…") {
		t.Errorf("it is cut:\n%s", shown)
	}
}

// However an operator leaves, the terminal is set as it was before.
func TestInboxRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	for name, leave := range map[string]func(*screen){
		"q":      func(x *screen) { x.keys("q") },
		"ctrl-c": func(x *screen) { x.keys("C-c") },
		"y":      func(x *screen) { x.keys("r", "z", "C-c", "y") },
	} {
		settings := filepath.Join(t.TempDir(), "stty")
		inbox := s.cli(nil, "inbox")
		cmd := exec.Command("/bin/sh", append([]string{"-c", `stty -a >"$0.before"; "$@"; stty -a >"$0.after"`, settings, inbox.Path}, inbox.Args[1:]...)...)
		cmd.Env = inbox.Env
		x := onScreen(t, 80, 24, cmd)
		x.shows("> approval  Ava", "policy")
		leave(x)
		x.left()
		before, err := os.ReadFile(settings + ".before")
		if err != nil || !strings.Contains(string(before), " icanon") {
			t.Fatalf("%s, %v", before, err)
		}
		after, err := os.ReadFile(settings + ".after")
		if diff := cmp.Diff(string(before), string(after)); err != nil || diff != "" {
			t.Errorf("%s: %v, -before +after:\n%s", name, err, diff)
		}
	}
}

// The gates are those of the plain commands, and the attempts are recorded.
func TestInboxGates(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24, "CLAUDECODE=1")
	x.shows("read only: this shell seems to be an agent's", "policy")
	x.keys("a")
	x.shows("> approval  Ava", `"approvals approve" is for people: this shell seems to be an agent's`)
	x.keys("C-c")
	x.left()
	if got := s.operate("audit", "tail", "--json"); !strings.Contains(got, `"code":"agent_shell"`) {
		t.Errorf("not recorded:\n%s", got)
	}
	x = s.inbox(80, 24, "COUNTERSIGN_TOKEN="+fixtures.StaffToken)
	if code, shown := x.left(); code != "3" || !strings.Contains(shown, "of role staff") {
		t.Errorf("exit code %s\n%s", code, shown)
	}
	if r := run(t, s.cli(nil, "inbox")); r.code != exitUsage || !strings.Contains(r.stderr, "approvals list, requests list and tickets list") || r.stdout != "" {
		t.Errorf("without a terminal: %+v", r)
	}
}

// A signal to end leaves the terminal as it was, too.
func TestInboxEndsOnASignal(t *testing.T) {
	t.Parallel()
	x := newShop(t).busy().inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	process, err := os.FindProcess(x.process())
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, shown := x.left(); code != "0" || strings.Contains(shown, "approval") || x.tmux("display-message", "-p", "#{alternate_on}") != "0\n" {
		t.Errorf("exit code %s; the terminal isn't as it was:\n%s", code, shown)
	}
}

// A cut connection ends the inbox, also where nothing but the terminal's end tells
// of it. What was typed is gone, and nothing is half done.
func TestInboxEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-Zq7"
	for _, trap := range []string{"trap : HUP", "trap '' HUP"} {
		s := newShop(t).busy()
		result := filepath.Join(t.TempDir(), "code")
		inbox := s.cli(nil, "inbox")
		cmd := exec.Command("/bin/sh", append([]string{"-c", trap + `; "$@"; echo $? >"$0"`, result, inbox.Path}, inbox.Args[1:]...)...)
		cmd.Env = inbox.Env
		x := onScreen(t, 80, 24, cmd)
		x.shows("> approval  Ava", "policy")
		x.keys("3", "a")
		x.shows("> CODE")
		x.text("123456")
		x.keys("Enter")
		x.text(secret)
		x.shows(strings.Repeat("•", len(secret)))
		x.tmux("kill-server")
		got := ""
		for deadline := time.Now().Add(30 * time.Second); got == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			text, _ := os.ReadFile(result)
			got = strings.TrimSpace(string(text))
		}
		if got != "0" {
			t.Errorf("%s: exit code %q", trap, got)
		}
		if got := s.operate("requests", "list"); !strings.Contains(got, "RQ-0000000004  pending") {
			t.Errorf("%s:\n%s", trap, got)
		}
	}
}

// It is suspended under a shell that can go on with it, and says so elsewhere, as
// at the end of ssh -t: nobody could.
func TestInboxIsSuspended(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	x := s.inbox(80, 24)
	x.shows("> approval  Ava", "policy")
	x.keys("C-z")
	x.shows("> approval  Ava", "it can't be suspended: no shell is behind it")
	x.keys("q")
	x.left()

	inbox := s.cli(nil, "inbox")
	cmd := exec.Command("/bin/sh", append([]string{"-c", `set -m; "$@"; echo it is stopped; read go; fg`, "sh", inbox.Path}, inbox.Args[1:]...)...)
	cmd.Env = inbox.Env
	x = onScreen(t, 80, 24, cmd)
	x.shows("> approval  Ava", "policy")
	x.keys("C-z")
	x.shows("it is stopped")
	x.keys("Enter")
	x.shows("> approval  Ava", "policy")
	x.keys("q")
	if code, _ := x.left(); code != "0" {
		t.Errorf("exit code %s", code)
	}
}

// The README shows the list as it is.
func TestReadmeShowsTheInbox(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join("testdata", "inbox", "list.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := func(text string) (lines []string) {
		for _, c := range changing {
			text = c.pattern.ReplaceAllString(text, c.instead)
		}
		for line := range strings.Lines(regexp.MustCompile(`AP-[0-9A-Z]{10}`).ReplaceAllString(text, "AP-")) {
			if strings.TrimSpace(line) != "" {
				lines = append(lines, line)
			}
		}
		return lines
	}
	block := regexp.MustCompile("(?s)```\n(Inbox .*?)```").FindStringSubmatch(string(readme))
	if block == nil {
		t.Fatal("the README doesn't show the inbox")
	}
	if diff := cmp.Diff(lines(string(list)), lines(block[1])); diff != "" {
		t.Errorf("-screen +README:\n%s", diff)
	}
}

// Nothing is coloured or faint, which a light or a dark background would swallow,
// and the selection is still seen.
func TestInboxKeepsToTheTerminalsOwnColours(t *testing.T) {
	t.Parallel()
	s := newShop(t).busy()
	colours := regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:2|[349][0-7]|10[0-7])m`)
	check := func(x *screen) {
		t.Helper()
		shown := x.tmux("capture-pane", "-p", "-e")
		if got := colours.FindString(shown); got != "" {
			t.Errorf("%q in:\n%q", got, shown)
		}
	}
	for _, env := range [][]string{nil, {"NO_COLOR=1"}} {
		x := s.inbox(80, 24, env...)
		x.shows("> approval  Ava", "pending", "policy")
		if shown := x.tmux("capture-pane", "-p", "-e"); !strings.Contains(shown, "\x1b[7m") {
			t.Errorf("%v: nothing is marked:\n%q", env, shown)
		}
		check(x)
		x.keys("r", "Enter")
		x.shows("is required")
		check(x)
		x.text("no")
		x.keys("Enter")
		x.shows("Reject AP-0000000001?", "you enter", "y yes")
		check(x)
		x.keys("Escape")
		x.shows("> approval  Ava")
		x.keys("3", "a", "Right")
		x.shows("> CODE", "SPEED")
		check(x)
		x.keys("Escape")
		x.shows("> request")
		x.keys("C-c")
		x.shows("Discard what you typed?")
		check(x)
	}
}
