package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) caseCommand() *cobra.Command {
	noun := &cobra.Command{Use: "case", Short: "Say which customer an agent works for"}
	noun.AddCommand(a.caseOpen(), a.caseClose(), a.caseList())
	return noun
}

func (a *app) caseOpen() *cobra.Command {
	var principal, expires string
	cmd := &cobra.Command{
		Use: "open WHO --for NAME", Short: "Open a case in place of the last one; WHO is an id, an e-mail or an order number",
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := needFor(principal); err != nil {
				return err
			}
			lasts, err := parseExpires(expires)
			if err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				opened, customer, err := office.OpenCase(ctx, args[0], principal, lasts)
				if err == nil {
					fmt.Fprintf(a.out, "%s  %s works for %s until %s\n", bold.Render(opened.ID), principal, customer, stampText(opened.Expires))
				}
				return err
			})
		},
	}
	forFlag(cmd, &principal)
	cmd.Flags().StringVar(&expires, "expires", "8h", "how long it stays open, such as `8h` or 2d")
	return cmd
}

func (a *app) caseClose() *cobra.Command {
	var principal string
	cmd := &cobra.Command{
		Use: "close --for NAME", Short: "Close a case", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := needFor(principal); err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				err := office.CloseCase(ctx, principal)
				if err == nil {
					fmt.Fprintf(a.out, "%s  works for nobody\n", bold.Render(principal))
				}
				return err
			})
		},
	}
	forFlag(cmd, &principal)
	return cmd
}

func forFlag(cmd *cobra.Command, principal *string) {
	cmd.Flags().StringVar(principal, "for", "", "whose case, by the `name` that tokens list shows (required)")
}

func needFor(principal string) error {
	if principal == "" {
		return usageError{errors.New("--for is missing: it names whose case this is, as countersign tokens list shows it")}
	}
	return nil
}

// caseView is an open case as an operator sees it.
type caseView struct {
	CaseID     string `json:"case_id"`
	Principal  string `json:"principal"`
	CustomerID string `json:"customer_id"`
	OpenedBy   string `json:"opened_by"`
	OpenedAt   string `json:"opened_at"`
	ExpiresAt  string `json:"expires_at"`
}

func (a *app) caseList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List open cases, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "case list", func(_ *settle.Office, v *store.View) error { return a.listCases(v, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) listCases(v *store.View, asJSON bool) error {
	cases, err := v.OpenCases()
	if err != nil {
		return err
	}
	views, rows := []caseView{}, [][]string{}
	for _, c := range cases {
		customer, err := v.Customer(c.Customer)
		if err != nil {
			return err
		}
		views = append(views, caseView{c.ID, c.PrincipalName, customer.ID, c.OpenedByName, stampText(c.Opened), stampText(c.Expires)})
		rows = append(rows, []string{c.ID, c.PrincipalName, customer.ID, c.OpenedByName, ago(c.Opened, v.Now), span(c.Expires.Sub(v.Now)) + " left"})
	}
	switch {
	case asJSON:
		return printJSON(a.out, views)
	case len(rows) == 0:
		fmt.Fprintln(a.out, "No cases are open.")
	default:
		printTable(a.out, []string{"CASE", "FOR", "CUSTOMER", "OPENED BY", "OPENED", "EXPIRES"}, rows)
	}
	return nil
}
