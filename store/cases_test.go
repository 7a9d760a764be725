package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
)

// A principal has one case at a time, until it is replaced, closed or expired.
func TestCases(t *testing.T) {
	var clock storetest.Clock
	db := storetest.New(t, storetest.WithClock(&clock))
	storetest.Shop(t, db, `{"type":"customer","id":"C-1","name":"Ava","created_at":"-90d"}`+"\n"+
		`{"type":"customer","id":"C-2","name":"Bo","created_at":"-90d"}`)
	var agent, operator store.Principal
	var first, second store.Case
	open := func(customer string, lasts time.Duration) (c store.Case) {
		t.Helper()
		put(t, db, func(tx *store.Tx) error {
			meant, err := tx.CustomerByID(customer)
			if err != nil {
				return err
			}
			c, err = tx.AddCase(store.Case{Principal: agent.ID, Customer: meant.Key, OpenedBy: operator.ID, Expires: tx.Now.Add(lasts)})
			return err
		})
		return c
	}
	see := func(token, customer string) (e store.Entrance) {
		t.Helper()
		err := db.View(context.Background(), func(v *store.View) (err error) {
			e, err = v.Enter(token, customer)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	put(t, db, func(tx *store.Tx) (err error) {
		if agent, err = tx.AddPrincipal(store.Principal{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, "a"); err != nil {
			return err
		}
		operator, err = tx.AddPrincipal(store.Principal{Name: "ann", Kind: policy.Operator, Role: policy.Manager}, "o")
		return err
	})
	same := func(want, got store.Case) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	same(store.Case{}, see("a", "").Case)
	first = open("C-1", time.Hour)
	same(first, see("a", "").Case)
	same(store.Case{}, see("a", "C-2").Case)
	same(store.Case{}, see("o", "").Case)
	same(store.Case{}, see("nobody's", "").Case)
	second = open("C-2", time.Hour)
	same(second, see("a", "").Case)
	if first.ID == second.ID {
		t.Error("two cases have one id")
	}
	clock.Advance(time.Hour - time.Microsecond)
	same(second, see("a", "").Case)
	clock.Advance(time.Microsecond)
	same(store.Case{}, see("a", "").Case)

	third := open("C-1", time.Hour)
	third.PrincipalName, third.OpenedByName = "agent", "ann"
	err := db.View(context.Background(), func(v *store.View) error {
		cases, err := v.OpenCases()
		if diff := cmp.Diff([]store.Case{third}, cases); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, want := range []bool{true, false} {
		put(t, db, func(tx *store.Tx) error {
			closed, err := tx.CloseCase(agent.ID, operator.ID)
			if closed != want {
				t.Errorf("closed: %t, want %t", closed, want)
			}
			return err
		})
		same(store.Case{}, see("a", "").Case)
	}
	err = db.Tx(context.Background(), func(tx *store.Tx) error {
		_, err := tx.AddCase(store.Case{Principal: agent.ID, Customer: "cu_nobody", OpenedBy: operator.ID, Expires: tx.Now.Add(time.Hour)})
		return err
	})
	if err == nil {
		t.Error("a case for a customer that isn't there was opened")
	}
}

// People say whom they mean by id, e-mail or order.
func TestCustomersMeant(t *testing.T) {
	db := storetest.New(t)
	order := func(id, customer string) string {
		return `{"type":"order","id":"` + id + `","customer_id":"` + customer + `","status":"processing","currency":"USD","placed_at":"-1d","items":[],"total":"20.00"}` + "\n"
	}
	storetest.Shop(t, db, `{"type":"customer","id":"C-1","name":"Ava","email":" Ava@Example.com","created_at":"-90d"}
{"type":"customer","id":"C-2","name":"Ärla","email":"ÄRLA@example.com","created_at":"-90d"}
{"type":"customer","id":"C-3","name":"Cy","email":"ava@example.com","created_at":"-90d"}
{"type":"customer","id":"5001","name":"Di","created_at":"-90d"}
{"type":"customer","id":"W1","name":"Ed","created_at":"-90d"}
`+order("NW-5001", "C-1")+order("EU-5001", "C-2")+order("NW-77", "C-1")+order("EU-77", "C-2")+order("W1", "C-1"))
	for text, want := range map[string][]string{
		"C-2": {"C-2"}, " C-2\n": {"C-2"}, "c-2": nil, "C-9": nil, "": nil, "  ": nil, "#": nil, "%": nil, "@": nil,
		"AVA@example.COM ": {"C-1", "C-3"}, "ärla@EXAMPLE.com": {"C-2"}, "ava": nil, "example.com": nil, "%@example.com": nil,
		"#nw–5001": {"C-1"}, "eu-5001": {"C-2"}, "5001": {"5001"}, "77": {"C-1", "C-2"}, "w1": {"C-1"}, "W1": {"C-1", "W1"}, "1": nil,
	} {
		var got []string
		err := db.View(context.Background(), func(v *store.View) error {
			customers, err := v.CustomersMeant(text)
			for _, c := range customers {
				got = append(got, c.ID)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -want +got:\n%s", text, diff)
		}
	}
}
