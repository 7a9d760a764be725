package settle

import (
	"context"
	"errors"
	"regexp"
	"time"

	"countersign/policy"
	"countersign/store"
)

// principalName is what a new principal may be called: logs and the audit show
// it, so it can't be an e-mail, and can't look like another name.
var principalName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// longestToken bounds how long a token that expires may hold.
const longestToken = 10 * 365 * 24 * time.Hour

// TokenRequest is whom a token is made for.
type TokenRequest struct {
	Name     string
	Kind     policy.Kind
	Role     policy.Role
	Customer string        // the shop's id of the only customer it will act for, or ""
	Expires  time.Duration // from now; 0: never
}

// CreateToken makes a principal and its token, which is returned this once: the
// database keeps its hash.
func (o *Office) CreateToken(ctx context.Context, req TokenRequest) (made store.Principal, token string, err error) {
	token = store.NewToken()
	err = o.Do(ctx, "tokens create", policy.Manager, func(s *Session) error {
		if err := req.check(); err != nil {
			return err
		}
		p := store.Principal{Name: req.Name, Kind: req.Kind, Role: req.Role}
		if req.Expires > 0 {
			p.Expires = s.Now.Add(req.Expires)
		}
		if req.Customer != "" {
			pinned, err := s.CustomerByID(req.Customer)
			if errors.Is(err, store.ErrNotFound) {
				return notFound("no customer has this id")
			} else if err != nil {
				return err
			}
			p.Customer, s.Entry.Customer = pinned.Key, pinned.Key
		}
		switch _, err := s.PrincipalNamed(p.Name); {
		case err == nil:
			return conflict(NameInUse, "this name is in use, if only by a revoked token; choose another, since a name stays with what was done under it")
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		made, err = s.AddPrincipal(p, token)
		return err
	})
	if err != nil {
		return store.Principal{}, "", err
	}
	return made, token, nil
}

func (req TokenRequest) check() error {
	_, err := policy.ParseRole(string(req.Role))
	switch {
	case err != nil:
		return invalid("%v", err)
	case !principalName.MatchString(req.Name) || req.Name == store.Anonymous.Name:
		return invalid("a name is 1 to 64 letters of a to z, digits, dots, hyphens and underscores, and isn't %q", store.Anonymous.Name)
	case req.Expires < 0 || req.Expires > longestToken:
		return invalid("a token expires within %d days, or never", longestToken/(24*time.Hour))
	case req.Kind == policy.Operator && req.Customer != "":
		return invalid("an operator serves every customer; only an agent's token can be pinned to one")
	}
	return nil
}

// RevokeToken ends a principal's token, and its case, from the next call on.
func (o *Office) RevokeToken(ctx context.Context, name string) (store.Principal, error) {
	return o.onPrincipal(ctx, "tokens revoke", name, func(s *Session, p store.Principal) error {
		if err := s.keepManager(p); err != nil {
			return err
		}
		if _, err := s.RevokePrincipal(p.ID); err != nil {
			return err
		}
		_, err := s.CloseCase(p.ID, s.Operator.ID)
		return err
	})
}

// ChangeRole gives a principal another role from the next call on.
func (o *Office) ChangeRole(ctx context.Context, name string, role policy.Role) (store.Principal, error) {
	return o.onPrincipal(ctx, "tokens role", name, func(s *Session, p store.Principal) error {
		if _, err := policy.ParseRole(string(role)); err != nil {
			return invalid("%v", err)
		}
		if p.Role == role {
			return conflict(SameRole, "the role of %s is %s already", p.Name, role)
		}
		if err := s.keepManager(p); err != nil {
			return err
		}
		return s.SetRole(p.ID, role)
	})
}

// onPrincipal runs work on a principal that isn't revoked, and returns it as it
// stands afterwards.
func (o *Office) onPrincipal(ctx context.Context, action, name string, work func(*Session, store.Principal) error) (after store.Principal, err error) {
	err = o.Do(ctx, action, policy.Manager, func(s *Session) error {
		p, err := s.named(name)
		if err != nil {
			return err
		}
		s.Entry.Customer = p.Customer
		if !p.Revoked.IsZero() {
			return conflict(TokenEnded, "the token of %s was revoked at %s", p.Name, rfc3339(p.Revoked))
		}
		if err := work(s, p); err != nil {
			return err
		}
		after, err = s.Principal(p.ID)
		return err
	})
	return after, err
}

func (s *Session) named(name string) (store.Principal, error) {
	p, err := s.PrincipalNamed(name)
	if errors.Is(err, store.ErrNotFound) {
		return p, notFound("no principal has this name; see countersign tokens list")
	}
	return p, err
}

// keepManager refuses to take away the last operator who can decide anything.
func (s *Session) keepManager(leaving store.Principal) error {
	all, err := s.Principals()
	if err != nil {
		return err
	}
	manages := func(p store.Principal) bool {
		return p.Kind == policy.Operator && p.Role == policy.Manager && p.State(s.Now) == store.TokenValid
	}
	if !manages(leaving) {
		return nil
	}
	for _, p := range all {
		if p.ID != leaving.ID && manages(p) && p.Expires.IsZero() { // one that expires would leave nobody then
			return nil
		}
	}
	return conflict(LastManager, "nobody could decide any more: %s is the last manager; create another one first", leaving.Name)
}
