package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) addressesCommand() *cobra.Command {
	noun := &cobra.Command{Use: "addresses", Short: "See which shipping addresses were changed here"}
	noun.AddCommand(a.addressesList())
	return noun
}

// addressView is a change of a shipping address, for the shop's own system.
type addressView struct {
	Seq        int64          `json:"seq"`
	OrderID    string         `json:"order_id"`
	CustomerID string         `json:"customer_id"`
	OldAddress policy.Address `json:"old_address"`
	NewAddress policy.Address `json:"new_address"`
	ChangedBy  string         `json:"changed_by"`
	CreatedAt  string         `json:"created_at"`
}

func (a *app) addressesList() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List changed addresses, oldest change first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "addresses list", func(_ *settle.Office, v *store.View) error {
				since, err := f.from(v.Now)
				if err != nil {
					return err
				}
				return a.listAddresses(v, since, f.json)
			})
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) listAddresses(v *store.View, since store.Since, asJSON bool) error {
	changes, err := v.AddressChangesSince(since)
	if err != nil {
		return err
	}
	views := []addressView{}
	for _, c := range changes {
		customer, err := v.Customer(c.Customer)
		if err != nil {
			return err
		}
		views = append(views, addressView{c.Seq, c.OrderID, customer.ID, c.Old, c.New, c.By, stampText(c.Created)})
	}
	if asJSON {
		return printJSON(a.out, views)
	}
	if len(views) == 0 {
		fmt.Fprintln(a.out, "No address was changed.")
	}
	for i, view := range views {
		fmt.Fprintf(a.out, "%d  %s  %s  by %s, %s\n", view.Seq, bold.Render(visibleLine(view.OrderID)), visibleLine(view.CustomerID),
			view.ChangedBy, ago(changes[i].Created, v.Now))
		printFields(a.out, a.columns(), [][2]string{{"  from", addressText(view.OldAddress)}, {"  to", addressText(view.NewAddress)}})
	}
	return nil
}

// addressText is an address on one line.
func addressText(p policy.Address) string {
	return tools.Visible(strings.Join(nonEmpty(p.Recipient, p.Line1, p.Line2, p.City, p.Region, p.PostalCode, p.Country), ", "))
}
