package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"countersign/policy"
	"countersign/store/ingest"
	"countersign/tools/settle"
)

// importFlags say how files are imported.
type importFlags struct {
	dryRun, skipBad, json bool
}

func (a *app) importCommand() *cobra.Command {
	noun := &cobra.Command{Use: "import", Short: "Bring in the shop's customers, orders, parcels and articles"}
	var f importFlags
	native := &cobra.Command{
		Use: "native FILE…", Short: "Import files in the native format, JSON Lines", Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error { return a.importFiles(ctx, office, f, args) })
		},
	}
	native.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would change, and change nothing")
	native.Flags().BoolVar(&f.skipBad, "skip-bad", false, "leave out lines with problems and import the rest")
	native.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	noun.AddCommand(native)
	return noun
}

// fileReport is what became of one file.
type fileReport struct {
	File string `json:"file"`
	ingest.Report
}

// importFiles imports file by file, each whole or not at all, and stops at the
// first that fails.
func (a *app) importFiles(ctx context.Context, office *settle.Office, f importFlags, files []string) error {
	reports := []fileReport{}
	var err error
	for _, name := range files {
		var report ingest.Report
		if report, err = a.importFile(ctx, office, f, name); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		reports = append(reports, fileReport{name, report})
		if !f.json {
			a.printReport(name, report, f)
		}
		if err != nil {
			break
		}
	}
	if f.json {
		err = errors.Join(printJSON(a.out, reports), err)
	}
	return err
}

func (a *app) importFile(ctx context.Context, office *settle.Office, f importFlags, name string) (report ingest.Report, err error) {
	file, err := os.Open(name)
	if err != nil {
		return report, errors.Unwrap(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return report, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() || size == 0 {
		size = -1 // a pipe: nobody knows
	}
	reading := a.bar(size, "reading")
	batch, err := ingest.Read(io.TeeReader(file, progress{reading}), office.DB.Now())
	_ = reading.Exit()
	if err != nil {
		return report, err
	}
	storing := a.bar(1, "storing")
	defer storing.Exit()
	action := "import native"
	if f.dryRun {
		action += " --dry-run"
	}
	err = office.Do(ctx, action, policy.Manager, func(s *settle.Session) (err error) {
		report, err = batch.Store(s.Tx, ingest.Options{SkipBad: f.skipBad, DryRun: f.dryRun, Progress: func(done, total int) {
			storing.ChangeMax(total)
			_ = storing.Set(done)
		}})
		if errors.Is(err, ingest.ErrProblems) || errors.Is(err, ingest.ErrNoRows) {
			err = &settle.Error{Kind: settle.Failed, Code: policy.InvalidArguments, Message: err.Error()}
		}
		return err
	})
	var refused *settle.Error
	if err != nil && !errors.As(err, &refused) {
		return ingest.Report{}, err // nothing was stored: what was counted didn't happen
	}
	return report, err
}

// progress moves a bar by what is written to it. A bar that can't be moved any
// further, as by a file that grows, fails nobody's work.
type progress struct{ bar *progressbar.ProgressBar }

func (p progress) Write(text []byte) (int, error) {
	_ = p.bar.Add(len(text))
	return len(text), nil
}

// bar is a progress bar on a terminal that can move its cursor, and nothing
// elsewhere.
func (a *app) bar(size int64, what string) *progressbar.ProgressBar {
	if !term.IsTerminal(fd(a.err)) || a.env("TERM") == "dumb" {
		return progressbar.DefaultSilent(size)
	}
	return progressbar.NewOptions64(size, progressbar.OptionSetWriter(a.err), progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(40), progressbar.OptionUseANSICodes(true))
}

// printReport prints the counts and then every problem by its line.
func (a *app) printReport(name string, r ingest.Report, f importFlags) {
	for _, p := range r.Problems {
		fmt.Fprintf(a.err, "%s: %s\n", name, visibleLine(p.String()))
	}
	var rows [][]string
	for _, kind := range []struct {
		name  string
		count ingest.Count
	}{
		{"customers", r.Customers}, {"orders", r.Orders}, {"shipments", r.Shipments}, {"articles", r.Articles}, {"unknown", r.Unknown},
	} {
		if c := kind.count; c != (ingest.Count{}) {
			rows = append(rows, []string{kind.name, fmt.Sprint(c.New), fmt.Sprint(c.Changed), fmt.Sprint(c.Unchanged), fmt.Sprint(c.Skipped)})
		}
	}
	if len(rows) == 0 {
		return
	}
	heading := "IMPORTED"
	if f.dryRun || len(r.Problems) > 0 && !f.skipBad {
		heading = "NOT IMPORTED"
	}
	printTable(a.out, []string{heading, "NEW", "CHANGED", "UNCHANGED", "SKIPPED"}, rows)
	if r.Erased > 0 {
		fmt.Fprintf(a.out, "%s of erased customers skipped\n", counted(int64(r.Erased), "line"))
	}
}
