package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"countersign/audit"
	"countersign/store"
)

// outcomes are what --outcome takes.
var outcomes = []audit.Outcome{audit.OK, audit.PendingApproval, audit.Denied, audit.Invalid, audit.Failed}

// rowFlags pick rows of the audit log.
type rowFlags struct {
	tool, outcome, customer, order, actor, since string
}

func (f *rowFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.tool, "tool", "", "only this tool or command")
	flags.StringVar(&f.outcome, "outcome", "", "only this outcome: ok, pending_approval, denied, invalid or error")
	flags.StringVar(&f.customer, "customer", "", "only this customer, by the shop's `id`")
	flags.StringVar(&f.order, "order", "", "only this order")
	flags.StringVar(&f.actor, "actor", "", "only this principal, by `name`")
	flags.StringVar(&f.since, "since", "", "only since this `time`: RFC 3339, a date (UTC), or a while ago such as 2h or 3d")
}

func (f *rowFlags) filter(ctx context.Context, db *store.DB) (store.AuditFilter, error) {
	filter := store.AuditFilter{Action: f.tool, Outcome: f.outcome, OrderID: f.order, Actor: f.actor}
	var err error
	if filter.Since, err = parseSince(f.since, db.Now()); err != nil {
		return filter, err
	}
	if f.outcome != "" && !slices.Contains(outcomes, audit.Outcome(f.outcome)) {
		return filter, usageError{errors.New("--outcome takes ok, pending_approval, denied, invalid or error")}
	}
	err = db.View(ctx, func(v *store.View) error { return f.resolve(v, &filter) })
	return filter, err
}

// resolve turns the names that people know into those that rows hold; one that
// nothing has is an error, not an empty list.
func (f *rowFlags) resolve(v *store.View, filter *store.AuditFilter) error {
	if f.customer != "" {
		customer, err := v.CustomerByID(f.customer)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("no customer has this id")
		} else if err != nil {
			return err
		}
		filter.Customer = customer.Key
	}
	if f.order != "" {
		order, err := v.AnyOrder(f.order)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("no order has this number, or digits alone fit several")
		} else if err != nil {
			return err
		}
		filter.OrderID = order.ID
	}
	if f.actor != "" && f.actor != store.Anonymous.Name {
		_, err := v.PrincipalNamed(f.actor)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("no principal has this name")
		}
		return err
	}
	return nil
}

// parseSince reads a moment or a while before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, ok := parseSpan(text); ok {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} { // a date is its first moment, UTC
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError{errors.New("--since takes a time such as 2026-05-01T12:00:00Z, a date such as 2026-05-01 (UTC), or a while ago such as 2h or 3d")}
}
