package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) keysCommand() *cobra.Command {
	noun := &cobra.Command{Use: "keys", Short: "Replace the installation's key"}
	noun.AddCommand(a.keysRotate())
	return noun
}

func (a *app) keysRotate() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rotate", Short: "Make a new key and seal every answer anew; servers go on with it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				err := a.confirm(ctx, office, confirmation{
					action: "keys rotate", question: "Replace the key?", left: "nothing was changed", yes: yes,
					show: func() (bool, error) {
						fmt.Fprintln(a.out, "Backups keep the key that they were made with.")
						return true, nil
					},
				})
				if err != nil {
					return err
				}
				n, err := office.RotateKey(ctx)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "The key in %s is new; %s sealed anew.\n", visibleLine(store.KeyPath(office.DB.Path())), counted(int64(n), "answer"))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask; needs a token given explicitly")
	return cmd
}
