package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"countersign/policy/money"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) approvalsApprove() *cobra.Command {
	var amount, note string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "approve ID", Short: "Approve a request and perform it", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				if err := a.confirmDecision(ctx, office, args[0], "Approve", amount, yes); err != nil {
					return err
				}
				decided, err := office.Approve(ctx, args[0], amount, note)
				if err != nil {
					return err
				}
				return a.printDecision(ctx, office, decided, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&amount, "amount", "", "approve less than was asked, such as `80.00`")
	cmd.Flags().StringVar(&note, "note", "", "a word to the agent")
	decisionFlags(cmd, &yes, &asJSON)
	return cmd
}

func (a *app) approvalsReject() *cobra.Command {
	var note string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "reject ID --note TEXT", Short: "Reject a request; the note reaches the agent", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(note) == "" {
				return usageError{errors.New("reject needs --note: it tells the agent, and so the customer, why")}
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				if err := a.confirmDecision(ctx, office, args[0], "Reject", "", yes); err != nil {
					return err
				}
				decided, err := office.Reject(ctx, args[0], note)
				if err != nil {
					return err
				}
				return a.printDecision(ctx, office, decided, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why, for the agent (required)")
	decisionFlags(cmd, &yes, &asJSON)
	return cmd
}

func decisionFlags(cmd *cobra.Command, yes, asJSON *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "don't ask; needs a token given explicitly")
	cmd.Flags().BoolVar(asJSON, "json", false, "print the decision as one JSON document")
}

// nothingDecided is said where an operator leaves what waits as it is.
const nothingDecided = "nothing was decided"

// confirmDecision asks whether a request is to be approved or rejected.
func (a *app) confirmDecision(ctx context.Context, office *settle.Office, id, verb, amount string, yes bool) error {
	question := verb + " " + id
	if amount != "" {
		question += " for " + amount + " instead"
	}
	action := "approvals " + strings.ToLower(verb)
	return a.confirm(ctx, office, confirmation{
		action: action, question: question + "?", left: nothingDecided, yes: yes,
		show: func() (bool, error) { return a.showBeforeDeciding(ctx, office, action, id, amount) },
	})
}

// showBeforeDeciding prints a request and reports whether this operator may decide
// it so: what will be refused anyway isn't asked.
func (a *app) showBeforeDeciding(ctx context.Context, office *settle.Office, action, id, amount string) (may bool, err error) {
	err = office.DB.View(ctx, func(v *store.View) error {
		ap, err := v.Approval(id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		may = office.MayDecide(v, action, ap) == nil && settle.CheckAmount(ap, amount) == nil
		return a.showApproval(v, id, false)
	})
	return may, err
}

func (a *app) printDecision(ctx context.Context, office *settle.Office, decided store.Approval, asJSON bool) error {
	if asJSON {
		return office.DB.View(ctx, func(v *store.View) error { return a.showApproval(v, decided.ID, true) })
	}
	fmt.Fprintf(a.out, "%s  %s\n", bold.Render(decided.ID), decision(stateWord(decided.State), decided))
	return nil
}

// decision says what became of an approval or request; word is its state.
func decision(word string, ap store.Approval) string {
	if ap.DecidedByName != "" {
		word += " by " + ap.DecidedByName
	}
	if ap.ApprovedAmount > 0 {
		word += fmt.Sprintf(": %s refunded on %s", money.Amount{Minor: ap.ApprovedAmount, Currency: ap.Currency}.Format(), ap.OrderID)
	}
	return word
}
