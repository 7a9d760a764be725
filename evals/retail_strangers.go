package evals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/client"
	"countersign/tools/settle"
)

// A stranger is somebody whom a customer's data is none of the business of.
type stranger struct {
	kind string
	// of returns the stranger to a customer; other is another customer.
	of func(customer, other string) Scenario
}

// Tokens of the strangers who have one of their own.
const (
	pinnedToken  = "retail-pinned-token"
	expiredToken = "retail-expired-token"
)

func holding(token, customer string) Scenario { return Scenario{Token: &token, Customer: customer} }

var strangers = []stranger{
	{"another customer", func(_, other string) Scenario { return Scenario{Role: "staff", Customer: other} }},
	{"another customer, to look", func(_, other string) Scenario { return Scenario{Role: "viewer", Customer: other} }},
	{"a token pinned to another", func(customer, _ string) Scenario { return holding(pinnedToken, customer) }},
	{"a manager without a customer", func(_, _ string) Scenario { return Scenario{Role: "manager"} }},
	{"a customer that isn't there", func(_, _ string) Scenario { return Scenario{Role: "staff", Customer: "nobody_0000"} }},
	{"an expired token", func(customer, _ string) Scenario { return holding(expiredToken, customer) }},
	{"an unknown token", func(customer, _ string) Scenario { return holding("cs_unknown", customer) }},
	{"no token", func(customer, _ string) Scenario { return holding("", customer) }},
}

// StrangerReport is what a kind of stranger got from the benchmark's calls.
type StrangerReport struct {
	Kind  string   `json:"kind"`
	Calls int      `json:"calls"`
	Leaks []string `json:"leaks"`
}

// visit makes every call of the benchmark as a stranger to its customer.
func (b *retailBench) visit(ctx context.Context, who stranger, tasks [][]RetailRow) (report StrangerReport, err error) {
	report = StrangerReport{Kind: who.kind, Leaks: []string{}}
	folder, err := os.MkdirTemp(b.folder, "strangers-")
	if err != nil {
		return report, err
	}
	st, err := b.open(ctx, folder)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	pinned := tasks[0][0].Customer
	if err := addTokens(ctx, st.office, pinned); err != nil {
		return report, err
	}
	before, err := look(ctx, st.db)
	if err != nil {
		return report, err
	}
	for _, rows := range tasks {
		customer := rows[0].Customer
		if who.kind == "a token pinned to another" && customer == pinned {
			continue
		}
		if err := b.visitTask(ctx, st, who.of(customer, b.another(customer)), rows, &report); err != nil {
			return report, err
		}
	}
	after, err := look(ctx, st.db)
	if err != nil {
		return report, err
	}
	report.Leaks = append(report.Leaks, done(before, after)...)
	return report, nil
}

func (b *retailBench) visitTask(ctx context.Context, st *inProcess, who Scenario, rows []RetailRow, report *StrangerReport) (err error) {
	session, err := st.connect(ctx, who, "stranger")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	victim := b.facts[rows[0].Customer]
	for _, r := range rows {
		answer, err := session.Call(ctx, r.Tool, r.Args)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
		report.Calls++
		leak, err := leaked(ctx, session, r, answer, victim)
		if err != nil {
			return err
		}
		if leak != "" {
			report.Leaks = append(report.Leaks, r.ID+": "+leak)
		}
	}
	return nil
}

// leaked says what a stranger learned: anything of the customer, or that an order
// exists, which is so unless an unknown number gets the very same answer.
func leaked(ctx context.Context, session *client.Client, r RetailRow, answer client.Answer, facts []string) (string, error) {
	for _, fact := range facts {
		if strings.Contains(string(answer.JSON), fact) {
			return "the answer holds the customer's " + fact, nil
		}
	}
	if _, aboutOrder := r.Args["order_id"]; !aboutOrder {
		return "", nil
	}
	if !answer.IsError {
		return "it was done", nil
	}
	unknown := map[string]any{}
	for name, value := range r.Args {
		unknown[name] = value
	}
	unknown["order_id"] = "#W0000001"
	other, err := session.Call(ctx, r.Tool, unknown)
	if err == nil && !bytes.Equal(other.JSON, answer.JSON) {
		return fmt.Sprintf("an unknown order is answered otherwise: %s", other.JSON), nil
	}
	return "", err
}

// done lists what strangers did to orders.
func done(before, after state) (acts []string) {
	for id, o := range after.orders {
		if was := before.orders[id]; was.Refunded != o.Refunded || was.Address != o.Address {
			acts = append(acts, "order "+id+" was changed")
		}
	}
	for _, t := range after.tickets {
		if t.OrderID != "" {
			acts = append(acts, "a ticket about order "+t.OrderID+" was filed")
		}
	}
	if n := len(after.approvals) - len(before.approvals); n > 0 {
		acts = append(acts, fmt.Sprintf("%d approvals were asked for", n))
	}
	return acts
}

// addTokens stores a token pinned to a customer and one that has expired.
func addTokens(ctx context.Context, office *settle.Office, pinned string) error {
	return office.Do(ctx, "tokens create", policy.Manager, func(s *settle.Session) error {
		c, err := s.CustomerByID(pinned)
		if err != nil {
			return err
		}
		_, err = s.AddPrincipal(store.Principal{Name: "pinned", Kind: policy.Agent, Role: policy.Staff, Customer: c.Key}, pinnedToken)
		if err != nil {
			return err
		}
		_, err = s.AddPrincipal(store.Principal{Name: "expired", Kind: policy.Agent, Role: policy.Staff, Expires: s.Now.Add(-time.Hour)}, expiredToken)
		return err
	})
}

// another returns the customer after one, in the order of their ids.
func (b *retailBench) another(customer string) string {
	i := slices.Index(b.customers, customer)
	return b.customers[(i+1)%len(b.customers)]
}
