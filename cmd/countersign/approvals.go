package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/policy/money"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) approvalsCommand() *cobra.Command {
	noun := &cobra.Command{Use: "approvals", Short: "See and decide what waits for a human"}
	noun.AddCommand(a.approvalsList(), a.approvalsShow(), a.approvalsApprove(), a.approvalsReject())
	return noun
}

func (a *app) approvalsList() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List what waits, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "approvals list", func(_ *settle.Office, v *store.View) error { return a.listApprovals(v, all, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also those that are decided or expired")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) listApprovals(v *store.View, all, asJSON bool) error {
	approvals, err := v.Approvals(all)
	if err != nil {
		return err
	}
	views, rows := []approvalView{}, [][]string{}
	for _, ap := range approvals {
		view, err := viewApproval(v, ap)
		if err != nil {
			return err
		}
		views = append(views, view)
		rows = append(rows, []string{ap.ID, ap.OrderID, decidedAmount(ap), stateWord(ap.State), ap.AskedByName, askedWhen(ap, v.Now)})
	}
	switch {
	case asJSON:
		return printJSON(a.out, views)
	case len(rows) == 0:
		fmt.Fprintln(a.out, "Nothing waits.")
	default:
		printTable(a.out, []string{"APPROVAL", "ORDER", "AMOUNT", "STATE", "ASKED BY", "ASKED"}, rows)
	}
	return nil
}

func (a *app) approvalsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one request in full", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.look(cmd, "approvals show", func(_ *settle.Office, v *store.View) error {
				return a.showApproval(v, args[0], asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) showApproval(v *store.View, id string, asJSON bool) error {
	ap, err := v.Approval(id)
	if errors.Is(err, store.ErrNotFound) {
		return notFound("no approval has this id; see countersign approvals list --all")
	}
	if err != nil {
		return err
	}
	view, err := viewApproval(v, ap)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.out, view)
	}
	a.printApproval(view, ap, v)
	return nil
}

// askedWhen says in a list when something was asked of a human, and how long it
// still waits.
func askedWhen(ap store.Approval, now time.Time) string {
	when := ago(ap.Created, now)
	if ap.State == store.Pending {
		when += ", " + span(ap.Expires.Sub(now)) + " left"
	}
	return when
}

// expiresWhen says when it expires, or has; "" for what was decided.
func expiresWhen(ap store.Approval, now time.Time) string {
	if ap.State != store.Pending && ap.State != store.Expired {
		return ""
	}
	return ago(ap.Expires, now) + " (" + stampText(ap.Expires) + ")"
}

// approvalView is a request as an operator sees it.
type approvalView struct {
	ApprovalID     string          `json:"approval_id"`
	State          string          `json:"state"`
	Tool           string          `json:"tool"`
	OrderID        string          `json:"order_id,omitempty"`
	CustomerID     string          `json:"customer_id"`
	CustomerName   string          `json:"customer_name"`
	Amount         string          `json:"amount,omitempty"`
	ApprovedAmount string          `json:"approved_amount,omitempty"`
	Currency       string          `json:"currency,omitempty"`
	Arguments      json.RawMessage `json:"arguments"`
	Reasons        []string        `json:"reasons"`
	AskedBy        string          `json:"asked_by"`
	AskedAt        string          `json:"asked_at"`
	ExpiresAt      string          `json:"expires_at"`
	DecidedBy      string          `json:"decided_by,omitempty"`
	DecidedAt      string          `json:"decided_at,omitempty"`
	Note           string          `json:"note,omitempty"`
	Policy         string          `json:"policy"`
	Result         json.RawMessage `json:"result,omitempty"`

	order string // paid and refunded so far
}

func viewApproval(v *store.View, ap store.Approval) (approvalView, error) {
	view := approvalView{
		ApprovalID: ap.ID, State: ap.State, Tool: ap.Tool, OrderID: ap.OrderID, Currency: ap.Currency,
		Arguments: ap.Arguments, Reasons: ap.Reasons, AskedBy: ap.AskedByName, AskedAt: stampText(ap.Created),
		ExpiresAt: stampText(ap.Expires), DecidedBy: ap.DecidedByName, DecidedAt: stampText(ap.Decided), Note: ap.Note,
		Policy: ap.Policy, Result: ap.Result,
	}
	if ap.Amount > 0 {
		view.Amount = money.Amount{Minor: ap.Amount, Currency: ap.Currency}.Decimal()
	}
	if ap.ApprovedAmount > 0 {
		view.ApprovedAmount = money.Amount{Minor: ap.ApprovedAmount, Currency: ap.Currency}.Decimal()
	}
	customer, err := v.Customer(ap.Customer)
	if err != nil {
		return view, fmt.Errorf("customer of %s: %w", ap.ID, err)
	}
	view.CustomerID, view.CustomerName = customer.ID, customer.Name
	if ap.OrderID == "" {
		return view, nil
	}
	order, err := v.OrderByID(ap.OrderID)
	if err != nil {
		return view, fmt.Errorf("order of %s: %w", ap.ID, err)
	}
	view.order = fmt.Sprintf("%s, %s paid, %s refunded so far", order.Status,
		money.Amount{Minor: order.Paid, Currency: order.Currency}.Format(),
		money.Amount{Minor: order.Refunded, Currency: order.Currency}.Format())
	return view, nil
}

// decidedAmount is what was asked for, or what was approved of it.
func decidedAmount(ap store.Approval) string {
	asked := amountText(ap.Amount, ap.Currency)
	if ap.ApprovedAmount > 0 && ap.ApprovedAmount < ap.Amount {
		return money.Amount{Minor: ap.ApprovedAmount, Currency: ap.Currency}.Decimal() + " of " + asked
	}
	return asked
}

// printApproval shows the whole request. What the model and the customer wrote
// is quoted.
func (a *app) printApproval(view approvalView, ap store.Approval, v *store.View) {
	var args struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(ap.Arguments, &args) // a tool without a reason shows none
	reason := ""
	if args.Reason != "" {
		reason = inQuotes(args.Reason) + " (written by the model)"
	}
	fmt.Fprintf(a.out, "%s  %s  %s\n", bold.Render(view.ApprovalID), stateWord(view.State), decidedAmount(ap))
	printFields(a.out, a.columns(), [][2]string{
		{"tool", view.Tool},
		{"order", strings.TrimSuffix(view.OrderID+": "+view.order, ": ")},
		{"customer", tools.Visible(view.CustomerName) + " (" + view.CustomerID + ")"},
		{"why", strings.Join(view.Reasons, "; ")},
		{"reason", reason},
		{"asked", view.AskedBy + ", " + ago(ap.Created, v.Now) + " (" + view.AskedAt + ")"},
		{"expires", expiresWhen(ap, v.Now)},
		{"policy", view.Policy},
		{"decided", strings.TrimSuffix(view.DecidedBy+" "+view.DecidedAt, " ")},
		{"approved", amountText(ap.ApprovedAmount, ap.Currency)},
		{"note", tools.Visible(view.Note)},
	})
}
