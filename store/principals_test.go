package store_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/policy"
	"countersign/store"
	"countersign/store/storetest"
)

func TestNewToken(t *testing.T) {
	form := regexp.MustCompile(`^cs_[0-9A-Za-z]{43}$`)
	seen, firsts := map[string]bool{}, map[byte]bool{}
	for range 2000 {
		token := store.NewToken()
		if !form.MatchString(token) || seen[token] {
			t.Fatalf("token %q, seen: %v", token, seen[token])
		}
		seen[token], firsts[token[len(token)-1]] = true, true
	}
	if len(firsts) != 62 {
		t.Errorf("the last place takes %d values, want 62", len(firsts))
	}
}

// A token is its principal until it expires or is revoked; everybody else is
// nobody.
func TestPrincipalByToken(t *testing.T) {
	var clock storetest.Clock
	db := storetest.New(t, storetest.WithClock(&clock))
	want := store.Principal{Name: "ann", Kind: policy.Operator, Role: policy.Manager, Expires: storetest.Start.Add(time.Hour)}
	put(t, db, func(tx *store.Tx) (err error) {
		want, err = tx.AddPrincipal(want, "secret")
		return err
	})
	see := func(token string) (p store.Principal) {
		t.Helper()
		err := db.View(context.Background(), func(v *store.View) (err error) {
			p, err = v.PrincipalByToken(token)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	clock.Advance(time.Hour - time.Microsecond)
	if diff := cmp.Diff(want, see("secret")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, token := range []string{"", "Secret", "secret ", "' or '1'='1", want.ID, "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"} {
		if diff := cmp.Diff(store.Anonymous, see(token)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", token, diff)
		}
	}
	clock.Advance(time.Microsecond)
	if diff := cmp.Diff(store.Anonymous, see("secret")); diff != "" {
		t.Errorf("expired: -want +got:\n%s", diff)
	}
}

// Names and tokens are somebody's alone, and a role or kind that doesn't exist
// can't be stored.
func TestAddPrincipalRefuses(t *testing.T) {
	db := storetest.New(t)
	ann := store.Principal{Name: "ann", Kind: policy.Agent, Role: policy.Staff}
	put(t, db, func(tx *store.Tx) error {
		_, err := tx.AddPrincipal(ann, "secret")
		return err
	})
	for _, test := range []struct {
		p     store.Principal
		token string
	}{
		{ann, "another"},
		{store.Principal{Name: "bob", Kind: policy.Agent, Role: policy.Staff}, "secret"},
		{store.Principal{Name: "bob", Kind: "robot", Role: policy.Staff}, "another"},
		{store.Principal{Name: "bob", Kind: policy.Agent, Role: "owner"}, "another"},
		{store.Principal{Name: "bob", Kind: policy.Agent, Role: policy.Staff, Customer: "cu_nobody"}, "another"},
	} {
		err := db.Tx(context.Background(), func(tx *store.Tx) error {
			_, err := tx.AddPrincipal(test.p, test.token)
			return err
		})
		if err == nil {
			t.Errorf("%+v was stored", test.p)
		}
	}
}

// A token ends once, and its principal stays.
func TestRevokeAndRole(t *testing.T) {
	var clock storetest.Clock
	db := storetest.New(t, storetest.WithClock(&clock))
	want := store.Principal{Name: "ann", Kind: policy.Operator, Role: policy.Manager, Expires: storetest.Start.Add(time.Hour)}
	put(t, db, func(tx *store.Tx) (err error) {
		if want, err = tx.AddPrincipal(want, "secret"); err == nil {
			err = tx.SetRole(want.ID, policy.Viewer)
		}
		return err
	})
	want.Role = policy.Viewer
	state := func() string {
		t.Helper()
		state := ""
		err := db.View(context.Background(), func(v *store.View) error {
			all, err := v.Principals()
			if diff := cmp.Diff([]store.Principal{want}, all); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			state = all[0].State(v.Now)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return state
	}
	if got := state(); got != store.TokenValid {
		t.Error(got)
	}
	clock.Advance(time.Hour)
	if got := state(); got != store.TokenExpired {
		t.Error(got)
	}
	for _, first := range []bool{true, false} {
		clock.Advance(time.Minute)
		put(t, db, func(tx *store.Tx) error {
			revoked, err := tx.RevokePrincipal(want.ID)
			if revoked != first {
				t.Errorf("revoked: %t, want %t", revoked, first)
			}
			return err
		})
	}
	want.Revoked = storetest.Start.Add(time.Hour + time.Minute)
	if got := state(); got != store.TokenRevoked {
		t.Error(got)
	}
	err := db.Tx(context.Background(), func(tx *store.Tx) error { return tx.SetRole("PR-nobody", policy.Staff) })
	if err == nil {
		t.Error("nobody got a role")
	}
}
