package settle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"countersign/policy"
	"countersign/store"
)

// Erase removes what is stored about a person: the customer of one of the shop's
// ids. It is refused while something of that customer waits: a request, an open
// ticket, or an order that is still to be sent. What was shipped doesn't wait,
// because many shops never tell that it arrived.
func (o *Office) Erase(ctx context.Context, id string) (done store.Erased, err error) {
	err = o.Do(ctx, "erase", policy.Manager, func(s *Session) error {
		customer, err := s.CustomerByID(id)
		if errors.Is(err, store.ErrNotFound) {
			return &Error{Kind: NotFound, Code: policy.NotFound, Message: "no customer has this id"}
		}
		if err != nil {
			return err
		}
		s.Entry.Customer = customer.Key
		waiting, err := s.WaitingFor(customer.Key)
		if err != nil {
			return err
		}
		if waiting != (store.Waiting{}) {
			return stillWaits(waiting)
		}
		if done, err = s.EraseCustomer(customer); err != nil {
			return err
		}
		return s.CloseCasesOf(customer.Key, s.Operator.ID)
	})
	if err != nil {
		return done, err
	}
	if err := o.DB.Scrub(context.WithoutCancel(ctx)); err != nil {
		return done, fmt.Errorf("the customer is erased, but old text can be read in the database's files until the last program has closed them: %w", err)
	}
	return done, nil
}

func stillWaits(w store.Waiting) *Error {
	var what []string
	for _, w := range []struct {
		count        int
		one, several string
	}{
		{w.Approvals, "a request that waits for a decision", "%d requests that wait for a decision"},
		{w.Tickets, "an open ticket", "%d open tickets"},
		{w.Processing, "an order that is still processing", "%d orders that are still processing"},
	} {
		switch {
		case w.count == 1:
			what = append(what, w.one)
		case w.count > 1:
			what = append(what, fmt.Sprintf(w.several, w.count))
		}
	}
	return conflict(StillWaits, "this customer has %s; finish that first", strings.Join(what, " and "))
}
