package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/audit"
	"countersign/policy"
	"countersign/tools/settle"
)

func (a *app) auditExport() *cobra.Command {
	var rows rowFlags
	var format string
	cmd := &cobra.Command{
		Use: "export --format jsonl|csv", Short: "Print all rows for other programs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			export, known := exportFormats[format]
			if !known {
				return usageError{errors.New("say which format: --format jsonl or --format csv")}
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				if err := office.Permit(ctx, "audit export", policy.Staff); err != nil {
					return err
				}
				filter, err := rows.filter(ctx, office.DB)
				if err != nil {
					return err
				}
				if err := export(ctx, office.DB, filter, plain{a.out}); err != nil {
					return fmt.Errorf("audit export: %w", err)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "jsonl or csv (required)")
	rows.add(cmd.Flags())
	return cmd
}

var exportFormats = map[string]audit.Export{"jsonl": audit.ExportJSONLines, "csv": audit.ExportCSV}
