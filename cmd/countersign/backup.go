package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/policy"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) backupCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Copy the database and its key while others work on it", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				copied, err := a.backUp(ctx, office, args[0])
				if err != nil {
					return err
				}
				return a.printBackup(office.DB.Path(), copied, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// errMay undoes the row of a backup that may be made, but isn't yet.
var errMay = errors.New("this operator may")

// backUp copies the database for a file and, in the transaction that records
// it, puts the copy there: others wait for that alone. Who may not is refused,
// and recorded, before there is a copy.
func (a *app) backUp(ctx context.Context, office *settle.Office, file string) (_ *store.Copy, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("%s: interrupted, there is no backup", file)
		}
	}()
	const action = "backup"
	err = office.Do(ctx, action, policy.Manager, func(*settle.Session) error { return errMay })
	if !errors.Is(err, errMay) {
		return nil, err
	}
	bar := a.bar(1, "copying")
	copied, err := office.DB.Backup(ctx, file, func(done, total int) {
		bar.ChangeMax(total)
		_ = bar.Set(done)
	})
	_ = bar.Exit()
	if errors.Is(err, store.ErrExists) {
		err = fmt.Errorf("%w; it is left as it is", err)
	}
	if err != nil {
		return nil, err
	}
	if err := office.Do(ctx, action, policy.Manager, func(*settle.Session) error { return copied.Place() }); err != nil {
		return nil, errors.Join(err, copied.Discard())
	}
	return copied, nil
}

func (a *app) printBackup(db string, c *store.Copy, asJSON bool) error {
	if asJSON {
		return printJSON(a.out, struct {
			Database string `json:"database"`
			Backup   string `json:"backup"`
			Key      string `json:"key,omitempty"`
			Bytes    int64  `json:"bytes"`
		}{db, c.Path, c.Key, c.Size})
	}
	fmt.Fprintf(a.out, "Copied %s to %s (%s).\n", visibleLine(db), visibleLine(c.Path), byteSize(c.Size))
	if c.Key == "" {
		fmt.Fprintln(a.out, "It opens only with the key that COUNTERSIGN_KEY holds now: keep that too.")
	} else {
		fmt.Fprintf(a.out, "It opens only with its key, which is in %s: keep both, where nobody else can read them.\n", visibleLine(c.Key))
	}
	return nil
}

// byteSize is a number of bytes for people.
func byteSize(n int64) string {
	if n < 1000 {
		return counted(n, "byte")
	}
	size, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	for size >= 999.5 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	return fmt.Sprintf("%.3g %s", size, units[0])
}
