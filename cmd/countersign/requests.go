package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"countersign/approvals"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) requestsCommand() *cobra.Command {
	noun := &cobra.Command{Use: "requests", Short: "See and answer what agents ask of a person"}
	noun.AddCommand(a.requestsList(), a.requestsShow(), a.requestsAnswer(), a.requestsDecline())
	return noun
}

// requestView is a request as an operator sees it. The answer isn't in it: that
// is for the agent.
type requestView struct {
	RequestID   string `json:"request_id"`
	State       string `json:"state"`
	CustomerID  string `json:"customer_id,omitempty"`
	AskedBy     string `json:"asked_by"`
	AskedAt     string `json:"asked_at"`
	ExpiresAt   string `json:"expires_at"`
	DecidedBy   string `json:"decided_by,omitempty"`
	DecidedAt   string `json:"decided_at,omitempty"`
	CollectedAt string `json:"collected_at,omitempty"`
	Note        string `json:"note,omitempty"`
	approvals.Form
}

func viewRequest(v *store.View, ap store.Approval) (requestView, error) {
	view := requestView{
		RequestID: ap.ID, State: ap.StateWord(), AskedBy: ap.AskedByName, AskedAt: stampText(ap.Created),
		ExpiresAt: stampText(ap.Expires), DecidedBy: ap.DecidedByName, DecidedAt: stampText(ap.Decided),
		CollectedAt: stampText(ap.Collected), Note: ap.Note,
	}
	if err := json.Unmarshal(ap.Arguments, &view.Form); err != nil {
		return view, fmt.Errorf("form of %s: %w", ap.ID, err)
	}
	if view.Fields == nil {
		view.Fields = []approvals.Field{}
	}
	if ap.Customer == "" {
		return view, nil
	}
	customer, err := v.Customer(ap.Customer)
	view.CustomerID = customer.ID
	return view, err
}

func (a *app) requestsList() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List what waits for an answer, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "requests list", func(_ *settle.Office, v *store.View) error { return a.listRequests(v, all, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also those that are answered, declined or expired")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) listRequests(v *store.View, all, asJSON bool) error {
	requests, err := v.Requests(all)
	if err != nil {
		return err
	}
	views, rows := []requestView{}, [][]string{}
	for _, ap := range requests {
		view, err := viewRequest(v, ap)
		if err != nil {
			return err
		}
		views = append(views, view)
		rows = append(rows, []string{ap.ID, stateWord(view.State), visibleLine(view.Category), ap.AskedByName, askedWhen(ap, v.Now), visibleLine(view.Title)})
	}
	switch {
	case asJSON:
		return printJSON(a.out, views)
	case len(rows) == 0:
		fmt.Fprintln(a.out, "Nothing waits.")
	default:
		printTable(a.out, []string{"REQUEST", "STATE", "CATEGORY", "ASKED BY", "ASKED", "TITLE"}, rows)
	}
	return nil
}

func (a *app) requestsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one request with its form", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.look(cmd, "requests show", func(_ *settle.Office, v *store.View) error {
				_, err := a.showRequest(v, args[0], asJSON)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) showRequest(v *store.View, id string, asJSON bool) (view requestView, err error) {
	ap, err := v.Request(id)
	if errors.Is(err, store.ErrNotFound) {
		return view, notFound("no request has this id; see countersign requests list --all")
	}
	if err != nil {
		return view, err
	}
	if view, err = viewRequest(v, ap); err != nil {
		return view, err
	}
	if asJSON {
		return view, printJSON(a.out, view)
	}
	a.printRequest(view, ap, v)
	return view, nil
}

// showWaiting prints a request, if there is one, and reports whether this operator
// may do the action with it.
func (a *app) showWaiting(ctx context.Context, office *settle.Office, action, id string) (view requestView, may bool, err error) {
	err = office.DB.View(ctx, func(v *store.View) (err error) {
		if view, err = a.showRequest(v, id, false); err != nil {
			return err
		}
		ap, err := v.Request(id)
		may = err == nil && office.MayDecide(v, action, ap) == nil
		return err
	})
	if refused := (*settle.Error)(nil); errors.As(err, &refused) {
		return view, false, nil // the office says so too, and keeps a record
	}
	return view, may, err
}

// printRequest shows the whole request. The model wrote all of the form.
func (a *app) printRequest(view requestView, ap store.Approval, v *store.View) {
	fmt.Fprintf(a.out, "%s  %s  %s\n", bold.Render(view.RequestID), stateWord(view.State), "(written by the model)")
	fields := [][2]string{
		{"title", tools.Visible(view.Title)}, {"to do", tools.Visible(view.Instructions)}, {"context", tools.Visible(view.Context)},
		{"category", tools.Visible(view.Category)}, {"customer", view.CustomerID},
		{"asked", view.AskedBy + ", " + ago(ap.Created, v.Now) + " (" + view.AskedAt + ")"}, {"expires", expiresWhen(ap, v.Now)},
		{"decided", strings.TrimSpace(view.DecidedBy + " " + view.DecidedAt)}, {"collected", view.CollectedAt},
		{"note", tools.Visible(view.Note)},
	}
	for _, f := range view.Fields {
		fields = append(fields, [2]string{"field", describeField(f)})
	}
	printFields(a.out, a.columns(), fields)
}

// describeField says what a field takes.
func describeField(f approvals.Field) string {
	text := f.Name
	if f.Label != "" {
		text += " — " + visibleLine(f.Label)
	}
	takes := f.Type
	if f.Type == approvals.Choice {
		var options []string
		for _, option := range f.Options {
			options = append(options, visibleLine(option))
		}
		takes = strings.Join(options, " | ")
	}
	if f.Pattern != "" {
		takes += ", pattern " + visibleLine(f.Pattern)
	}
	if f.Required {
		takes += ", required"
	}
	return text + " (" + takes + ")"
}

func (a *app) requestsDecline() *cobra.Command {
	var note string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "decline ID --note TEXT", Short: "Decline a request; the note reaches the agent", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(note) == "" {
				return usageError{errors.New("decline needs --note: it tells the agent why")}
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				err := a.confirm(ctx, office, confirmation{
					action: "requests decline", question: "Decline " + args[0] + "?", left: nothingDecided, yes: yes,
					show: func() (bool, error) {
						_, may, err := a.showWaiting(ctx, office, "requests decline", args[0])
						return may, err
					},
				})
				if err != nil {
					return err
				}
				decided, err := office.Decline(ctx, args[0], note)
				if err != nil {
					return err
				}
				return a.printAnswered(ctx, office, decided, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why, for the agent (required)")
	decisionFlags(cmd, &yes, &asJSON)
	return cmd
}

func (a *app) printAnswered(ctx context.Context, office *settle.Office, decided store.Approval, asJSON bool) error {
	if asJSON {
		return office.DB.View(ctx, func(v *store.View) error {
			_, err := a.showRequest(v, decided.ID, true)
			return err
		})
	}
	fmt.Fprintf(a.out, "%s  %s\n", bold.Render(decided.ID), decision(stateWord(decided.StateWord()), decided))
	return nil
}
