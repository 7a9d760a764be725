package settle

import (
	"context"
	"errors"
	"strings"

	"countersign/policy"
	"countersign/store"
)

// MayManage returns the [*Error] with which the operator's action would be
// refused for who they are or where they work. It records nothing.
func (o *Office) MayManage(v *store.View, action string) error {
	_, err := o.manager(v, action)
	return err
}

// MayDecide returns the [*Error] with which a decision of a would be refused now,
// whatever it is: a form needn't be filled in for that. It records nothing.
func (o *Office) MayDecide(v *store.View, action string, a store.Approval) error {
	p, err := o.manager(v, action)
	if err != nil {
		return err
	}
	return undecidable(p, a)
}

func (o *Office) manager(v *store.View, action string) (store.Principal, error) {
	p, err := v.PrincipalByToken(o.Caller.Token)
	if err != nil {
		return p, err
	}
	if err := o.byPerson(action); err != nil {
		return p, err
	}
	return p, permitted(p, action, policy.Manager)
}

// errMay undoes the transaction in which nothing was refused.
var errMay = errors.New("nothing is in the way")

// Try returns why an action on an approval, a request or a ticket would be refused
// now, whatever was sent with it, and records that as the action itself would. It
// changes nothing else, and nothing where the action may be done.
func (o *Office) Try(ctx context.Context, action, id string) error {
	err := o.Do(ctx, action, policy.Manager, func(s *Session) error {
		if strings.HasPrefix(id, "TK-") {
			return errMay // who may not was refused before this
		}
		a, err := s.Parked(id)
		if err != nil {
			return err
		}
		if err := s.mayDecide(a); err != nil {
			return err
		}
		return errMay
	})
	if errors.Is(err, errMay) {
		return nil
	}
	return err
}
