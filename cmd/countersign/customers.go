package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) customersCommand() *cobra.Command {
	noun := &cobra.Command{Use: "customers", Short: "Find a customer"}
	noun.AddCommand(a.customersFind())
	return noun
}

// foundView is what a search found.
type foundView struct {
	Customers []customerView `json:"customers"`
	More      int            `json:"more"` // how many are left out
}

type customerView struct {
	CustomerID string   `json:"customer_id"`
	Name       string   `json:"name"`
	Email      string   `json:"email"`
	Phone      string   `json:"phone"`
	CreatedAt  string   `json:"created_at"`
	Orders     []string `json:"orders"` // the newest, newest first
	OrderCount int      `json:"order_count"`
}

func (a *app) customersFind() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "find TEXT",
		Short: "Find customers by id, e-mail, part of a name, phone digits, or an order number",
		Args:  usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[0]) == "" {
				return usageError{errors.New("find needs a text to look for")}
			}
			return a.look(cmd, "customers find", func(_ *settle.Office, v *store.View) error {
				return a.findCustomers(v, args[0], asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) findCustomers(v *store.View, text string, asJSON bool) error {
	const most, newest = 20, 5
	found, more, err := v.FindCustomers(text, most)
	if err != nil {
		return err
	}
	view, rows := foundView{Customers: []customerView{}, More: more}, [][]string{}
	for _, c := range found {
		orders, count, err := v.Orders(c.Key, newest)
		if err != nil {
			return err
		}
		one := customerView{c.ID, c.Name, c.Email, c.Phone, stampText(c.Created), []string{}, count}
		for _, o := range orders {
			one.Orders = append(one.Orders, o.ID)
		}
		view.Customers = append(view.Customers, one)
		rows = append(rows, []string{visibleLine(c.ID), visibleLine(c.Name), visibleLine(c.Email), visibleLine(c.Phone), strconv.Itoa(count)})
	}
	if asJSON {
		return printJSON(a.out, view)
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.out, "Nobody was found.")
		return nil
	}
	printTable(a.out, []string{"CUSTOMER", "NAME", "E-MAIL", "PHONE", "ORDERS"}, rows)
	if more > 0 {
		fmt.Fprintf(a.out, "%d more; look for something narrower.\n", more)
	}
	return nil
}
