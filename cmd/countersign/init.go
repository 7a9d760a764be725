package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"countersign/audit"
	"countersign/cmd/internal/setup"
	"countersign/policy"
	"countersign/store"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Create a database, its first manager and a token for the agent", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.settings.Demo {
				return usageError{errors.New("the demo database makes itself; leave --demo out")}
			}
			path, err := a.settings.Path()
			if err != nil {
				return err
			}
			if err := credentialFolder(a.env); err != nil {
				return err // before there is a database whose manager nobody could be
			}
			manager, agent := store.NewToken(), store.NewToken()
			err = store.Create(path, store.Options{}, func(tx *store.Tx) error { return a.found(tx, manager, agent) })
			if errors.Is(err, store.ErrExists) {
				return fmt.Errorf("%w; it is left as it is", err)
			}
			if err != nil {
				return err
			}
			kept, err := saveCredential(a.env, path, manager)
			if err != nil {
				return fmt.Errorf("the database is there, but the manager's token could not be kept: %w", err)
			}
			return a.printSetUp(path, kept, agent)
		},
	}
}

// found puts the first two principals into a new database, the rules, and the
// first audit row.
func (a *app) found(tx *store.Tx, manager, agent string) error {
	first, err := tx.AddPrincipal(store.Principal{Name: "manager", Kind: policy.Operator, Role: policy.Manager}, manager)
	if err != nil {
		return err
	}
	if _, err := tx.AddPrincipal(store.Principal{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, agent); err != nil {
		return err
	}
	rules := policy.Default()
	if err := tx.SetSetting(store.SettingPolicy, string(rules.YAML())); err != nil { // stored ones can't be replaced by who starts a server
		return err
	}
	return audit.Append(tx, audit.Entry{
		Principal: first, Door: audit.CLI, Session: audit.NewSession(), Action: "init", Outcome: audit.OK, Policy: rules.Version(),
	})
}

// printSetUp prints what to paste into a client. The agent's token is shown
// here and never again.
func (a *app) printSetUp(db, credentials, token string) error {
	server, err := serverPath()
	if err != nil {
		server = "countersign-mcp"
	}
	config := map[string]any{"mcpServers": map[string]any{"countersign": map[string]any{
		"command": server,
		"env":     map[string]string{"COUNTERSIGN_DB": db, "COUNTERSIGN_TOKEN": token, "COUNTERSIGN_CUSTOMER": "CUSTOMER-ID"},
	}}}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, `Created %s
The manager's token is kept in %s

Import your shop, then replace CUSTOMER-ID by the customer the agent works for:
  countersign import native --db %s FILE

Claude Desktop (claude_desktop_config.json), or any client with mcpServers:
%s

Claude Code:
  claude mcp add countersign -s user -e COUNTERSIGN_DB=%s -e COUNTERSIGN_TOKEN=%s -e COUNTERSIGN_CUSTOMER=CUSTOMER-ID -- %s

The agent's token is shown this once.
`, db, credentials, setup.ShellQuote(db), text, setup.ShellQuote(db), token, setup.ShellQuote(server))
	return nil
}

var errNoServer = errors.New("countersign-mcp is neither beside this program nor on the PATH; build both with: make build")

// serverPath finds the server's program beside this one, else on the PATH.
func serverPath() (string, error) {
	name := "countersign-mcp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	if err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), name)
			if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
				return beside, nil
			}
		}
	}
	return exec.LookPath(name)
}
