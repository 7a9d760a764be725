package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"countersign/approvals/push"
	"countersign/audit"
	"countersign/cmd/internal/setup"
	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

// app is the program apart from its process: its streams and environment.
type app struct {
	in       io.Reader
	out      *output
	err      io.Writer
	environ  []string
	terminal bool // a person sits at both ends
	width    int  // columns of the terminal; 0: lines aren't folded
	keys     *bufio.Reader
	settings setup.Settings

	started bool // a command began to run: what fails now isn't its usage
}

func newApp(in io.Reader, out, stderr io.Writer, environ []string) *app {
	a := &app{in: in, out: newOutput(out, environ), err: stderr, environ: environ, keys: bufio.NewReader(in)}
	if columns, _, err := term.GetSize(fd(out)); err == nil && columns > 0 {
		const narrowest = 20
		a.width = max(columns, narrowest)
	}
	a.terminal = term.IsTerminal(fd(in)) && term.IsTerminal(fd(out))
	return a
}

// fd is the file descriptor of a stream that is a file, else one of none.
func fd(stream any) int {
	if file, ok := stream.(*os.File); ok {
		return int(file.Fd())
	}
	return -1
}

func (a *app) env(name string) string {
	for _, entry := range a.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// run runs one command line and returns its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.out.failed
	}
	if err == nil {
		return exitDone
	}
	if text := oneLine(err); text != "" && !errors.Is(err, syscall.EPIPE) { // who closed the pipe has read enough
		fmt.Fprintln(a.err, "countersign:", text)
	}
	return a.exitCode(err)
}

// oneLine is an error's text on one line, whatever joined it from others.
func oneLine(err error) string {
	return visibleLine(strings.ReplaceAll(err.Error(), "\n\nDid you mean this?\n\t", "; did you mean "))
}

// visibleLine is text on one line that a terminal can't obey.
func visibleLine(text string) string {
	lines := strings.FieldsFunc(tools.Visible(text), func(r rune) bool { return r == '\n' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(nonEmpty(lines...), "; ")
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "countersign",
		Short:         "Decide what an agent may not decide alone, and read what it did",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := setup.CheckGiven(cmd.Flags()); err != nil {
				return err
			}
			if err := a.settings.Fill(a.env); err != nil {
				return err
			}
			a.started = true
			return nil
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	a.settings.Flags(root.PersistentFlags())
	root.AddCommand(a.addressesCommand(), a.approvalsCommand(), a.auditCommand(), a.backupCommand(), a.caseCommand(),
		a.connectCommand(), a.customersCommand(), a.demoCommand(), a.doctorCommand(), a.eraseCommand(), a.importCommand(), a.inboxCommand(), a.initCommand(),
		a.keysCommand(), a.ordersCommand(), a.policyCommand(), a.refundsCommand(), a.requestsCommand(), a.statsCommand(), a.ticketsCommand(), a.tokensCommand())
	for _, noun := range root.Commands() {
		if noun.HasSubCommands() && noun.RunE == nil {
			noun.RunE = requireSubcommand
			noun.Args = cobra.ArbitraryArgs
		}
	}
	return root
}

// flagError says what a flag takes, where its value is none of that: the words of
// the flag library are Go's.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	takes, ok := map[string]string{"int": "a whole number", "bool": "true or false", "duration": "a duration, such as 8h"}[invalid.GetFlag().Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("--%s takes %s", invalid.GetFlag().Name, takes)
}

// requireSubcommand keeps "countersign approvals" and a mistyped subcommand
// from succeeding silently.
func requireSubcommand(cmd *cobra.Command, args []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usageError{fmt.Errorf("%s needs one of: %s", cmd.CommandPath(), strings.Join(names, ", "))}
}

// usage tells how a command is used where its arguments don't fit it.
func usage(fit cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if fit(cmd, args) != nil {
			return fmt.Errorf("usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// open opens the database and the operator's way into it.
func (a *app) open(ctx context.Context) (*settle.Office, error) {
	db, err := a.settings.Open()
	if err != nil {
		return nil, err
	}
	rules, err := a.settings.Rulebook(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	token, err := a.operatorToken(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	caller := tools.Caller{Token: token, Door: audit.CLI, Session: audit.NewSession()}
	return &settle.Office{DB: db, Rules: rules, Caller: caller, AgentShell: a.inAgentShell()}, nil
}

// operatorToken is the token that was given, else the one that init kept for
// this database, else, in a demo database, the demo manager's.
func (a *app) operatorToken(ctx context.Context, db *store.DB) (string, error) {
	if a.settings.Token != "" {
		return a.settings.Token, nil
	}
	kept, err := loadCredential(a.env, db.Path())
	if kept != "" || err != nil {
		return kept, err
	}
	demo, err := isDemo(ctx, db)
	if demo {
		return fixtures.ManagerToken, err
	}
	return "", err
}

func isDemo(ctx context.Context, db *store.DB) (demo bool, err error) {
	err = db.View(ctx, func(v *store.View) error {
		demo, err = v.IsDemo()
		return err
	})
	return demo, err
}

// with runs a command's work on the database and closes it.
func (a *app) with(cmd *cobra.Command, work func(context.Context, *settle.Office) error) error {
	office, err := a.open(cmd.Context())
	if err != nil {
		return err
	}
	changed := false
	office.DB.Audited = func(store.AuditRow) { changed = true }
	err = work(cmd.Context(), office)
	if changed {
		a.pushDue(cmd.Context(), office.DB)
	}
	return errors.Join(err, office.DB.Close())
}

// pushDue tries for a moment to tell what servers couldn't. Whether that works
// changes nothing about the command.
func (a *app) pushDue(ctx context.Context, db *store.DB) {
	const moment, most = 2 * time.Second, 3
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	courier := push.Courier{DB: db, Targets: a.settings.Push}
	courier.DeliverDue(ctx, most)
}

// look runs a command that shows an operator one state of the database.
func (a *app) look(cmd *cobra.Command, action string, show func(*settle.Office, *store.View) error) error {
	return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
		if err := office.Permit(ctx, action, policy.Staff); err != nil {
			return err
		}
		return office.DB.View(ctx, func(v *store.View) error { return show(office, v) })
	})
}
