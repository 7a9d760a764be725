package evals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"countersign/fixtures"
	"countersign/store"
	"countersign/tools/client"
)

// Programs are the two binaries, by path.
type Programs struct{ Server, Operator string }

// overStdio is a stage of real processes: the server as a child that speaks on its
// stdio, the operator as commands in a terminal, and the system's clock.
type overStdio struct {
	programs Programs
	db       *store.DB // for the grader
	folder   string
}

func openOverStdio(programs Programs, path string) (*overStdio, error) {
	db, err := store.Open(path, store.Options{})
	return &overStdio{programs, db, filepath.Dir(path)}, err
}

func (o *overStdio) prepare(ctx context.Context, s Scenario) error {
	if s.Shop != "" {
		if err := o.bring(ctx, s.Shop); err != nil {
			return err
		}
	}
	if s.Policy == "" {
		return nil
	}
	return o.withFile(string(s.Policy), func(name string) error { return o.operate(ctx, "policy", "set", name) })
}

func (o *overStdio) server(s Scenario) *Server {
	args := []string{"--demo", "--db", o.db.Path(), "--log-level", "error"}
	if s.Customer != "" {
		args = append(args, "--customer", s.Customer)
	}
	return &Server{Command: o.programs.Server, Args: args, Env: []string{"COUNTERSIGN_TOKEN=" + s.token()}}
}

func (o *overStdio) connect(ctx context.Context, s Scenario, agent string) (*client.Client, error) {
	start := o.server(s)
	cmd := exec.CommandContext(ctx, start.Command, start.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = start.Env, o.folder, io.Discard
	return client.Start(ctx, cmd, agent)
}

func (o *overStdio) decide(ctx context.Context, approval string, d Decision) error {
	args := []string{"approvals", d.Verb, approval, "--yes"}
	if d.Amount != "" {
		args = append(args, "--amount", d.Amount)
	}
	if d.Note != "" {
		args = append(args, "--note", d.Note)
	}
	const conflict = 5
	err := o.operate(ctx, args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == conflict {
		return nil
	}
	return err
}

func (o *overStdio) bring(ctx context.Context, rows Rows) error {
	return o.withFile(string(rows), func(name string) error { return o.operate(ctx, "import", "native", name) })
}

func (o *overStdio) withFile(text string, work func(name string) error) error {
	name := filepath.Join(o.folder, "brought")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return err
	}
	return work(name)
}

// operate runs the operator's program as the demo's manager, without what marks
// an agent's shell.
func (o *overStdio) operate(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, o.programs.Operator, args...)
	cmd.Env = []string{"HOME=" + o.folder, "COUNTERSIGN_DB=" + o.db.Path(), "COUNTERSIGN_TOKEN=" + fixtures.ManagerToken}
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = o.folder, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("countersign %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// advance is never asked of it: scenarios that move the clock are left out.
func (o *overStdio) advance(time.Duration) {}

func (o *overStdio) database() *store.DB { return o.db }

func (o *overStdio) close() error { return o.db.Close() }
