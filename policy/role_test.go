package policy_test

import (
	"errors"
	"testing"

	"countersign/policy"
)

func TestParseRole(t *testing.T) {
	for _, want := range []policy.Role{policy.Viewer, policy.Staff, policy.Manager} {
		if got, err := policy.ParseRole(string(want)); err != nil || got != want {
			t.Errorf("ParseRole(%q) = %q, %v", want, got, err)
		}
	}
	for _, name := range []string{"", "Staff", "staff ", "admin", "operator"} {
		if got, err := policy.ParseRole(name); !errors.Is(err, policy.ErrRole) || got != "" {
			t.Errorf("ParseRole(%q) = %q, %v", name, got, err)
		}
	}
}

func TestAtLeast(t *testing.T) {
	ranked := []policy.Role{"", policy.Viewer, policy.Staff, policy.Manager}
	for i, r := range ranked {
		for j, lowest := range ranked {
			if got, want := r.AtLeast(lowest), i >= j && j > 0; got != want {
				t.Errorf("%q.AtLeast(%q) = %t, want %t", r, lowest, got, want)
			}
		}
	}
	if policy.Manager.AtLeast("root") || policy.Role("root").AtLeast(policy.Viewer) {
		t.Error("an unknown role ranks")
	}
}

func TestOutcomeString(t *testing.T) {
	for o, want := range map[policy.Outcome]string{
		policy.Refuse: "refuse", policy.Ask: "ask", policy.Allow: "allow", 9: "Outcome(9)",
	} {
		if got := o.String(); got != want {
			t.Errorf("Outcome(%d) = %q, want %q", int(o), got, want)
		}
	}
	if (policy.Decision{}).Outcome != policy.Refuse {
		t.Error("a decision that was never made must refuse")
	}
}
