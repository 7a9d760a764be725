package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) tokensCommand() *cobra.Command {
	noun := &cobra.Command{Use: "tokens", Short: "Say who may call, and with what role"}
	noun.AddCommand(a.tokensCreate(), a.tokensList(), a.tokensRevoke(), a.tokensRole())
	return noun
}

// principalView is a principal as an operator sees it. The token is there when
// it was just made, and never again.
type principalView struct {
	Token     string `json:"token,omitempty"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Role      string `json:"role"`
	Customer  string `json:"customer,omitempty"` // the shop's id
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at,omitempty"`
	State     string `json:"state"`
}

func viewPrincipal(v *store.View, p store.Principal) (principalView, error) {
	view := principalView{
		ID: p.ID, Name: p.Name, Kind: string(p.Kind), Role: string(p.Role),
		CreatedAt: stampText(p.Created), ExpiresAt: stampText(p.Expires), State: p.State(v.Now),
	}
	if p.Customer == "" {
		return view, nil
	}
	customer, err := v.Customer(p.Customer)
	view.Customer = customer.ID
	return view, err
}

func (a *app) tokensCreate() *cobra.Command {
	var role, customer, expires string
	var operator, asJSON bool
	cmd := &cobra.Command{
		Use: "create NAME --role ROLE", Short: "Create a token; it is shown once", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := settle.TokenRequest{Name: args[0], Kind: policy.Agent, Role: policy.Role(role), Customer: customer}
			if operator {
				req.Kind = policy.Operator
			}
			var err error
			if req.Expires, err = parseExpires(expires); err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				made, token, err := office.CreateToken(ctx, req)
				if err != nil {
					return err
				}
				return a.printToken(ctx, office.DB, made, token, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "viewer, staff or manager (required)")
	cmd.Flags().StringVar(&customer, "customer", "", "the `id` of the only customer it will act for")
	cmd.Flags().StringVar(&expires, "expires", "", "how long it holds, such as `90d` or 12h (default: until it is revoked)")
	cmd.Flags().BoolVar(&operator, "operator", false, "for a person who runs this program, not for an agent")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// parseExpires reads the flag of how long something holds; "" gives 0.
func parseExpires(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, ok := parseSpan(text)
	if !ok {
		return 0, usageError{errors.New("--expires takes a while such as 90d or 12h")}
	}
	return d, nil
}

func (a *app) printToken(ctx context.Context, db *store.DB, made store.Principal, token string, asJSON bool) error {
	return db.View(ctx, func(v *store.View) error {
		view, err := viewPrincipal(v, made)
		if err != nil {
			return err
		}
		view.Token = token
		if asJSON {
			return printJSON(a.out, view)
		}
		fmt.Fprintf(a.out, "%s  %s of role %s", bold.Render(view.Name), view.Kind, view.Role)
		if view.Customer != "" {
			fmt.Fprintf(a.out, ", for customer %s alone", view.Customer)
		}
		if view.ExpiresAt != "" {
			fmt.Fprintf(a.out, ", until %s", view.ExpiresAt)
		}
		fmt.Fprintf(a.out, "\n%s\nThe token is shown this once.\n", token)
		return nil
	})
}

func (a *app) tokensList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List who may call, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "tokens list", func(_ *settle.Office, v *store.View) error { return a.listTokens(v, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (a *app) listTokens(v *store.View, asJSON bool) error {
	principals, err := v.Principals()
	if err != nil {
		return err
	}
	views, rows := []principalView{}, [][]string{}
	for _, p := range principals {
		view, err := viewPrincipal(v, p)
		if err != nil {
			return err
		}
		views = append(views, view)
		expires := "never"
		if !p.Expires.IsZero() {
			expires = ago(p.Expires, v.Now)
		}
		rows = append(rows, []string{p.Name, view.Kind, view.Role, view.Customer, ago(p.Created, v.Now), expires, stateWord(view.State)})
	}
	if asJSON {
		return printJSON(a.out, views)
	}
	printTable(a.out, []string{"NAME", "KIND", "ROLE", "CUSTOMER", "CREATED", "EXPIRES", "STATE"}, rows)
	return nil
}

func (a *app) tokensRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "End a token; from the next call on it is nobody's", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				p, err := office.RevokeToken(ctx, args[0])
				if err == nil {
					fmt.Fprintf(a.out, "%s  revoked\n", bold.Render(p.Name))
				}
				return err
			})
		},
	}
}

func (a *app) tokensRole() *cobra.Command {
	return &cobra.Command{
		Use: "role NAME ROLE", Short: "Change a role; it holds from the next call on", Args: usage(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				p, err := office.ChangeRole(ctx, args[0], policy.Role(args[1]))
				if err == nil {
					fmt.Fprintf(a.out, "%s  %s of role %s\n", bold.Render(p.Name), p.Kind, p.Role)
				}
				return err
			})
		},
	}
}
