package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) auditCommand() *cobra.Command {
	noun := &cobra.Command{Use: "audit", Short: "Read and verify the log of every call"}
	noun.AddCommand(a.auditTail(), a.auditExport(), a.auditVerify())
	return noun
}

// tailFlags pick the rows that tail prints, and say how.
type tailFlags struct {
	rowFlags
	last         int
	follow, json bool
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
				if f.last < 1 {
					return usageError{errors.New("-n must be at least 1")}
				}
				filter, err := f.filter(ctx, office.DB)
				if err != nil {
					return err
				}
				filter.Last = f.last
				return audit.Tail(ctx, office.DB, filter, f.follow, a.auditPrinter(f.json))
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.last, "lines", "n", 20, "how many rows")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with each new row")
	flags.BoolVar(&f.json, "json", false, "print JSON Lines")
	f.add(flags)
	return cmd
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
			fmt.Fprintln(a.out, "     "+date+", UTC")
		}
		left := fmt.Sprintf("%4d %s ", r.Seq, clock) + outcomeColumn(r.Outcome)
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
		return a.out.failed // or following would go on for nobody
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
