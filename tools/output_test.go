package tools_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

// mostOutputSchemas is how many bytes the output schemas of the seven tools may
// add to tools/list.
const mostOutputSchemas = 8_000

// The output schemas are those of the Go structs, and of no more than the tools.
func TestOutputSchemas(t *testing.T) {
	var want, got []string
	sum := 0
	for _, tool := range everyTool {
		text, err := tools.DeriveOutputSchema(tool)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "../schemas/output/"+tool.Name+".json", string(text)+"\n")
		want = append(want, tool.Name+".json")
		if *update { // what is embedded is still the old one
			continue
		}
		if slices.Contains(tools.All, tool) {
			sum += len(tool.OutputSchema())
		}
		if !strings.HasPrefix(string(tool.OutputSchema()), "{") || foreignKeywords.Match(tool.OutputSchema()) {
			t.Errorf("the output schema of %s isn't an object of its own: %s", tool.Name, tool.OutputSchema())
		}
	}
	if sum > mostOutputSchemas {
		t.Errorf("the output schemas take %d bytes of tools/list, more than %d", sum, mostOutputSchemas)
	}
	files, err := os.ReadDir("schemas/output")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		got = append(got, file.Name())
	}
	slices.Sort(want)
	equal(t, want, got)
}

// A judge compares answers with the output schemas of their tools, and takes no
// field that a schema doesn't name, though the schemas would.
type judge struct {
	schemas map[string]*jsonschema.Resolved
	seen    map[string]bool // tool and field, of all that was in an answer
}

func newJudge(t testing.TB) *judge {
	t.Helper()
	j := &judge{map[string]*jsonschema.Resolved{}, map[string]bool{}}
	for _, tool := range everyTool {
		var s jsonschema.Schema
		if err := json.Unmarshal(tool.OutputSchema(), &s); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		closeSchema(&s)
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		j.schemas[tool.Name] = resolved
	}
	return j
}

func closeSchema(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" && len(s.Properties) > 0 { // one without any has names that a form chose
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, property := range s.Properties {
		closeSchema(property)
	}
	closeSchema(s.Items)
}

// call calls a tool, which must answer, and judges its answer.
func (j *judge) call(a agent, tool, arguments string) tools.Result {
	a.t.Helper()
	res := j.try(a, tool, arguments)
	if res.IsError {
		a.t.Fatalf("%s %s: %s", tool, arguments, res.JSON)
	}
	return res
}

// try is call of a tool that may refuse.
func (j *judge) try(a agent, tool, arguments string) tools.Result {
	a.t.Helper()
	res := a.call(tool, arguments)
	if res.IsError {
		return res
	}
	answer := decode(a.t, res)
	if err := j.schemas[tool].Validate(answer); err != nil {
		a.t.Errorf("%s %s answers what its schema doesn't say: %v\n%s", tool, arguments, err, res.JSON)
	}
	j.see(tool, answer)
	return res
}

func (j *judge) see(path string, value any) {
	switch v := value.(type) {
	case fields:
		for name, inner := range v {
			j.seen[path+"."+name] = true
			j.see(path+"."+name, inner)
		}
	case []any:
		for _, inner := range v {
			j.see(path, inner)
		}
	}
}

// named lists the fields that a schema names, as see does those of answers.
func named(path string, s *jsonschema.Schema) (all []string) {
	if s == nil {
		return nil
	}
	for name, property := range s.Properties {
		all = append(append(all, path+"."+name), named(path+"."+name, property)...)
	}
	return append(all, named(path, s.Items)...)
}

// Every answer of every tool is what the tool's output schema says, in all
// situations that change its form; and every field that a schema names was there
// in one of them.
func TestAnswersFitTheirSchemas(t *testing.T) {
	j := newJudge(t)
	t.Run("demo", func(t *testing.T) { j.demoShop(t) })
	t.Run("plain", func(t *testing.T) { j.plainShop(t) })
	t.Run("requests", func(t *testing.T) { j.requests(t) })
	t.Run("bulky", func(t *testing.T) {
		_, a := bulky(t, "x")
		for _, id := range []string{"NW-5001", "NW-5002", "NW-5003"} {
			j.reads(a, id)
		}
		j.call(a, "search_help_center", `{"query":"word","limit":10}`)
	})
	t.Run("planted", func(t *testing.T) {
		_, a := planted(t)
		for name, arguments := range asked(t) {
			j.call(a, name, arguments)
		}
		j.reads(a, "NW-5001")
	})
	for _, tool := range everyTool {
		for _, field := range named(tool.Name, j.schemas[tool.Name].Schema()) {
			if !j.seen[field] {
				t.Errorf("no answer held %s: the test looks past it", field)
			}
		}
	}
}

// reads asks everything that can be read about an order.
func (j *judge) reads(a agent, order string) {
	a.t.Helper()
	j.call(a, "get_order", line(fields{"order_id": order}, nil))
	j.call(a, "track_shipment", line(fields{"order_id": order}, nil))
	j.call(a, "lookup_customer", "")
}

// demoShop reads all orders of the demo shop and does what each allows.
func (j *judge) demoShop(t *testing.T) {
	s := open(t, string(fixtures.Northwind()))
	orders := 0
	for _, customer := range []string{"C-1001", "C-1002", "C-1003"} {
		a := s.agent("agent of "+customer, policy.Staff, customer)
		for _, o := range decode(t, j.call(a, "lookup_customer", ""))["orders"].([]any) {
			id := o.(fields)["order_id"].(string)
			orders++
			j.reads(a, id)
			j.try(a, "issue_refund", line(fields{"order_id": id, "reason": "it does not fit"}, nil))
			j.try(a, "update_shipping_address", valid(t, find(t, "update_shipping_address"), fields{"order_id": id}))
			j.call(a, "escalate_to_human", line(fields{"summary": "please look at " + id, "category": "order", "order_id": id}, nil))
			j.reads(a, id)
		}
	}
	if orders != strings.Count(string(fixtures.Northwind()), `{"type": "order"`) {
		t.Errorf("%d orders of the demo shop were read", orders)
	}
	a := s.staff("agent")
	for _, words := range []string{"refund", "return size warranty gift card repair", "xyzzy", "privacy"} {
		j.call(a, "search_help_center", line(fields{"query": words, "limit": 10}, nil))
	}
}

// plainShop goes through the states of a refund, a ticket and an article.
func (j *judge) plainShop(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "144.00", nil), order("NW-5002", "C-1", "90.00", nil), processing("NW-5003", "C-1"),
		order("NW-5004", "C-1", "500.00", nil),
		line(fields{"type": "article", "id": "H-1", "title": "old words", "body": "old words", "category": "returns", "outdated": true,
			"source": "official", "visibility": "public", "updated_at": "-9d"}, nil),
		line(fields{"type": "shipment", "order_id": "NW-5004", "carrier": "UPS", "status": "in_transit", "eta": "+2d"}, nil),
		customer("C-2"))
	a := s.staff("agent")
	refund := func(order, amount string) tools.Result {
		return j.call(a, "issue_refund", line(fields{"order_id": order, "amount": amount, "reason": "it does not fit"}, nil))
	}
	j.call(a.as("C-2"), "lookup_customer", "") // everything is empty
	j.call(a, "search_help_center", `{"query":"old"}`)
	j.call(a, "search_help_center", `{"query":"xyzzy"}`)
	equal(t, "refunded", pick(t, refund("NW-5002", "5.00"), "status"))
	equal(t, "refunded replayed", pick(t, refund("NW-5002", "5.00"), "status replayed"))
	equal(t, "pending_approval", pick(t, refund("NW-5001", "144.00"), "status"))
	equal(t, "pending_approval", pick(t, refund("NW-5004", "300.00"), "status")) // will be rejected
	j.reads(a, "NW-5001")
	equal(t, "pending_approval replayed", pick(t, refund("NW-5001", "144.00"), "status replayed"))
	s.approve("AP-0001", "80.00")
	equal(t, "refunded AP-0001 144.00 replayed", pick(t, refund("NW-5001", "144.00"), "status approval_id requested_amount replayed"))
	s.reject("AP-0002")
	if _, err := s.operator.IssueRefund(t.Context(), settle.Refunding{Order: "NW-5004", Amount: "1.00", Note: "goodwill"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"NW-5001", "NW-5002", "NW-5003", "NW-5004"} {
		j.reads(a, id)
	}
	move := valid(t, find(t, "update_shipping_address"), fields{"order_id": "NW-5003"})
	j.call(a, "update_shipping_address", move)
	j.call(a, "update_shipping_address", move)

	ticket := `{"summary":"please call me back","category":"other","priority":"high","order_id":"NW-5001"}`
	equal(t, "TK-0001 created", pick(t, j.call(a, "escalate_to_human", ticket), "ticket_id created"))
	equal(t, "TK-0001", pick(t, j.call(a, "escalate_to_human", ticket), "ticket_id created"))
	if _, err := s.operator.Reply(t.Context(), "TK-0001", "tomorrow at nine"); err != nil {
		t.Fatal(err)
	}
	j.call(a, "lookup_customer", "")
	s.tx(func(tx *store.Tx) error { _, err := tx.CloseTicket("TK-0001"); return err })
	equal(t, "TK-0002 created TK-0001", pick(t, j.call(a, "escalate_to_human", ticket), "ticket_id created previous_ticket_id"))

	equal(t, "pending_approval", pick(t, refund("NW-5004", "1.00"), "status"))
	s.clock.Advance(80 * time.Hour) // it expires
	j.reads(a, "NW-5004")
}

// requests goes through the states of a request to a human and of an approval.
func (j *judge) requests(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "900.00", nil))
	s.withEnv()
	a := s.staff("agent")
	asked := func(more fields) string {
		return pick(t, j.call(a, "request_human", form(more)), "status request_id")
	}
	checked := func(id string) string {
		return pick(t, j.call(a, "check_request", line(fields{"request_id": id}, nil)), "status")
	}
	equal(t, "pending RQ-0001", asked(nil))
	equal(t, "pending", checked("RQ-0001"))
	s.answers("RQ-0001", code6)
	equal(t, "answered RQ-0001", asked(nil)) // the same request again, with its answer
	equal(t, "pending RQ-0002", asked(secretForm()))
	s.answers("RQ-0002", map[string]string{"API_KEY": mark, "USER": "shop"})
	equal(t, "answered", checked("RQ-0002"))
	equal(t, "pending RQ-0003", asked(nil))
	if _, err := s.operator.Decline(t.Context(), "RQ-0003", "ask the bank"); err != nil {
		t.Fatal(err)
	}
	equal(t, "declined RQ-0003", asked(nil))
	equal(t, "declined", checked("RQ-0003"))
	equal(t, "pending RQ-0004", asked(nil))
	s.clock.Advance(80 * time.Hour)
	equal(t, "expired", checked("RQ-0004"))

	j.call(a, "issue_refund", line(fields{"order_id": "NW-5001", "amount": "300.00", "reason": "it does not fit"}, nil))
	j.call(a, "issue_refund", line(fields{"order_id": "NW-5001", "amount": "200.00", "reason": "it does not fit"}, nil))
	equal(t, "pending", checked("AP-0001"))
	s.approve("AP-0001", "80.00")
	s.reject("AP-0002")
	equal(t, "approved", checked("AP-0001"))
	equal(t, "rejected", checked("AP-0002"))
}
