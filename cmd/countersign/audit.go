package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) auditCommand() *cobra.Command {
	noun := &cobra.Command{Use: "audit", Short: "Read and verify the log of every call"}
	noun.AddCommand(a.auditTail(), a.auditVerify())
	return noun
}

// tailFlags pick the rows that tail prints.
type tailFlags struct {
	last                                         int
	follow, json                                 bool
	tool, outcome, customer, order, actor, since string
}

func (a *app) auditTail() *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use: "tail", Short: "Print the newest rows", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				if err := office.Permit(ctx, "audit tail", policy.Staff); err != nil {
					return err
				}
				filter, err := f.filter(ctx, office.DB)
				if err != nil {
					return err
				}
				return audit.Tail(ctx, office.DB, filter, f.follow, a.auditPrinter(f.json))
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.last, "lines", "n", 20, "how many rows")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with each new row")
	flags.BoolVar(&f.json, "json", false, "print JSON Lines")
	flags.StringVar(&f.tool, "tool", "", "only this tool or command")
	flags.StringVar(&f.outcome, "outcome", "", "only this outcome: ok, pending_approval, denied, invalid or error")
	flags.StringVar(&f.customer, "customer", "", "only this customer, by the shop's `id`")
	flags.StringVar(&f.order, "order", "", "only this order")
	flags.StringVar(&f.actor, "actor", "", "only this principal, by `name`")
	flags.StringVar(&f.since, "since", "", "only since this `time`: RFC 3339, or a while ago such as 2h")
	return cmd
}

func (f *tailFlags) filter(ctx context.Context, db *store.DB) (store.AuditFilter, error) {
	filter := store.AuditFilter{Action: f.tool, Outcome: f.outcome, OrderID: f.order, Actor: f.actor, Last: f.last}
	if f.last < 1 {
		return filter, usageError{errors.New("-n must be at least 1")}
	}
	var err error
	if filter.Since, err = parseSince(f.since, db.Now()); err != nil || f.customer == "" {
		return filter, err
	}
	err = db.View(ctx, func(v *store.View) error {
		customer, err := v.CustomerByID(f.customer)
		filter.Customer = customer.Key
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("no customer has this id: %w", err)
	}
	return filter, err
}

// parseSince reads a moment or a while before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usageError{errors.New("--since takes a time such as 2026-05-01T12:00:00Z, or a while ago such as 2h")}
	}
	return t, nil
}

// auditPrinter prints rows for scripts, or for people in columns that fit 80.
func (a *app) auditPrinter(asJSON bool) func(store.AuditRow) error {
	return func(r store.AuditRow) error {
		if asJSON {
			_, err := fmt.Fprintf(a.out, "%s\n", audit.JSON(r))
			return err
		}
		outcome := stateWord(r.Outcome)
		if r.Code != "" {
			outcome += " " + r.Code
		}
		about := strings.Join(nonEmpty(r.OrderID, amountText(r.Amount.Int64, r.Currency), r.ApprovalID), " ")
		clock := strings.Replace(r.At[:len("2006-01-02T15:04:05")], "T", " ", 1)
		_, err := fmt.Fprintf(a.out, "%s %s %s %s\n", faint.Render(fmt.Sprintf("%4d %s", r.Seq, clock)),
			bold.Render(r.Actor), r.Action, strings.Join(nonEmpty(about, outcome), " "))
		return err
	}
}

func nonEmpty(texts ...string) (kept []string) {
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}

func (a *app) auditVerify() *cobra.Command {
	var head string
	cmd := &cobra.Command{
		Use: "verify", Short: "Check that no row was changed, added or removed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kept, err := parseHead(head)
			if err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				if err := office.Permit(ctx, "audit verify", policy.Staff); err != nil {
					return err
				}
				found, err := audit.Verify(ctx, office.DB, kept)
				switch {
				case err == nil:
					fmt.Fprintf(a.out, "%s: %d rows, head %s\n", green.Render("intact"), found.Seq, found)
					return nil
				case errors.Is(err, audit.ErrAltered), errors.Is(err, audit.ErrTruncated):
					return fmt.Errorf("audit log %w", err)
				}
				return fmt.Errorf("audit log could not be checked: %w", err)
			})
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "a head that an earlier verify printed, as `SEQ:HASH`: finds a log that was cut off")
	return cmd
}

func parseHead(text string) (*audit.Head, error) {
	if text == "" {
		return nil, nil
	}
	seq, hash, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil || n < 1 || len(hash) != 64 {
		return nil, usageError{errors.New("--head takes SEQ:HASH as verify prints it")}
	}
	return &audit.Head{Seq: n, Hash: strings.ToLower(hash)}, nil
}
