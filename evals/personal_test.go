package evals_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"countersign/evals/leaks"
	"countersign/tools"
	"countersign/tools/client"
)

// person is a customer of the shop, with what nobody may read in a log.
type person struct {
	id      string
	orders  []string
	name    string
	street  string
	private []string
}

// strangers are customers as the retail shop has none: with telephones, notes
// and names in other scripts. Cases 35 and 65 to 69 have the texts.
const strangers = `
{"type":"customer","id":"x-1","name":"Test 서울특 Ñandú ﷼","email":"Ñandú+Shop@exämple.com","phone":"+49 (0)30 123-45 67","created_at":"-400d"}
{"type":"order","id":"X-1001","customer_id":"x-1","status":"processing","currency":"EUR","placed_at":"-1d","items":[{"sku":"S","title":"Shoe","quantity":1,"unit_price":"20.00"}],"total":"20.00","note":"Bitte bei Müllerström klingeln, Türcode 8812-4711","address":{"recipient":"Test 서울특","line1":"Große Straße 5","city":"Görlitz","postal_code":"02826","country":"DE"}}
{"type":"customer","id":"x-2","name":"山田太郎","email":"taro.yamada@example.co.jp","phone":"０９０−１２３４−５６７８","created_at":"-400d"}
{"type":"order","id":"X-1002","customer_id":"x-2","status":"delivered","currency":"JPY","placed_at":"-9d","delivered_at":"-5d","items":[{"sku":"S","title":"Shoe","quantity":1,"unit_price":"5400"}],"total":"5400","note":"隣の鈴木花子さんに渡してください","address":{"recipient":"山田太郎","line1":"神南一丁目１９番１１号","city":"東京都渋谷区","postal_code":"150-0002","country":"JP"}}
{"type":"customer","id":"x-3","name":"Zoë O’Brien-Łuczak","email":"Zoe.OBrien@Example.COM","phone":"tel. 0043/1/587-8000","created_at":"-400d"}
{"type":"order","id":"X-1003","customer_id":"x-3","status":"delivered","currency":"USD","placed_at":"-9d","delivered_at":"-5d","items":[{"sku":"S","title":"Shoe","quantity":1,"unit_price":"900.00"}],"total":"900.00","note":"Leave it with Mrs. D’Souza-Kowalczyk at 12½","address":{"recipient":"Zoë O’Brien","line1":"7 Beach Rd 🏖 \"The Kiln\"","city":"Reno","region":"NV","postal_code":"89501","country":"US"}}
{"type":"customer","id":"x-4","name":"محمد عبد الله","email":"muhammad.abdullah@example.ae","phone":"+971501234567","created_at":"-400d"}
{"type":"order","id":"X-1004","customer_id":"x-4","status":"shipped","currency":"USD","placed_at":"-3d","items":[{"sku":"S","title":"Shoe","quantity":1,"unit_price":"50.00"}],"total":"50.00","note":"اتصل قبل التسليم بالسيدة فاطمة","address":{"recipient":"Владимир Кузнецов","line1":"شارع الشيخ زايد ٤٢","city":"دبي","country":"AE"}}
`

// freeTexts are what people put into the words of a request.
var freeTexts = []string{"anna@example.com", "4242 4242 4242 4242", "+49 30 1234567", "Ａｎｎａ Ｓｃｈｍｉｄｔ", "anna%40example.com"}

func persons(t *testing.T, lines string) (all []*person) {
	t.Helper()
	byID := map[string]*person{}
	for decoder := json.NewDecoder(strings.NewReader(lines)); decoder.More(); {
		var l struct {
			Type, ID, Name, Email, Phone, Note string
			Customer                           string `json:"customer_id"`
			Address                            struct{ Recipient, Line1, Line2, City string }
		}
		check(t, decoder.Decode(&l))
		switch l.Type {
		case "customer":
			p := &person{id: l.ID, name: l.Name, private: slices.Concat([]string{l.Name, l.Email, l.Phone}, strings.Fields(l.Name))}
			byID[l.ID], all = p, append(all, p)
		case "order":
			p, a := byID[l.Customer], l.Address
			p.orders, p.street = append(p.orders, l.ID), a.Line1
			p.private = append(p.private, a.Recipient, a.Line1, a.Line2, a.City, l.Note)
		}
	}
	for _, p := range all {
		p.private = leaks.Telling(append(p.private, freeTexts...)...)
	}
	return all
}

// asked is a call, and the order that it names.
type asked struct {
	tool  string
	args  map[string]any
	order string
}

// calls are right and wrong calls of every tool with a person's data wherever a
// text fits.
func (p *person) calls() (all []asked) {
	text := strings.Join(p.private, " / ")
	text = text[:min(len(text), 450)]
	text = strings.ToValidUTF8(text, "")
	order := "X-404"
	add := func(tool, order string, args map[string]any) { all = append(all, asked{tool, args, order}) }
	add("lookup_customer", "", nil)
	add("search_help_center", "", map[string]any{"query": text})
	for _, order = range p.orders {
		id := strings.ToLower(order) + " "
		add("get_order", order, map[string]any{"order_id": id})
		add("track_shipment", order, map[string]any{"order_id": id})
		add("update_shipping_address", order, map[string]any{"order_id": id, "address": map[string]any{
			"recipient": p.name, "line1": p.street + " ", "line2": freeTexts[2], "city": freeTexts[0], "postal_code": "02138", "country": "US"}})
		add("update_shipping_address", order, map[string]any{"order_id": id, "address": map[string]any{
			"recipient": p.name, "line1": freeTexts[0] + "\u202e", "city": "Reno", "region": text[:20], "postal_code": freeTexts[2][:10], "country": "XX"}})
		add("issue_refund", order, map[string]any{"order_id": id, "amount": "10.00", "reason": text})
		add("issue_refund", order, map[string]any{"order_id": id, "reason": "and all the rest for " + text})
		add("escalate_to_human", order, map[string]any{"order_id": id, "category": "other", "summary": "please call back: " + text})
	}
	for _, tool := range tools.All { // a value as it is refused, a value as it is unknown, a field of that name
		args := map[string]any{p.name: p.street, "order_id": freeTexts[1], "query": []string{text}, "reason": text, "summary": map[string]any{text: text},
			"amount": freeTexts[2], "currency": p.name, "category": text, "priority": text, "limit": text, "address": map[string]any{"country": text, p.street: p.name}}
		add(tool.Name, "", args)
	}
	for _, id := range p.private {
		add("get_order", "", map[string]any{"order_id": id})
	}
	add("escalate_to_human", "", map[string]any{"order_id": text[:40], "category": "other", "summary": text})
	add(p.name, "", map[string]any{"order_id": order})
	add(freeTexts[0], "", map[string]any{"summary": text})
	return all
}

// peopleVariable is how many customers of the retail shop TestPersonalDataReachesNoLog
// takes: 20, or all of them with 500 (some minutes).
const peopleVariable = "COUNTERSIGN_PEOPLE"

// sample returns as many customers as are asked for, from everywhere in a list.
func sample(t *testing.T, all []*person) (some []*person) {
	t.Helper()
	n := 20
	if text := os.Getenv(peopleVariable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 || n > len(all) {
			t.Fatalf("%s is a number of customers up to %d: %q", peopleVariable, len(all), text)
		}
	}
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}

// Cases 65, 66 and 69: every customer of the shop has every tool called with
// all their data, over the real server. Neither the log nor stderr nor a refusal
// holds any of it, however it is spelled, and each row says who did what.
func TestPersonalDataReachesNoLog(t *testing.T) {
	fresh, err := template()
	check(t, err)
	s := fresh.copy(t)
	more := filepath.Join(t.TempDir(), "strangers.jsonl")
	check(t, os.WriteFile(more, []byte(strings.TrimSpace(strangers)), 0o600))
	_, err = operate("", "import", "native", "--db", s.db, "--token", s.manager, more)
	check(t, err)
	shop, err := os.ReadFile(filepath.Join("testdata", "shop.jsonl"))
	check(t, err)
	all := persons(t, string(shop))
	if len(all) != 500 {
		t.Fatalf("there are %d customers", len(all))
	}
	all = append(sample(t, all), persons(t, strangers)...)
	log := openLog(t, s.db)
	seen := map[string]int{}
	for _, p := range all {
		log.skip(t)
		texts, answers := p.session(t, s)
		rows, log := log.next(t)
		p.compare(t, rows, answers)
		for _, row := range rows {
			seen[row["action"]+" "+row["outcome"]]++
		}
		p.search(t, "stderr and the refusals", texts)
		p.search(t, "the log", log)
	}
	p := all[len(all)-2] // whose second refund waits
	p.search(t, "what the operator's commands leave", p.decided(t, s, log))
	for _, tool := range tools.All {
		if seen[tool.Name+" ok"]+seen[tool.Name+" pending_approval"] == 0 || seen[tool.Name+" invalid"] < len(all) {
			t.Errorf("%s: the calls don't go through and fail as they should: %v", tool.Name, seen)
		}
	}
	if seen["unknown invalid"] != 2*len(all) || seen["issue_refund pending_approval"] == 0 || seen["get_order error"] < len(all) {
		t.Errorf("what happened: %v", seen)
	}
}

// session makes a person's calls and returns the text of stderr and of every
// refusal, and the codes of the answers.
func (p *person) session(t *testing.T, s shop) (texts string, codes []string) {
	t.Helper()
	programs, err := programs()
	check(t, err)
	var stderr, refusals bytes.Buffer
	server := exec.Command(programs.server, "--db", s.db, "--customer", p.id, "--log-level", "debug")
	server.Env, server.Dir, server.Stderr = []string{"COUNTERSIGN_TOKEN=" + s.agent}, "/", &stderr
	agent, err := client.Start(context.Background(), server, "retail")
	check(t, err)
	for _, c := range p.calls() {
		res, err := agent.Call(t.Context(), c.tool, c.args)
		code := "unknown_tool"
		if err == nil {
			var answer struct{ Error string }
			check(t, json.Unmarshal(res.JSON, &answer))
			code = answer.Error
		} else {
			_, text, _ := strings.Cut(err.Error(), c.tool+": ") // the client's own words before it repeat the tool's name
			_, text, _ = strings.Cut(text, ": ")
			refusals.WriteString(text + "\n")
		}
		if res.IsError {
			refusals.Write(append(res.JSON, '\n'))
		}
		codes = append(codes, code)
	}
	check(t, agent.Close())
	return stderr.String() + refusals.String(), codes
}

// compare checks that each row says who did what to which order, and how it ended.
func (p *person) compare(t *testing.T, rows []map[string]string, codes []string) {
	t.Helper()
	calls := p.calls()
	if len(rows) != len(calls) {
		t.Fatalf("%s: %d calls left %d rows", p.id, len(calls), len(rows))
	}
	first := rows[0]
	for _, name := range []string{"actor", "session", "customer"} {
		if first[name] == "" {
			t.Errorf("%s: a row has no %s", p.id, name)
		}
	}
	for i, c := range calls {
		action := c.tool
		if codes[i] == "unknown_tool" {
			action = "unknown"
		}
		want := fmt.Sprint(first["actor"], " agent staff mcp ", first["session"], " retail ", first["customer"], " ", action, " ", c.order, " ", codes[i])
		r := rows[i]
		got := fmt.Sprint(r["actor"], " ", r["actor_kind"], " ", r["role"], " ", r["door"], " ", r["session"], " ", r["client"], " ", r["customer"], " ",
			r["action"], " ", r["order_id"], " ", strings.TrimPrefix(r["code"], "replayed"))
		if got != want {
			t.Errorf("%s: row %s: got %s, want %s", p.id, r["seq"], got, want)
		}
		if (c.tool == "issue_refund" && codes[i] == "") != (r["amount"] != "" && r["currency"] != "" && (r["outcome"] == "ok" || r["outcome"] == "pending_approval")) {
			t.Errorf("%s: row %s: amount %q, outcome %s", p.id, r["seq"], r["amount"], r["outcome"])
		}
	}
}

func (p *person) search(t *testing.T, where, text string) {
	t.Helper()
	if len(text) < 500 {
		t.Fatalf("%s: %s is empty: %q", p.id, where, text)
	}
	pile := leaks.New(text)
	for _, secret := range append([]string{p.id}, p.private...) {
		if len(leaks.Bare(secret)) >= 6 && pile.Holds(secret) {
			t.Errorf("%s: %s holds %q:\n%.3000s", p.id, where, secret, text)
		}
	}
}

// decided has an operator decide and answer in a person's words, rightly and
// wrongly, and returns what that leaves on stderr and in the log.
func (p *person) decided(t *testing.T, s shop, log *auditTable) (texts string) {
	t.Helper()
	programs, err := programs()
	check(t, err)
	run := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(programs.operator, append(args, "--db", s.db, "--token", s.manager)...)
		cmd.Env = []string{"HOME=" + scratch}
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // some fail, as they should
		texts += stderr.String()
		return stdout.String()
	}
	words := strings.Join(p.private, " / ")
	var waiting []struct {
		ID string `json:"approval_id"`
	}
	check(t, json.Unmarshal([]byte(run("approvals", "list", "--json")), &waiting))
	var open []struct {
		ID string `json:"ticket_id"`
	}
	check(t, json.Unmarshal([]byte(run("tickets", "list", "--json")), &open))
	if len(waiting) < 2 || len(open) < 2 {
		t.Fatalf("%d requests and %d tickets wait", len(waiting), len(open))
	}
	log.skip(t)
	run("approvals", "approve", waiting[0].ID, "--yes", "--note", words)
	run("approvals", "approve", waiting[0].ID, "--yes", "--note", words)
	run("approvals", "reject", waiting[1].ID, "--yes", "--note", words)
	run("approvals", "approve", waiting[1].ID, "--yes", "--amount", p.name, "--note", words)
	run("tickets", "reply", open[0].ID, words)
	run("tickets", "close", open[0].ID)
	run("tickets", "reply", open[0].ID, words)
	rows, text := log.next(t)
	var got []string
	for _, r := range rows {
		got = append(got, strings.TrimSpace(r["actor_kind"]+" "+r["role"]+" "+r["door"]+" "+r["action"]+" "+r["outcome"]))
	}
	for _, want := range []string{"operator manager cli approvals approve ok", "operator manager cli approvals reject ok", "operator manager cli tickets reply ok"} {
		if !slices.Contains(got, want) {
			t.Errorf("the log has no %q: %q", want, got)
		}
	}
	return texts + text
}

// auditTable reads what comes to the log, beside the program.
type auditTable struct {
	db   *sql.DB
	last int64
}

func openLog(t *testing.T, path string) *auditTable {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	check(t, err)
	t.Cleanup(func() { db.Close() })
	return &auditTable{db: db}
}

func (l *auditTable) skip(t *testing.T) {
	t.Helper()
	check(t, l.db.QueryRow("select coalesce(max(seq), 0) from audit").Scan(&l.last))
}

// next returns the rows that came since, by column, and all of their text.
func (l *auditTable) next(t *testing.T) (all []map[string]string, text string) {
	t.Helper()
	rows, err := l.db.Query("select * from audit where seq > ? order by seq", l.last)
	check(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	check(t, err)
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		check(t, rows.Scan(into...))
		row := map[string]string{}
		for i, name := range columns {
			row[name] = values[i].String
			text += name + "=" + values[i].String + "\n"
		}
		all = append(all, row)
	}
	check(t, rows.Err())
	return all, text
}
