package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) eraseCommand() *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "erase CUSTOMER", Short: "Remove what is stored about a person, for good", Args: usage(cobra.ExactArgs(1)),
		Long: "Removes a customer's name, contacts, addresses, and all free text about them. Money, states and the audit log stay,\n" +
			"and later imports leave the customer out. Refused while a request, a ticket or an order that isn't sent waits.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				err := a.confirm(ctx, office, confirmation{
					action: "erase", question: "Erase what is stored about this person? It can't be taken back.", left: "nothing was erased", yes: yes,
					show: func() (bool, error) { return a.showBeforeErasing(ctx, office.DB, args[0]) },
				})
				if err != nil {
					return err
				}
				done, err := office.Erase(ctx, args[0])
				if err != nil {
					return err
				}
				return a.printErased(args[0], done, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask; needs a token given explicitly")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// showBeforeErasing prints who it is about, and reports whether there is anybody.
func (a *app) showBeforeErasing(ctx context.Context, db *store.DB, id string) (known bool, err error) {
	err = db.View(ctx, func(v *store.View) error {
		c, err := v.CustomerByID(id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		_, orders, err := v.Orders(c.Key, 1)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.out, bold.Render(tools.Visible(c.ID)))
		printFields(a.out, a.columns(), [][2]string{
			{"name", tools.Visible(c.Name)}, {"e-mail", tools.Visible(c.Email)}, {"phone", tools.Visible(c.Phone)},
			{"customer", "since " + stampText(c.Created)}, {"orders", fmt.Sprint(orders)},
		})
		known = true
		return nil
	})
	return known, err
}

func (a *app) printErased(id string, done store.Erased, asJSON bool) error {
	if asJSON {
		return printJSON(a.out, struct {
			CustomerID string `json:"customer_id"`
			Orders     int64  `json:"orders"`
			Shipments  int64  `json:"shipments"`
			Refunds    int64  `json:"refunds"`
			Approvals  int64  `json:"approvals"`
			Tickets    int64  `json:"tickets"`
			Replies    int64  `json:"replies"`
			Revoked    int64  `json:"tokens_revoked"`
		}{id, done.Orders, done.Shipments, done.Refunds, done.Approvals, done.Tickets, done.Replies, done.Principals})
	}
	fmt.Fprintf(a.out, "%s  erased, with what was written in %s, %s, %s, %s and %s\n", bold.Render(visibleLine(id)),
		counted(done.Orders, "order"), counted(done.Shipments, "parcel"), counted(done.Refunds, "refund"),
		counted(done.Approvals, "request"), counted(done.Tickets, "ticket"))
	if done.Principals > 0 {
		fmt.Fprintf(a.out, "%s of this customer alone revoked\n", counted(done.Principals, "token"))
	}
	return nil
}
