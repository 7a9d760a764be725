package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/internal/clientconfig"
	"countersign/cmd/internal/setup"
	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

// connection is what an agent's client is to be told.
type connection struct {
	client   string
	name     string
	customer string
	toolsets string
	envFile  string // absolute, once it is checked
	draft    string // what is written before it becomes the .env file
	follow   bool   // whether that may be a symbolic link
	dry      bool   // show what would be written, and write nothing
}

func (a *app) connectCommand() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use: "connect claude-code|claude-desktop|codex", Short: "Put the server into a client's configuration",
		Long: `Put the server into a client's configuration, with --token (or COUNTERSIGN_TOKEN)
as the agent's token. All else in the client's files stays as it is, and a copy
of each changed file is kept beside it.`,
		ValidArgs: []string{"claude-code", "claude-desktop", "codex"},
		Args:      usage(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.client = args[0]
			return a.connect(cmd.Context(), c)
		},
	}
	cmd.Flags().StringVar(&c.customer, "customer", "", "the `id` of the customer that the agent works for")
	cmd.Flags().StringVar(&c.toolsets, "toolsets", "", "support (the default), or human, or both with a comma")
	cmd.Flags().StringVar(&c.envFile, "env-file", "", "the .env `file` that takes the secrets people enter; it need not exist yet")
	cmd.Flags().BoolVar(&c.follow, "env-file-follow", false, "allow the .env file to be a symbolic link")
	cmd.Flags().StringVar(&c.name, "name", "countersign", "what the client calls the server")
	cmd.Flags().BoolVar(&c.dry, "print", false, "only show what would be written, and where")
	return cmd
}

// clientName is what every client takes as a server's name.
var clientName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (a *app) connect(ctx context.Context, c connection) error {
	if !clientName.MatchString(c.name) {
		return usageError{errors.New("--name takes 1 to 64 letters, digits, dashes and underscores")}
	}
	// Who chooses the customer opens the door to their data.
	if a.inAgentShell() && !c.dry {
		return &settle.Error{Kind: settle.NotPermitted, Code: settle.AgentShell,
			Message: `"connect" is for people: this shell seems to be an agent's; run it in a terminal of your own, or see what it would do with --print`}
	}
	if err := a.checkServer(&c); err != nil {
		return usageError{err}
	}
	server, path, err := a.clientEntry(ctx, c)
	if err != nil {
		return err
	}
	changes, err := a.planConnection(c, server, path)
	if errors.Is(err, clientconfig.ErrTaken) {
		return &settle.Error{Kind: settle.Conflict, Message: err.Error()}
	}
	if err != nil {
		return err
	}
	changed := false
	for _, change := range changes {
		if err := a.putChange(change, c.dry); err != nil {
			return err
		}
		changed = changed || change.Adds != ""
	}
	if changed && !c.dry {
		fmt.Fprintln(a.out, "Restart the client, so that it starts the server.")
	}
	return nil
}

// checkServer refuses what the server would refuse at its start.
// It warns of secrets that have no way to where they are to go.
func (a *app) checkServer(c *connection) error {
	list, err := tools.Toolsets(c.toolsets)
	if err != nil {
		return fmt.Errorf("--toolsets: %w", err)
	}
	file, err := a.settings.EnvFile(c.envFile, c.follow)
	if err != nil {
		return err
	}
	asks := slices.Contains(list, tools.Human[0])
	switch {
	case file == nil && asks:
		fmt.Fprintln(a.err, "countersign: without --env-file requests for a secret will be refused")
	case file != nil && !asks:
		fmt.Fprintln(a.err, "countersign: --env-file does nothing without the tools that ask for secrets; add --toolsets support,human")
	}
	if file != nil {
		c.envFile, c.draft = file.Path, file.Draft()
	}
	return nil
}

// clientEntry is how the client has to start the server, and the database's path.
func (a *app) clientEntry(ctx context.Context, c connection) (clientconfig.Server, string, error) {
	program, err := serverPath()
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return clientconfig.Server{}, "", errNoServer
	}
	db, err := a.settings.Open()
	if err != nil {
		return clientconfig.Server{}, "", err
	}
	if a.settings.Token == "" && a.settings.Demo {
		a.settings.Token = fixtures.StaffToken
	}
	err = checkAgent(ctx, db, a.settings.Token, c.customer)
	if err = errors.Join(err, db.Close()); err != nil {
		return clientconfig.Server{}, "", err
	}
	args := []string{"--db", db.Path()}
	if a.settings.Demo {
		args = append([]string{"--demo"}, args...)
	}
	if c.customer != "" {
		args = append(args, "--customer", c.customer)
	}
	if c.toolsets != "" {
		args = append(args, "--toolsets", c.toolsets)
	}
	if c.envFile != "" {
		args = append(args, "--env-file", c.envFile)
	}
	if c.envFile != "" && c.follow {
		args = append(args, "--env-file-follow")
	}
	return clientconfig.Server{
		Name: c.name, Command: program, Args: args, Env: map[string]string{"COUNTERSIGN_TOKEN": a.settings.Token},
	}, db.Path(), nil
}

// checkAgent refuses what would only show as refusals in the client later.
func checkAgent(ctx context.Context, db *store.DB, token, customer string) error {
	const makeOne = "make one with: countersign tokens create NAME --role staff"
	if token == "" {
		return usageError{errors.New("the agent needs a token, in COUNTERSIGN_TOKEN or --token; " + makeOne)}
	}
	return db.View(ctx, func(v *store.View) error {
		agent, err := v.PrincipalByToken(token)
		if err != nil {
			return err
		}
		if agent.ID == "" {
			return errors.New("this token doesn't hold in this database; " + makeOne)
		}
		if agent.Kind != policy.Agent {
			return usageError{fmt.Errorf("this token is the operator %q's, an agent needs one of its own; %s", agent.Name, makeOne)}
		}
		if customer == "" {
			return nil
		}
		claimed, err := v.CustomerByID(customer)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("--customer names a customer that isn't in the database")
		}
		if err == nil && agent.Customer != "" && agent.Customer != claimed.Key {
			return usageError{errors.New("the token is pinned to another customer than --customer names")}
		}
		return err
	})
}

// planConnection plans the change of each of a client's files.
func (a *app) planConnection(c connection, server clientconfig.Server, db string) ([]clientconfig.Change, error) {
	place := clientconfig.Place{System: runtime.GOOS, Env: a.env}
	one := func(file string, err error, plan func(string) (clientconfig.Change, error)) ([]clientconfig.Change, error) {
		if err != nil {
			return nil, err
		}
		change, err := plan(file)
		return []clientconfig.Change{change}, err
	}
	switch c.client {
	case "claude-desktop":
		file, err := place.ClaudeDesktop()
		return one(file, err, server.ClaudeDesktop)
	case "codex":
		file, err := place.Codex()
		return one(file, err, server.Codex)
	}
	file, settings, err := place.ClaudeCode()
	if err != nil {
		return nil, err
	}
	entry, err := server.ClaudeCode(file)
	if err != nil {
		return nil, err
	}
	rules, err := clientconfig.Deny(settings, clientconfig.DenyRules(db, setup.CredentialPath(a.env), c.envFile, c.draft))
	return []clientconfig.Change{rules, entry}, err // the rules first: they hold before there is a server
}

// putChange writes a change, or shows it.
func (a *app) putChange(c clientconfig.Change, dry bool) error {
	switch {
	case c.Adds == "":
		fmt.Fprintf(a.out, "%s has it all\n", c.Path)
	case dry:
		fmt.Fprintf(a.out, "%s would get:\n%s\n", c.Path, c.Adds)
	default:
		backup, err := c.Write(time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s is written%s\n", c.Path, map[bool]string{true: "", false: ", what it was is kept as " + backup}[backup == ""])
	}
	if c.Exposed() {
		fmt.Fprintf(a.err, "countersign: others can read %s; %s\n", c.Path, remedy("chmod 600", c.Path))
	}
	return nil
}
