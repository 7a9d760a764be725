package tools_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/tools"
)

// A tool's customer is the session's. These tests try to reach another one's by
// every argument that there is.

// takesID are the arguments of a tool that name a thing of a customer's.
func takesID(t *testing.T, tool *tools.Tool) (names []string) {
	for name := range schemaOf(t, tool).Properties {
		if name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_number") {
			names = append(names, name)
		}
	}
	return names
}

// neighbours is a shop of C-1, whose agent is returned, and of C-2, who has one
// of everything that a tool gives an id to: by the id's name.
func neighbours(t *testing.T) (a agent, foreign map[string]string) {
	t.Helper()
	s := open(t, order("NW-5001", "C-1", "20.00", nil), processing("NW-5003", "C-1"),
		customer("C-2"), order("NW-9001", "C-2", "900.00", nil), order("NW-9002", "C-2", "20.00", nil))
	a = s.staff("agent")
	foreign = map[string]string{"order_id": "NW-9001"}
	for _, id := range []string{"NW-9001", "NW-9002"} {
		for _, tool := range everyTool {
			more := fields{}
			if slices.Contains(takesID(t, tool), "order_id") {
				more["order_id"] = id
			}
			for name, value := range decode(t, a.as("C-2").call(tool.Name, valid(t, tool, more))) {
				if text, ok := value.(string); ok && strings.HasSuffix(name, "_id") && name != "customer_id" {
					foreign[name] = text
				}
			}
		}
	}
	for _, name := range []string{"order_id", "approval_id", "refund_id", "ticket_id", "request_id"} {
		if foreign[name] == "" {
			t.Fatalf("no tool gives C-2 a %s: %v", name, foreign)
		}
	}
	return a, foreign
}

// unknown is an id that looks like another one and is nobody's.
func unknown(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '7'
		}
		return r
	}, id)
}

// Cases 42 and 43: for every tool and every kind of id, another customer's is an
// unknown one. Only the log tells them apart, and nothing else is written.
func TestForeignIDIsAnUnknownOne(t *testing.T) {
	a, foreign := neighbours(t)
	tried := 0
	for _, tool := range everyTool {
		for _, name := range takesID(t, tool) {
			if foreign[name] == "" {
				t.Fatalf("%s takes a %s, and this test doesn't know how another customer comes by one", tool.Name, name)
			}
			for _, kind := range foreign { // any id in any place
				for _, spelled := range []string{kind, strings.ToLower(kind), map[bool]string{true: " #", false: " "}[name == "order_id"] + kind + "\n"} {
					before, rows := a.everything(), len(a.rows())
					theirs := a.call(tool.Name, valid(t, tool, fields{name: spelled}))
					loggedTheirs := a.logged()
					nobodys := a.call(tool.Name, valid(t, tool, fields{name: unknown(spelled)}))
					equal(t, notFoundBy(tool.Name), string(theirs.JSON))
					equal(t, notFoundBy(tool.Name), string(nobodys.JSON))
					want := "error not_found"
					if kind == foreign[name] || name == "request_id" && kind == foreign["approval_id"] { // which it takes, too
						want = "denied not_found"
						tried++
					}
					equal(t, tool.Name+" "+spelled+" "+want, tool.Name+" "+spelled+" "+loggedTheirs)
					equal(t, "error not_found", a.logged())
					equal(t, 2, len(a.rows())-rows)
					equal(t, before, a.everything())
				}
			}
		}
	}
	if tried < 12 {
		t.Errorf("%d foreign ids were tried", tried)
	}
}

// No argument that names somebody is taken, whatever stands beside it, and a
// customer's id in place of another is nobody's.
func TestNoArgumentChoosesACustomer(t *testing.T) {
	a, _ := neighbours(t)
	before := a.everything()
	for _, tool := range everyTool {
		for _, word := range namesSomebody {
			for _, name := range []string{word, word + "_id", strings.ToUpper(word), "_" + word, "x-" + word} {
				for _, value := range []any{"C-2", "C-2@example.com", fields{"id": "C-2"}, nil} {
					arguments := fields{name: value}
					if value == nil {
						arguments[name] = []string{"C-2"}
					}
					if got := code(a.call(tool.Name, valid(t, tool, arguments))); got != "invalid_arguments" {
						t.Errorf("%s with %s: %s", tool.Name, line(arguments, nil), got)
					}
				}
			}
		}
		for _, name := range takesID(t, tool) {
			for _, id := range []string{"C-2", "C-2@example.com", "Ava C-2"} {
				equal(t, notFoundBy(tool.Name), string(a.call(tool.Name, valid(t, tool, fields{name: id})).JSON))
			}
		}
	}
	equal(t, before, a.everything())
}

// pairsVariable is how many strangers' orders every customer of the retail shop
// tries to reach: 2, or as many as there are with a large number (some 10
// minutes).
const pairsVariable = "COUNTERSIGN_PAIRS"

// Every customer in turn is the session, and tries the orders of others with
// every tool: nothing but not_found ever comes back, and nothing changes.
func TestNobodyReachesAnothersOrder(t *testing.T) {
	strangers := 2
	if text := os.Getenv(pairsVariable); text != "" {
		var err error
		if strangers, err = strconv.Atoi(text); err != nil || strangers < 1 {
			t.Fatalf("%s is a number of customers: %q", pairsVariable, text)
		}
	}
	s, customers, orders := retail(t)
	if len(customers) != 500 {
		t.Fatalf("there are %d customers", len(customers))
	}
	a := s.staff("agent")
	before, tried := s.everything(), 0
	chance := rand.New(rand.NewPCG(1, 2))
	for _, session := range customers {
		for _, own := range orders[session] {
			equal(t, own, pick(t, a.as(session).call("get_order", line(fields{"order_id": own}, nil)), "order_id"))
		}
		chosen := 0
		for _, i := range chance.Perm(len(customers)) {
			theirs := orders[customers[i]]
			if customers[i] == session || len(theirs) == 0 {
				continue
			}
			if chosen++; chosen > strangers {
				break
			}
			id := theirs[chance.IntN(len(theirs))]
			for _, tool := range everyTool {
				if !slices.Contains(takesID(t, tool), "order_id") {
					continue
				}
				res := a.as(session).call(tool.Name, valid(t, tool, fields{"order_id": id}))
				if tried++; string(res.JSON) != notFoundBy(tool.Name) || !res.IsError {
					t.Fatalf("%s as %s with %s of %s: %s", tool.Name, session, id, customers[i], res.JSON)
				}
			}
		}
		if answer := string(a.as(session).call("lookup_customer", "").JSON); !strings.Contains(answer, `"customer_id":"`+session+`"`) {
			t.Errorf("as %s: %s", session, answer)
		}
	}
	equal(t, before, s.everything())
	denied := 0
	for _, r := range s.rows() {
		if r.Outcome == "denied" && r.Code == "not_found" {
			denied++
		}
	}
	equal(t, tried, denied)
	if tried < 4*2*len(customers) {
		t.Errorf("%d calls were tried", tried)
	}
}

// A foreign id takes as long as an unknown one: the time tells nothing either.
// The two are asked in turn, so that a busy machine slows both down, and their
// medians compared. One measurement can be off by chance, so that it takes five
// in a row to fail; a call that did more for one of the two would fail them all.
func TestForeignTakesAsLongAsUnknown(t *testing.T) {
	const calls, attempts, apart = 200, 5, 0.2
	a, foreign := neighbours(t)
	for _, tool := range everyTool {
		for _, name := range takesID(t, tool) {
			var seen []string
			for range attempts {
				medians := interleaved(calls, func(which int) {
					id := []string{foreign[name], unknown(foreign[name])}[which]
					a.call(tool.Name, valid(t, tool, fields{name: id}))
				})
				ratio := float64(medians[0]) / float64(medians[1])
				seen = append(seen, fmt.Sprintf("%v : %v = %.2f", medians[0], medians[1], ratio))
				if ratio > 1-apart && ratio < 1/(1-apart) {
					seen = nil
					break
				}
			}
			if seen != nil {
				t.Errorf("%s: a foreign %s and an unknown one take %s", tool.Name, name, strings.Join(seen, ", "))
			}
		}
	}
}

// interleaved calls act n times for each of 0 and 1, who goes first by turns,
// and returns the medians of how long it took.
func interleaved(n int, act func(which int)) (medians [2]time.Duration) {
	var took [2][]time.Duration
	for i := range 2 * n {
		which := (i + i/2) % 2 // 0 1 1 0 0 1 1 0
		start := time.Now()
		act(which)
		took[which] = append(took[which], time.Since(start))
	}
	for which := range took {
		slices.Sort(took[which])
		medians[which] = took[which][n/2]
	}
	return medians
}
