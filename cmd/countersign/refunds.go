package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"countersign/policy/money"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) refundsCommand() *cobra.Command {
	noun := &cobra.Command{Use: "refunds", Short: "See what was refunded here, and refund outside the policy"}
	noun.AddCommand(a.refundsIssue(), a.refundsList())
	return noun
}

// refundView is a refund as an operator and the shop's own system see it.
type refundView struct {
	Seq        int64  `json:"seq"`
	RefundID   string `json:"refund_id"`
	OrderID    string `json:"order_id"`
	CustomerID string `json:"customer_id"`
	Amount     string `json:"amount"`
	Currency   string `json:"currency"`
	Reason     string `json:"reason"`
	MadeBy     string `json:"made_by"`     // who asked for it; also wrote the reason
	ApprovalID string `json:"approval_id"` // "" without one
	DecidedBy  string `json:"decided_by"`  // the operator; "" where the policy did
	CreatedAt  string `json:"created_at"`
}

func viewRefund(v *store.View, r store.Refund) (refundView, error) {
	customer, err := v.Customer(r.Customer)
	return refundView{
		Seq: r.Seq, RefundID: r.ID, OrderID: r.OrderID, CustomerID: customer.ID,
		Amount: money.Amount{Minor: r.Amount, Currency: r.Currency}.Decimal(), Currency: r.Currency, Reason: r.Reason,
		MadeBy: r.MadeByName, ApprovalID: r.ApprovalID, DecidedBy: r.DecidedByName, CreatedAt: stampText(r.Created),
	}, err
}

func (a *app) refundsList() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List refunds made here, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "refunds list", func(_ *settle.Office, v *store.View) error {
				since, err := f.from(v.Now)
				if err != nil {
					return err
				}
				return a.listRefunds(v, since, f.json)
			})
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) listRefunds(v *store.View, since store.Since, asJSON bool) error {
	refunds, err := v.RefundsSince(since)
	if err != nil {
		return err
	}
	views, rows := []refundView{}, [][]string{}
	for _, r := range refunds {
		view, err := viewRefund(v, r)
		if err != nil {
			return err
		}
		views = append(views, view)
		rows = append(rows, []string{strconv.FormatInt(r.Seq, 10), r.ID, visibleLine(r.OrderID), visibleLine(view.CustomerID),
			amountText(r.Amount, r.Currency), decidedBy(r), ago(r.Created, v.Now)})
	}
	switch {
	case asJSON:
		return printJSON(a.out, views)
	case len(rows) == 0:
		fmt.Fprintln(a.out, "Nothing was refunded.")
	default:
		printTable(a.out, []string{"SEQ", "REFUND", "ORDER", "CUSTOMER", "AMOUNT", "DECIDED BY", "MADE"}, rows)
	}
	return nil
}

// decidedBy says to people who decided a refund.
func decidedBy(r store.Refund) string {
	if r.Human {
		return r.DecidedByName
	}
	return "the policy"
}

func (a *app) refundsIssue() *cobra.Command {
	var in settle.Refunding
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "issue ORDER --amount A --note TEXT", Short: "Refund on an order outside the policy, never more than was paid",
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Order = args[0]
			if in.Amount == "" || strings.TrimSpace(in.Note) == "" {
				return usageError{errors.New("issue needs --amount, and --note to say why; agents read the note")}
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				err := a.confirm(ctx, office, confirmation{
					action: "refunds issue", question: fmt.Sprintf("Refund %s on %s?", visibleLine(in.Amount), visibleLine(in.Order)),
					left: "nothing was refunded", yes: yes,
					show: func() (bool, error) { return a.showBeforeRefunding(ctx, office, in.Order) },
				})
				if err != nil {
					return err
				}
				made, err := office.IssueRefund(ctx, in)
				if err != nil {
					return err
				}
				return a.printIssued(ctx, office.DB, made, asJSON)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Amount, "amount", "", "how much, such as `80.00` (required)")
	flags.StringVar(&in.Currency, "currency", "", "refused unless it is the order's, such as `USD`")
	flags.StringVar(&in.Note, "note", "", "why, for the shop and for agents (required)")
	flags.BoolVar(&in.Another, "another", false, "a second refund, equal to one of the last 10 minutes, is meant")
	flags.BoolVar(&yes, "yes", false, "don't ask; needs a token given explicitly")
	flags.BoolVar(&asJSON, "json", false, "print the refund as one JSON document")
	return cmd
}

// showBeforeRefunding prints an order and reports whether there is one.
func (a *app) showBeforeRefunding(ctx context.Context, office *settle.Office, number string) (found bool, err error) {
	err = office.DB.View(ctx, func(v *store.View) error {
		o, err := v.AnyOrder(number)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		return a.showOrder(office, v, o, false)
	})
	return found, err
}

func (a *app) printIssued(ctx context.Context, db *store.DB, r store.Refund, asJSON bool) error {
	if !asJSON {
		fmt.Fprintf(a.out, "%s  %s refunded on %s by %s\n", bold.Render(r.ID), amountText(r.Amount, r.Currency), visibleLine(r.OrderID), r.MadeByName)
		return nil
	}
	return db.View(ctx, func(v *store.View) error {
		view, err := viewRefund(v, r)
		if err != nil {
			return err
		}
		return printJSON(a.out, view)
	})
}
