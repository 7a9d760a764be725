package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/tools"
)

// Whatever a model writes into any text of any tool's arguments, no answer and no
// refusal, of that call or of a later one, has it outside of "untrusted".
func TestEveryArgumentsTextIsWrapped(t *testing.T) {
	s := open(t, order("NW-5001", "C-1", "20.00", nil), order("NW-5002", "C-1", "900.00", nil), processing("NW-5003", "C-1"))
	a := s.staff("agent")
	answered := 0
	check := func(path string, res tools.Result) {
		answered++
		wrapped(t, path, decode(t, res), false)
		for _, r := range hidden {
			if strings.ContainsRune(string(res.JSON), r) || strings.Contains(string(res.JSON), fmt.Sprintf(`\u%04x`, r)) {
				t.Errorf("%s: the answer holds %U: %s", path, r, res.JSON)
			}
		}
	}
	for n, id := range []string{"NW-5001", "NW-5002", "NW-5003"} {
		for _, tool := range everyTool {
			for path, arguments := range markedEach(schemaOf(t, tool), marked(n), decoded(valid(t, tool, nil))) {
				if slices.Contains(takesID(t, tool), "order_id") && path != "order_id" {
					arguments["order_id"] = id
				}
				check(tool.Name+" "+path, a.call(tool.Name, line(arguments, nil)))
			}
			check(tool.Name, a.call(tool.Name, line(schemaOf(t, tool).filled(marked(n)).(fields), nil)))
		}
	}
	for _, tool := range everyTool {
		for _, id := range []string{"NW-5001", "NW-5002", "NW-5003"} {
			more := fields{}
			if slices.Contains(takesID(t, tool), "order_id") {
				more["order_id"] = id
			}
			check(tool.Name+" of "+id, a.call(tool.Name, valid(t, tool, more)))
		}
	}
	if kept := strings.Count(s.dump("refunds", "approvals", "tickets", "orders"), mark); kept < 5 {
		t.Errorf("%d marked texts were kept: the test looks past them", kept)
	}
	if answered < 50 {
		t.Errorf("%d answers were looked at", answered)
	}
}

// decoded is a copy of an object that line wrote.
func decoded(text string) (object fields) {
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		panic(err)
	}
	return object
}

// markedEach are arguments with a text in one place after the other, by its path.
func markedEach(s schema, text string, arguments fields) map[string]fields {
	all := map[string]fields{}
	for name, property := range s.Properties {
		switch property.Type {
		case "string":
			all[name] = decoded(line(arguments, fields{name: text}))
		case "object":
			inner, _ := arguments[name].(fields)
			for path, changed := range markedEach(property, text, inner) {
				all[name+"."+path] = decoded(line(arguments, fields{name: changed}))
			}
		}
	}
	return all
}

// A ticket's summary and a refund's reason come back wrapped in every state that
// an operator brings them to, and the operator's own words plain, beside a name.
func TestOperatorsWordsArePlainWithTheirName(t *testing.T) {
	const words = "Op7Words: worn for weeks"
	s := open(t, order("NW-5001", "C-1", "900.00", nil), order("NW-5002", "C-1", "900.00", nil), order("NW-5003", "C-1", "900.00", nil))
	s.policy(`refund: {auto_limit: {USD: "1.00"}}`)
	a := s.staff("agent")
	ask := func(id string) tools.Result {
		return a.call("issue_refund", line(fields{"order_id": id, "amount": "20.00", "reason": marked(1)}, nil))
	}
	for _, id := range []string{"NW-5001", "NW-5002", "NW-5003"} {
		equal(t, "pending_approval", pick(t, ask(id), "status"))
	}
	ticket, _, _ := strings.Cut(a.ticket(marked(2)+" please call", nil), " ")
	if _, err := s.operator.Approve(t.Context(), "AP-0001", "", words); err != nil {
		t.Fatal(err)
	}
	if _, err := s.operator.Reject(t.Context(), "AP-0002", words); err != nil {
		t.Fatal(err)
	}
	if _, err := s.operator.Reply(t.Context(), ticket, words); err != nil {
		t.Fatal(err)
	}
	answers := map[string]tools.Result{"lookup_customer": a.call("lookup_customer", "")}
	for _, id := range []string{"NW-5001", "NW-5002", "NW-5003"} {
		answers["issue_refund again "+id] = ask(id)
		answers["get_order "+id] = a.call("get_order", line(fields{"order_id": id}, nil))
	}
	plain := 0
	for path, res := range answers {
		answer := decode(t, res)
		wrapped(t, path, answer, false)
		plain += signed(t, path, answer, words, "dora")
	}
	// lookup_customer has both decisions and the reply, get_order and the repeat one decision each.
	equal(t, 3+2+2, plain)
	for text, where := range map[string]string{marked(1)[:11]: "get_order NW-5001", marked(2)[:11]: "lookup_customer"} {
		if !strings.Contains(string(answers[where].JSON), text) {
			t.Errorf("%s doesn't show %q", where, text)
		}
	}
}

// signed counts an operator's words in an answer. Each must stand plain in an
// object that names who wrote them.
func signed(t *testing.T, path string, value any, words, by string) (found int) {
	t.Helper()
	switch v := value.(type) {
	case fields:
		names := []any{v["name"], v["operator"]}
		for name, inner := range v {
			if inner == words {
				found++
				if name == "untrusted" || !slices.Contains(names, any(by)) {
					t.Errorf("%s.%s: an operator's words without who wrote them: %v", path, name, v)
				}
				continue
			}
			found += signed(t, path+"."+name, inner, words, by)
		}
	case []any:
		for i, inner := range v {
			found += signed(t, fmt.Sprint(path, ".", i), inner, words, by)
		}
	}
	return found
}
