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

func (a *app) ticketsCommand() *cobra.Command {
	noun := &cobra.Command{Use: "tickets", Short: "See, answer and close what agents handed over"}
	noun.AddCommand(a.ticketsList(), a.ticketsShow(), a.ticketsReply(), a.ticketsClose())
	return noun
}

// ticketView is a ticket as an operator sees it.
type ticketView struct {
	Seq            int64       `json:"seq"`
	TicketID       string      `json:"ticket_id"`
	State          string      `json:"state"`
	Priority       string      `json:"priority"`
	Category       string      `json:"category"`
	CustomerID     string      `json:"customer_id"`
	OrderID        string      `json:"order_id,omitempty"`
	Summary        string      `json:"summary"`
	PreviousTicket string      `json:"previous_ticket_id,omitempty"`
	FiledBy        string      `json:"filed_by"`
	CreatedAt      string      `json:"created_at"`
	ClosedAt       string      `json:"closed_at,omitempty"`
	Replies        []replyView `json:"replies"`
}

type replyView struct {
	By   string `json:"by"`
	At   string `json:"at"`
	Text string `json:"text"`
}

func viewTicket(v *store.View, t store.Ticket) (ticketView, error) {
	customer, err := v.Customer(t.Customer)
	view := ticketView{
		Seq: t.Seq, TicketID: t.ID, State: t.State, Priority: t.Priority, Category: t.Category, CustomerID: customer.ID, OrderID: t.OrderID,
		Summary: t.Summary, PreviousTicket: t.Previous, FiledBy: t.FiledBy, CreatedAt: stampText(t.Created),
		ClosedAt: stampText(t.Closed), Replies: []replyView{},
	}
	for _, r := range t.Replies {
		view.Replies = append(view.Replies, replyView{r.By, stampText(r.Created), r.Body})
	}
	return view, err
}

func (a *app) ticketsList() *cobra.Command {
	var all bool
	var f listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List open tickets, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "tickets list", func(_ *settle.Office, v *store.View) error {
				since, err := f.from(v.Now)
				if err != nil {
					return err
				}
				none, read := "No tickets are open.", func() ([]store.Ticket, error) { return v.Tickets(all) }
				if f.since != "" {
					none, read = "No tickets were filed.", func() ([]store.Ticket, error) { return v.TicketsSince(since) }
				}
				tickets, err := read()
				if err != nil {
					return err
				}
				return a.listTickets(v, tickets, none, f.json)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also closed ones; --since lists those too")
	f.add(cmd)
	return cmd
}

// listTickets prints tickets, or says that there are none.
func (a *app) listTickets(v *store.View, tickets []store.Ticket, none string, asJSON bool) error {
	views, rows := []ticketView{}, [][]string{}
	for _, t := range tickets {
		view, err := viewTicket(v, t)
		if err != nil {
			return err
		}
		views = append(views, view)
		rows = append(rows, []string{t.ID, t.State, t.Priority, t.Category, view.CustomerID, t.OrderID, ago(t.Created, v.Now)})
	}
	switch {
	case asJSON:
		return printJSON(a.out, views)
	case len(rows) == 0:
		fmt.Fprintln(a.out, none)
	default:
		printTable(a.out, []string{"TICKET", "STATE", "PRIORITY", "CATEGORY", "CUSTOMER", "ORDER", "FILED"}, rows)
	}
	return nil
}

func (a *app) ticketsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one ticket with its replies", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.look(cmd, "tickets show", func(_ *settle.Office, v *store.View) error {
				t, err := v.Ticket(args[0])
				if errors.Is(err, store.ErrNotFound) {
					return notFound("no ticket has this id; see countersign tickets list --all")
				}
				if err != nil {
					return err
				}
				return a.printTicket(v, t, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) printTicket(v *store.View, t store.Ticket, asJSON bool) error {
	view, err := viewTicket(v, t)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.out, view)
	}
	fmt.Fprintf(a.out, "%s  %s\n", bold.Render(view.TicketID), stateWord(view.State))
	printFields(a.out, a.columns(), [][2]string{
		{"priority", view.Priority}, {"category", view.Category}, {"customer", view.CustomerID}, {"order", view.OrderID},
		{"filed", view.FiledBy + ", " + ago(t.Created, v.Now) + " (" + view.CreatedAt + ")"},
		{"follows", view.PreviousTicket}, {"closed", view.ClosedAt},
	})
	fmt.Fprintln(a.out)
	printFields(a.out, a.columns(), [][2]string{{"summary", tools.Visible(view.Summary)}})
	for _, r := range view.Replies {
		printFields(a.out, a.columns(), [][2]string{{"reply", tools.Visible(r.Text) + " — " + r.By + ", " + r.At}})
	}
	return nil
}

func (a *app) ticketsReply() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reply ID TEXT", Short: "Reply on a ticket; the agent reads it", Args: usage(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := settle.CheckReply(args[1]); err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				t, err := office.Reply(ctx, args[0], args[1])
				if err == nil {
					fmt.Fprintf(a.out, "%s  replied\n", bold.Render(t.ID))
				}
				return err
			})
		},
	}
	takeYes(cmd)
	return cmd
}

func (a *app) ticketsClose() *cobra.Command {
	cmd := &cobra.Command{
		Use: "close ID", Short: "Close a ticket", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				t, err := office.CloseTicket(ctx, args[0])
				if err == nil {
					fmt.Fprintf(a.out, "%s  closed\n", bold.Render(t.ID))
				}
				return err
			})
		},
	}
	takeYes(cmd)
	return cmd
}

// takeYes lets a command that asks nothing be called like those that do.
func takeYes(cmd *cobra.Command) {
	cmd.Flags().Bool("yes", false, "taken as by the commands that ask first; this one doesn't")
}
