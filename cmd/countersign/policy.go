package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/cmd/internal/setup"
	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) policyCommand() *cobra.Command {
	noun := &cobra.Command{Use: "policy", Short: "See, check and store the shop's rules"}
	noun.AddCommand(a.policyShow(), a.policyCheck(), a.policySet())
	return noun
}

func (a *app) policyShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Print the rules in force, in full", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				return office.DB.View(ctx, func(v *store.View) error {
					rules, err := office.Rules.InForce(v)
					if err != nil {
						return err
					}
					fmt.Fprintf(a.out, "# %s\n%s", rules.Version, rules.YAML())
					return nil
				})
			})
		},
	}
}

func (a *app) policyCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Check a policy file", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			rules, err := setup.ReadPolicy(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "# %s: this file and the defaults together\n%s", rules.Version(), rules.YAML())
			return nil
		},
	}
}

func (a *app) policySet() *cobra.Command {
	return &cobra.Command{
		Use: "set FILE", Short: "Store a policy file as the shop's rules", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			rules, err := setup.ReadPolicy(args[0])
			if err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				err := office.Do(ctx, "policy set", policy.Manager, func(s *settle.Session) error {
					s.Entry.Policy = rules.Version()
					return s.SetSetting(store.SettingPolicy, string(rules.YAML()))
				})
				if err == nil {
					fmt.Fprintf(a.out, "Stored %s; it holds from the next call on.\n", rules.Version())
				}
				return err
			})
		},
	}
}
