package settle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign/policy"
	"countersign/store"
)

// longestCase bounds how long a case may stay open.
const longestCase = 31 * 24 * time.Hour

// OpenCase makes a principal act for a customer for a while, in place of the one
// before: who is an id, an e-mail or an order's number. It returns the case and
// the shop's id of its customer.
func (o *Office) OpenCase(ctx context.Context, who, principal string, expires time.Duration) (opened store.Case, customerID string, err error) {
	const action = "case open"
	err = o.Do(ctx, action, policy.Staff, func(s *Session) error {
		if err := o.byPerson(action); err != nil {
			return err
		}
		if expires <= 0 || expires > longestCase {
			return invalid("a case expires within %d days", longestCase/(24*time.Hour))
		}
		p, err := s.named(principal)
		if err != nil {
			return err
		}
		if err := s.takesCases(p); err != nil {
			return err
		}
		customer, err := s.customerMeant(who)
		if err != nil {
			return err
		}
		s.Entry.Customer, customerID = customer.Key, customer.ID
		opened, err = s.AddCase(store.Case{Principal: p.ID, Customer: customer.Key, OpenedBy: s.Operator.ID, Expires: s.Now.Add(expires)})
		return err
	})
	return opened, customerID, err
}

// takesCases refuses a principal that a case would do nothing for.
func (s *Session) takesCases(p store.Principal) error {
	switch state := p.State(s.Now); {
	case state != store.TokenValid:
		return conflict(TokenEnded, "the token of %s is %s; it acts for nobody", p.Name, state)
	case p.Customer != "":
		return conflict(Pinned, "the token of %s is pinned to one customer; it takes no cases", p.Name)
	}
	return nil
}

// customerMeant returns the one customer whom a text means.
func (s *Session) customerMeant(who string) (store.Customer, error) {
	found, err := s.CustomersMeant(who)
	switch {
	case err != nil:
		return store.Customer{}, err
	case len(found) == 0:
		return store.Customer{}, notFound("no customer has this id, e-mail or order")
	case len(found) == 1:
		return found[0], nil
	}
	const most = 20
	var ids []string
	for _, c := range found[:min(len(found), most)] {
		ids = append(ids, c.ID)
	}
	if more := len(found) - len(ids); more > 0 {
		ids = append(ids, fmt.Sprintf("and %d more", more))
	}
	return store.Customer{}, conflict(Ambiguous, "this may mean several customers: %s; name one by its id, or by what is nobody else's", strings.Join(ids, ", "))
}

// CloseCase ends a principal's case before it expires.
func (o *Office) CloseCase(ctx context.Context, principal string) error {
	return o.Do(ctx, "case close", policy.Staff, func(s *Session) error {
		p, err := s.named(principal)
		if err != nil {
			return err
		}
		open, err := s.OpenCase(p.ID)
		if errors.Is(err, store.ErrNotFound) {
			return conflict(NoCase, "no case of %s is open", p.Name)
		} else if err != nil {
			return err
		}
		s.Entry.Customer = open.Customer
		_, err = s.CloseCase(p.ID, s.Operator.ID)
		return err
	})
}
