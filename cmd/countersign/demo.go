package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"countersign/fixtures"
	"countersign/store"
)

func (a *app) demoCommand() *cobra.Command {
	var interactive, walls bool
	demo := &cobra.Command{
		Use: "demo", Short: "See the whole story once, on a fresh demo shop", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if interactive && !a.terminal {
				return usageError{errors.New("--interactive needs a terminal")}
			}
			return a.runDemo(cmd.Context(), interactive, walls)
		},
	}
	demo.Flags().BoolVar(&interactive, "interactive", false, "stop before each step, and decide yourself")
	demo.Flags().BoolVar(&walls, "walls", false, "another story: an agent that needs keys which only a person can get")
	demo.AddCommand(&cobra.Command{
		Use: "reset", Short: "Put a fresh demo database in the place of the kept one", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.resetDemo() },
	})
	return demo
}

// resetDemo empties the kept demo database and fills it anew, or makes it.
func (a *app) resetDemo() error {
	a.settings.Demo = true
	path, err := a.settings.Path()
	if err != nil {
		return err
	}
	err = fixtures.ResetDemo(path, store.Options{})
	if err == nil {
		fmt.Fprintf(a.out, "%s is fresh. Servers that run on it go on with it; start new conversations.\n", path)
	}
	return err
}

// runDemo tells a story on a database of its own, which it removes.
func (a *app) runDemo(ctx context.Context, interactive, walls bool) (err error) {
	server, err := serverPath()
	if err != nil {
		return errNoServer
	}
	folder, err := os.MkdirTemp("", "countersign-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if ctx.Err() != nil {
			err = errLeft // whatever step it was that gave up
		}
		err = errors.Join(err, os.RemoveAll(folder))
	}()
	os.Unsetenv("COUNTERSIGN_KEY") // this database has a key of its own
	a.width = min(a.columns(), 100)
	t := teller{app: a, server: server, db: filepath.Join(folder, "demo.db"), interactive: interactive}
	if walls {
		return (&wallsStory{teller: t, env: filepath.Join(folder, ".env")}).tell(ctx)
	}
	return (&story{teller: t}).tell(ctx)
}

// operatorShell is the environment of the demo's operator: without what marks
// an agent's shell, and without settings of the user's own shop.
func operatorShell(environ []string) (kept []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "COUNTERSIGN_") && !isAgentMark(name) {
			kept = append(kept, entry)
		}
	}
	return kept
}
