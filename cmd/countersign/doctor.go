package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"countersign/approvals/push"
	"countersign/audit"
	"countersign/cmd/internal/setup"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the database, its files, the audit log and the server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &diagnosis{Checks: []check{}}
			if err := a.diagnose(cmd.Context(), d); err != nil {
				return err
			}
			if asJSON {
				return errors.Join(printJSON(a.out, d), d.verdict())
			}
			for _, c := range d.Checks {
				a.printCheck(c)
			}
			return d.verdict()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// What a check can end with.
const (
	statusOK   = "ok"
	statusWarn = "warn"
	statusFail = "fail"
)

// check is one thing that was looked at.
type check struct {
	Name   string `json:"check"`
	Status string `json:"status"`
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"`
}

// diagnosis is all that was looked at.
type diagnosis struct {
	Checks []check `json:"checks"`
	chain  error   // what is wrong with the audit log, where that was changed
}

func (d *diagnosis) ok(name, found string)           { d.add(name, statusOK, found, "") }
func (d *diagnosis) warn(name, found, remedy string) { d.add(name, statusWarn, found, remedy) }
func (d *diagnosis) fail(name, found, remedy string) { d.add(name, statusFail, found, remedy) }

func (d *diagnosis) add(name, status, found, remedy string) {
	d.Checks = append(d.Checks, check{name, status, visibleLine(found), visibleLine(remedy)})
}

// verdict is the error of a diagnosis in which something failed.
func (d *diagnosis) verdict() error {
	failed := int64(0)
	for _, c := range d.Checks {
		if c.Status == statusFail {
			failed++
		}
	}
	switch {
	case d.chain != nil:
		return fmt.Errorf("%s failed: audit log %w", counted(failed, "check"), d.chain)
	case failed > 0:
		return fmt.Errorf("%s failed", counted(failed, "check"))
	}
	return nil
}

// printCheck prints a check: one line for scripts, folded on a terminal.
func (a *app) printCheck(c check) {
	colour := map[string]lipgloss.Style{statusOK: green, statusWarn: yellow, statusFail: red}[c.Status]
	left := colour.Render(fmt.Sprintf("%-6s", c.Status)) + fmt.Sprintf("%-12s", c.Name)
	text := c.Found
	if c.Remedy != "" {
		text += "; " + c.Remedy
	}
	const narrow = 60
	if a.width >= narrow {
		text = fold(text, a.width-lipgloss.Width(left))
	}
	printBeside(a.out, left, text)
}

// diagnose makes the checks. Its error means that this operator may not, or
// that there is nothing to look at.
func (a *app) diagnose(ctx context.Context, d *diagnosis) error {
	path, err := a.settings.Path()
	if err != nil {
		return err
	}
	if _, err := loadCredentials(a.env); err != nil {
		return err
	}
	db, err := a.settings.Open()
	if err != nil {
		d.fail("database", err.Error(), "") // it says what to do
	} else if err := errors.Join(a.diagnoseDatabase(ctx, d, db), db.Close()); err != nil {
		return err
	}
	a.diagnoseServer(ctx, d, path)
	a.diagnoseFiles(d, path) // now that this program's own are gone
	return ctx.Err()
}

// diagnoseDatabase makes the checks that need the database open. A damaged one
// may not know any more who asks; it is checked all the same.
func (a *app) diagnoseDatabase(ctx context.Context, d *diagnosis, db *store.DB) error {
	token, err := a.operatorToken(ctx, db)
	if err == nil {
		office := settle.Office{DB: db, Caller: tools.Caller{Token: token, Door: audit.CLI}}
		err = office.Permit(ctx, "doctor", policy.Staff)
	}
	var refused *settle.Error
	if errors.As(err, &refused) {
		return err
	}
	if err != nil {
		d.fail("operator", fmt.Sprintf("it can't be told who asks: %v", err), "")
	}
	diagnoseState(ctx, d, db)
	diagnoseContent(ctx, d, db)
	diagnoseChain(ctx, d, db)
	a.diagnosePolicy(ctx, d, db)
	a.diagnosePush(ctx, d, db)
	return ctx.Err()
}

func diagnoseState(ctx context.Context, d *diagnosis, db *store.DB) {
	version := 0
	err := db.View(ctx, func(v *store.View) (err error) {
		version, err = v.SchemaVersion()
		return err
	})
	demo, fault := isDemo(ctx, db)
	if err = errors.Join(err, fault); err != nil {
		d.fail("database", err.Error(), "")
		return
	}
	kind := map[bool]string{true: "a demo database", false: "not a demo database"}[demo]
	d.ok("database", fmt.Sprintf("%s: %s, schema version %d, %s", db.Path(), byteSize(databaseSize(db.Path())), version, kind))
}

// restore is what to do with a database that SQLite itself finds damaged.
const restore = "stop what has it open, keep the file, and restore a backup"

func diagnoseContent(ctx context.Context, d *diagnosis, db *store.DB) {
	for _, test := range []struct {
		name, sound string
		find        func(*store.View, context.Context) ([]string, error)
	}{
		{"integrity", "the file is whole", (*store.View).Faults},
		{"references", "every row that another refers to is there", (*store.View).Dangling},
	} {
		var found []string
		err := db.View(ctx, func(v *store.View) (err error) {
			found, err = test.find(v, ctx)
			return err
		})
		switch {
		case len(found) > 0:
			d.fail(test.name, counted(int64(len(found)), "fault")+", the first: "+found[0], restore)
		case err != nil:
			d.fail(test.name, err.Error(), "")
		default:
			d.ok(test.name, test.sound)
		}
	}
}

func diagnoseChain(ctx context.Context, d *diagnosis, db *store.DB) {
	const name = "audit log"
	head, err := audit.Verify(ctx, db, nil)
	switch {
	case errors.Is(err, audit.ErrAltered), errors.Is(err, audit.ErrTruncated):
		d.chain = err
		d.fail(name, err.Error(), "somebody changed the file: keep it, and compare it with a backup")
	case err != nil:
		d.fail(name, fmt.Sprintf("it could not be checked: %v", err), "")
	case head.Seq == 0:
		d.ok(name, "intact: 0 rows")
	default:
		d.ok(name, fmt.Sprintf("intact: %s, head %s", counted(head.Seq, "row"), head))
	}
}

func (a *app) diagnosePolicy(ctx context.Context, d *diagnosis, db *store.DB) {
	stored, version := "", ""
	rules, err := a.settings.Rulebook(ctx, db)
	if err == nil {
		err = db.View(ctx, func(v *store.View) error {
			stored, err = v.Setting(store.SettingPolicy)
			if err != nil {
				return err
			}
			now, err := rules.InForce(v)
			version = now.Version
			return err
		})
	}
	switch {
	case err != nil && stored != "":
		d.fail("policy", err.Error(), "store one that can be read: countersign policy set FILE")
	case err != nil:
		d.fail("policy", err.Error(), "")
	case a.settings.Policy != "":
		d.ok("policy", version+", from "+a.settings.Policy)
	case stored != "":
		d.ok("policy", version+", stored in the database")
	default:
		d.ok("policy", version+", the built-in one")
	}
}

// diagnosePush says who is told of what starts to wait, and what they weren't told.
func (a *app) diagnosePush(ctx context.Context, d *diagnosis, db *store.DB) {
	const name = "push"
	var left int64
	var oldest, now time.Time
	err := db.View(ctx, func(v *store.View) (err error) {
		now = v.Now
		left, oldest, err = v.UndeliveredPushes(v.Now.Add(-push.GiveUpAfter))
		return err
	})
	set := "no target is set here"
	if names := push.Names(a.settings.Push); len(names) > 0 {
		set = "set here: " + strings.Join(names, ", ")
	}
	switch {
	case err != nil:
		d.fail(name, err.Error(), "")
	case left > 0:
		d.warn(name, fmt.Sprintf("%s; undelivered: %d, the oldest from %s", set, left, ago(oldest, now)),
			"servers log why, and try again for a day")
	default:
		d.ok(name, set+"; none is undelivered")
	}
}

// databaseSize is the size of a database and its log in bytes.
func databaseSize(path string) (size int64) {
	for _, file := range []string{path, path + "-wal"} {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}

// remedy is a command that mends something about a file.
func remedy(command, path string) string { return command + " " + setup.ShellQuote(path) }
