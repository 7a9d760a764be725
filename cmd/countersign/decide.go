package main

import (
	"bufio"
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
		Use: "approve ID", Short: "Approve a request and perform it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				if err := a.confirm(ctx, office, args[0], "Approve", yes); err != nil {
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
		Use: "reject ID --note TEXT", Short: "Reject a request; the note reaches the agent", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(note) == "" {
				return usageError{errors.New("reject needs --note: it tells the agent, and so the customer, why")}
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				if err := a.confirm(ctx, office, args[0], "Reject", yes); err != nil {
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

// confirm shows the whole request and asks, on a terminal. Without one it needs
// --yes and a token that was given explicitly: a script must mean it.
func (a *app) confirm(ctx context.Context, office *settle.Office, id, verb string, yes bool) error {
	if yes {
		return a.explicitToken(ctx, office)
	}
	if !a.terminal {
		return usageError{errors.New("without a terminal this needs --yes, and a token in COUNTERSIGN_TOKEN or --token")}
	}
	if err := a.showApproval(ctx, office.DB, id, false); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\n%s %s? [y/N] ", verb, id)
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err == nil && strings.EqualFold(strings.TrimSpace(answer), "y") {
		return nil
	}
	return errors.New("nothing was decided")
}

func (a *app) explicitToken(ctx context.Context, office *settle.Office) error {
	if a.settings.Token != "" {
		return nil
	}
	demo, err := isDemo(ctx, office.DB)
	if err == nil && !demo {
		err = usageError{errors.New("--yes needs a token in COUNTERSIGN_TOKEN or --token")}
	}
	return err
}

func (a *app) printDecision(ctx context.Context, office *settle.Office, decided store.Approval, asJSON bool) error {
	if asJSON {
		return a.showApproval(ctx, office.DB, decided.ID, true)
	}
	fmt.Fprintf(a.out, "%s  %s by %s", bold.Render(decided.ID), stateWord(decided.State), decided.DecidedByName)
	if decided.State == store.Approved {
		fmt.Fprintf(a.out, ": %s refunded on %s", money.Amount{Minor: decided.ApprovedAmount, Currency: decided.Currency}.Format(), decided.OrderID)
	}
	fmt.Fprintln(a.out)
	return nil
}
