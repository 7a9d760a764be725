package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"countersign/cmd/countersign/internal/inbox"
	"countersign/policy/money"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) inboxCommand() *cobra.Command {
	return &cobra.Command{
		Use: "inbox", Short: "See and decide all that waits, on a full screen", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.terminal || a.env("TERM") == "dumb" {
				return usageError{errors.New("the inbox needs a terminal; without one use approvals list, requests list and tickets list, and their other commands")}
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				printing := inbox.Printing{
					List: func(v *store.View, known []string) ([]inbox.Item, error) { return waitingFor{office, v}.list(known) },
					Show: a.show, Fields: fieldsText, Fold: fold, Describe: describeField, Line: visibleLine,
					Decided: func(ap store.Approval) string { return ap.ID + "  " + decision(ap.StateWord(), ap) },
				}
				in := a.in.(*os.File) // as every terminal is
				return inbox.Run(ctx, office, printing, inbox.Terminal{In: in, Out: a.out.file, Environ: a.environ})
			})
		},
	}
}

// show is what the show command of an item prints, at a width.
func (a *app) show(v *store.View, item inbox.Item, width int) (string, error) {
	var text bytes.Buffer
	page := *a
	page.out, page.width = &output{colours: &colorprofile.Writer{Forward: &text, Profile: colorprofile.ASCII}}, width
	var err error
	switch item.Kind {
	case inbox.Approval:
		err = page.showApproval(v, item.ID, false)
	case inbox.Request:
		_, err = page.showRequest(v, item.ID, false)
	default:
		var t store.Ticket
		if t, err = v.Ticket(item.ID); err == nil {
			err = page.printTicket(v, t, false)
		}
	}
	return text.String(), err
}

func fieldsText(width int, fields [][2]string) string {
	for i := range fields {
		fields[i][1] = tools.Visible(fields[i][1])
	}
	var text bytes.Buffer
	printFields(&text, width, fields)
	return text.String()
}

// waitingFor reads what waits for an operator.
type waitingFor struct {
	office *settle.Office
	*store.View
}

// list reads what waits, oldest first, and those of known that don't any more.
func (v waitingFor) list(known []string) (items []inbox.Item, err error) {
	seen := map[string]bool{}
	add := func(item inbox.Item, err error) error {
		if err == nil && !seen[item.ID] {
			seen[item.ID], items = true, append(items, item)
		}
		return err
	}
	approvals, err := v.Approvals(false)
	if err != nil {
		return nil, err
	}
	requests, err := v.Requests(false)
	if err != nil {
		return nil, err
	}
	for _, ap := range slices.Concat(approvals, requests) {
		if err := add(v.parked(ap)); err != nil {
			return nil, err
		}
	}
	tickets, err := v.Tickets(false)
	if err != nil {
		return nil, err
	}
	for _, t := range tickets {
		if err := add(v.ticket(t)); err != nil {
			return nil, err
		}
	}
	for _, id := range known {
		if seen[id] {
			continue
		}
		if err := add(v.known(id)); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	slices.SortStableFunc(items, func(x, y inbox.Item) int { return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID)) })
	return items, nil
}

func (v waitingFor) known(id string) (inbox.Item, error) {
	if strings.HasPrefix(id, "TK-") {
		t, err := v.Ticket(id)
		if err != nil {
			return inbox.Item{}, err
		}
		return v.ticket(t)
	}
	ap, err := v.Parked(id)
	if err != nil {
		return inbox.Item{}, err
	}
	return v.parked(ap)
}

// parked is the line of an approval or request.
func (v waitingFor) parked(ap store.Approval) (inbox.Item, error) {
	item := inbox.Item{
		ID: ap.ID, Kind: inbox.Approval, Created: ap.Created, Waits: ap.State == store.Pending, State: ap.StateWord(), Outcome: decision(ap.StateWord(), ap),
		Amount: decidedAmount(ap), Asked: amountText(ap.Amount, ap.Currency), OrderID: ap.OrderID, AskedBy: visibleLine(ap.AskedByName),
		Age:  span(v.Now.Sub(ap.Created)),
		Less: func(amount string) error { return settle.CheckAmount(ap, amount) },
	}
	if err := v.refused(&item, v.office.MayDecide(v.View, deciding, ap)); err != nil {
		return item, err
	}
	if item.Waits {
		left := ap.Expires.Sub(v.Now)
		item.Left, item.Hurry = span(left), left < time.Hour
	}
	if ap.ApprovedAmount > 0 {
		item.Amount = amountText(ap.ApprovedAmount, ap.Currency)
	}
	if ap.Tool == store.RequestTool {
		view, err := viewRequest(v.View, ap)
		item.Kind, item.Form, item.About = inbox.Request, view.Form, visibleLine(view.Title)
		item.Brief = tools.Visible(view.Title + "\n" + view.Instructions)
		item.Search = strings.Join([]string{view.CustomerID, view.Category, view.Instructions}, "\n")
		return item, err
	}
	view, err := viewApproval(v.View, ap)
	var args struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(ap.Arguments, &args) // a tool without a reason shows none
	item.About = visibleLine(view.CustomerName)
	item.Brief = tools.Visible(fmt.Sprintf("%s, %s: %s", view.CustomerName, view.OrderID, money.Amount{Minor: ap.Amount, Currency: ap.Currency}.Format())) +
		"\n" + inQuotes(args.Reason) + " (written by the model)"
	item.Search = strings.Join([]string{view.CustomerID, view.Tool, args.Reason, strings.Join(view.Reasons, "\n")}, "\n")
	return item, err
}

func (v waitingFor) ticket(t store.Ticket) (inbox.Item, error) {
	view, err := viewTicket(v.View, t)
	if err != nil {
		return inbox.Item{}, err
	}
	item := inbox.Item{
		ID: t.ID, Kind: inbox.Ticket, Created: t.Created, Waits: t.State == "open", State: t.State, Outcome: t.State,
		About: visibleLine(t.Summary), Urgent: t.Priority == "high" || t.Priority == "urgent", OrderID: t.OrderID, AskedBy: visibleLine(t.FiledBy),
		Age: span(v.Now.Sub(t.Created)), Brief: tools.Visible(t.Summary),
		Search: strings.Join([]string{view.CustomerID, t.Category, t.Priority}, "\n"),
	}
	return item, v.refused(&item, v.office.MayManage(v.View, deciding))
}

// deciding is what the inbox calls it where an operator may not.
const deciding = "inbox: decide"

// refused notes on an item why the operator may not decide it, if that is so.
func (v waitingFor) refused(item *inbox.Item, err error) error {
	if no := (*settle.Error)(nil); errors.As(err, &no) {
		item.Refused = visibleLine(no.Message)
		return nil
	}
	return err
}
