package tools_test

import (
	"errors"
	"testing"

	"countersign/policy"
	"countersign/store"
	"countersign/tools"
)

// Who starts a program can't raise the limits of a shop that stores its policy.
func TestPolicyFileIsNoWayAroundTheStoredOne(t *testing.T) {
	file, err := policy.Parse([]byte("refund: {window_days: 7}"))
	if err != nil {
		t.Fatal(err)
	}
	const stored = "refund: {window_days: 60}"
	for name, c := range map[string]struct {
		demo, stored string
		file         *policy.Rules
		days         int // 0: refused
	}{
		"built in":              {"", "", nil, 30},
		"file":                  {"", "", &file, 7},
		"stored":                {"", stored, nil, 60},
		"stored and file":       {"", stored, &file, 0},
		"demo, stored and file": {"2026-05-01", stored, &file, 7},
		"demo and stored":       {"2026-05-01", stored, nil, 60},
	} {
		s := open(t)
		s.tx(func(tx *store.Tx) error {
			return errors.Join(tx.SetSetting(store.SettingDemo, c.demo), tx.SetSetting(store.SettingPolicy, c.stored))
		})
		book, err := tools.NewRulebook(t.Context(), s.db, c.file)
		if c.days == 0 {
			if !errors.Is(err, tools.ErrPolicyStored) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.view(func(v *store.View) error {
			rules, err := book.InForce(v)
			if rules.Refund.WindowDays != c.days {
				t.Errorf("%s: %d days, want %d", name, rules.Refund.WindowDays, c.days)
			}
			return err
		})
	}
}

// A policy that an operator stores holds from the next call on, also where the
// server was started with a file, and the log names it.
func TestStoredPolicyHoldsFromTheNextCall(t *testing.T) {
	file, err := policy.Parse([]byte(`refund: {auto_limit: {USD: "50.00"}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, order("A-1", "C-1", "300.00", nil))
	book, err := tools.NewRulebook(t.Context(), s.db, &file)
	if err != nil {
		t.Fatal(err)
	}
	s.desk = tools.NewDesk(s.db, book, tools.All)
	a := s.staff("agent")
	equal(t, "refunded RF-0001 50.00 250.00", a.refund("A-1", "50.00"))
	s.policy(`refund: {auto_limit: {USD: "1.00"}}`)
	equal(t, "pending_approval AP-0001 0.01", a.refund("A-1", "0.01"))
	rows := s.rows()
	if rows[0].Policy != file.Version() || rows[1].Policy == rows[0].Policy {
		t.Errorf("the log names the policies %s and %s", rows[0].Policy, rows[1].Policy)
	}
}
