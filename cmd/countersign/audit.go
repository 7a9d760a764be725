package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
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

// outcomes are what --outcome takes.
var outcomes = []audit.Outcome{audit.OK, audit.PendingApproval, audit.Denied, audit.Invalid, audit.Failed}

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
	flags.StringVar(&f.since, "since", "", "only since this `time`: RFC 3339, or a while ago such as 2h or 3d")
	return cmd
}

func (f *tailFlags) filter(ctx context.Context, db *store.DB) (store.AuditFilter, error) {
	filter := store.AuditFilter{Action: f.tool, Outcome: f.outcome, OrderID: f.order, Actor: f.actor, Last: f.last}
	if f.last < 1 {
		return filter, usageError{errors.New("-n must be at least 1")}
	}
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
func (f *tailFlags) resolve(v *store.View, filter *store.AuditFilter) error {
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
		number, _ := store.FoldNumber(f.order)
		id, err := v.OrderIDByNumber(number)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("no order has this number")
		} else if err != nil {
			return err
		}
		filter.OrderID = id
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
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usageError{errors.New("--since takes a time such as 2026-05-01T12:00:00Z, or a while ago such as 2h or 3d")}
	}
	return t, nil
}

// auditPrinter prints rows: for scripts as JSON or one line each, on a terminal
// folded to its width, under a line for each day.
func (a *app) auditPrinter(asJSON bool) func(store.AuditRow) error {
	day := ""
	return func(r store.AuditRow) error {
		if asJSON {
			_, err := fmt.Fprintf(a.out, "%s\n", audit.JSON(r))
			return err
		}
		date, clock := r.At[:len("2006-01-02")], r.At[len("2006-01-02T"):len("2006-01-02T15:04:05")]
		if a.width == 0 {
			clock = date + " " + clock
		} else if date != day {
			day = date
			fmt.Fprintln(a.out, faint.Render("     "+date+", UTC"))
		}
		left := faint.Render(fmt.Sprintf("%4d %s ", r.Seq, clock)) + outcomeColumn(r.Outcome)
		about := strings.Join(nonEmpty(r.Actor, r.Action, r.OrderID, rowAmount(r), r.ApprovalID, r.Code), " ")
		const indent, narrow = "     ", 60
		switch {
		case a.width >= narrow:
			about = fold(about, a.width-lipgloss.Width(left))
		case a.width > 0:
			fmt.Fprintln(a.out, strings.TrimSpace(left))
			left, about = indent, fold(about, a.width-len(indent))
		}
		printBeside(a.out, left, about)
		return nil
	}
}

func rowAmount(r store.AuditRow) string {
	if r.Amount == nil {
		return ""
	}
	return amountText(*r.Amount, r.Currency)
}

// outcomeColumn is the outcome of a call in a column of its own.
func outcomeColumn(outcome string) string {
	const width = len("pending") + 2
	short := strings.TrimSuffix(outcome, "_approval")
	return stateWord(short) + strings.Repeat(" ", max(width-len(short), 1))
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
					fmt.Fprintf(a.out, "%s: %s\n", green.Render("intact"), counted(found.Seq, "row"))
					if found.Seq > 0 {
						fmt.Fprintf(a.out, "head %s\n", found)
					}
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
