package settle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

// kind is what stood in an operator's way, "done" where nothing did.
func kind(t *testing.T, err error) string {
	t.Helper()
	var refused *settle.Error
	switch {
	case err == nil:
		return "done"
	case !errors.As(err, &refused):
		t.Error(err)
		return "failed"
	}
	return string(refused.Code)
}

// records are the last n rows: who did what, with what outcome.
func (s *shop) records(n int) (all []string) {
	s.t.Helper()
	err := s.db.View(context.Background(), func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{Last: n}, func(r store.AuditRow) error {
			words := []string{r.Actor, r.Action, r.Outcome}
			for _, more := range []string{r.Code, r.Customer} {
				if more != "" {
					words = append(words, more)
				}
			}
			all = append(all, strings.Join(words, " "))
			return nil
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// Each act and each refusal leaves its row, with nothing in it that a person
// wrote.
func TestTokensAndCasesAreAudited(t *testing.T) {
	s := open(t)
	dora, sam := office(s.db, "dora"), office(s.db, "sam")
	shell := office(s.db, "dora")
	shell.AgentShell = true
	create := func(o *settle.Office, req settle.TokenRequest) error {
		_, token, err := o.CreateToken(t.Context(), req)
		if (err == nil) != strings.HasPrefix(token, "cs_") {
			t.Errorf("the token is %q, and the error %v", token, err)
		}
		return err
	}
	role := func(name string, role policy.Role) error {
		_, err := dora.ChangeRole(t.Context(), name, role)
		return err
	}
	revoke := func(o *settle.Office, name string) error {
		_, err := o.RevokeToken(t.Context(), name)
		return err
	}
	open := func(o *settle.Office, who, principal string, expires time.Duration) error {
		_, _, err := o.OpenCase(t.Context(), who, principal, expires)
		return err
	}
	var want []string
	agent := settle.TokenRequest{Name: "new", Kind: policy.Agent, Role: policy.Staff}
	pinned, unknown, both, eternal, nameless := agent, agent, agent, agent, agent
	pinned.Name, pinned.Customer, pinned.Expires = "new-2", "C-1", time.Hour
	unknown.Name, unknown.Customer = "new-3", "ava@example.com"
	both.Name, both.Kind, both.Customer = "new-3", policy.Operator, "C-1"
	eternal.Name, eternal.Expires = "new-3", 11*365*24*time.Hour
	nameless.Name = "ava@example.com"
	for _, test := range []struct {
		err  error
		want string // the row
	}{
		{create(dora, agent), "dora tokens create ok"},
		{create(dora, agent), "dora tokens create denied name_in_use"},
		{create(dora, pinned), "dora tokens create ok cu_0001"},
		{create(dora, unknown), "dora tokens create error not_found"},
		{create(dora, both), "dora tokens create invalid invalid_arguments"},
		{create(dora, eternal), "dora tokens create invalid invalid_arguments"},
		{create(dora, nameless), "dora tokens create invalid invalid_arguments"},
		{create(sam, agent), "sam tokens create denied permission_denied"},
		{create(shell, agent), "dora tokens create denied agent_shell"},
		{role("new-2", policy.Viewer), "dora tokens role ok cu_0001"},
		{role("new-2", policy.Viewer), "dora tokens role denied same_role cu_0001"},
		{role("new-2", "owner"), "dora tokens role invalid invalid_arguments cu_0001"},
		{role("ava@example.com", policy.Viewer), "dora tokens role error not_found"},
		{open(sam, "C-1", "agent", time.Hour), "sam case open ok cu_0001"},
		{open(sam, "A-2", "dora", time.Hour), "sam case open ok cu_0001"},
		{open(sam, "ava@example.com", "agent", time.Hour), "sam case open error not_found"},
		{open(sam, "C-1", "new-2", time.Hour), "sam case open denied pinned"},
		{open(sam, "C-1", "nobody", time.Hour), "sam case open error not_found"},
		{open(sam, "C-1", "agent", 0), "sam case open invalid invalid_arguments"},
		{open(shell, "C-1", "agent", time.Hour), "dora case open denied agent_shell"},
		{open(office(s.db, "robot"), "C-1", "agent", time.Hour), "robot case open denied permission_denied"},
		{shell.CloseCase(t.Context(), "agent"), "dora case close ok cu_0001"},
		{sam.CloseCase(t.Context(), "agent"), "sam case close denied no_case"},
		{revoke(sam, "agent"), "sam tokens revoke denied permission_denied"},
		{revoke(shell, "agent"), "dora tokens revoke denied agent_shell"},
		{revoke(dora, "agent"), "dora tokens revoke ok"},
		{revoke(dora, "agent"), "dora tokens revoke denied token_ended"},
		{open(sam, "C-1", "agent", time.Hour), "sam case open denied token_ended"},
		{role("agent", policy.Viewer), "dora tokens role denied token_ended"},
	} {
		if code := kind(t, test.err); code != "done" && !strings.Contains(test.want, code) {
			t.Errorf("%s, want %s", code, test.want)
		}
		want = append(want, test.want)
	}
	equal(t, want, s.records(len(want)))
}

// Managers who end each other at the same moment leave one who can decide, and
// so does one who steps down alone. One whose token expires doesn't count.
func TestAManagerIsLeft(t *testing.T) {
	s := open(t)
	var names []string
	for i := range 10 {
		name := fmt.Sprintf("boss-%d", i)
		names = append(names, name)
		s.tx(func(tx *store.Tx) error {
			_, err := tx.AddPrincipal(store.Principal{Name: name, Kind: policy.Operator, Role: policy.Manager}, "cs_"+name)
			return err
		})
	}
	names = append(names, "dora", "emil")
	s.tx(func(tx *store.Tx) error {
		_, err := tx.AddPrincipal(store.Principal{Name: "gone", Kind: policy.Operator, Role: policy.Manager, Expires: tx.Now.Add(2 * time.Hour)}, "cs_gone")
		return err
	})
	s.clock.Advance(time.Hour)
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			o := office(s.db, name)
			var err error
			if i%2 == 0 {
				_, err = o.RevokeToken(context.Background(), name)
			} else {
				_, err = o.ChangeRole(context.Background(), name, policy.Viewer)
			}
			if code := kind(t, err); code != "done" && code != string(settle.LastManager) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var left []string
	err := s.db.View(t.Context(), func(v *store.View) error {
		all, err := v.Principals()
		for _, p := range all {
			if p.Kind == policy.Operator && p.Role == policy.Manager && p.State(v.Now) == store.TokenValid && p.Expires.IsZero() {
				left = append(left, p.Name)
			}
		}
		return err
	})
	if err != nil || len(left) != 1 {
		t.Fatalf("%v are left, %v", left, err)
	}
	if _, err := office(s.db, left[0]).RevokeToken(t.Context(), "robot"); err != nil { // an agent's role decides nothing
		t.Error(err)
	}
}

// A case ends with its principal's token, and doesn't come back.
func TestRevokedTokenHasNoCase(t *testing.T) {
	s := open(t)
	dora := office(s.db, "dora")
	opened, customer, err := dora.OpenCase(t.Context(), "C-1", "agent", time.Hour)
	if err != nil || customer != "C-1" || opened.Expires != s.db.Now().Add(time.Hour) {
		t.Errorf("%+v of %s: %v", opened, customer, err)
	}
	if _, err := dora.RevokeToken(t.Context(), "agent"); err != nil {
		t.Fatal(err)
	}
	err = s.db.View(t.Context(), func(v *store.View) error {
		cases, err := v.OpenCases()
		if len(cases) > 0 {
			t.Errorf("open: %+v", cases)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
