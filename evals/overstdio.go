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
	printed  output
}

func openOverStdio(programs Programs, path string) (*overStdio, error) {
	db, err := store.Open(path, store.Options{})
	return &overStdio{programs: programs, db: db, folder: filepath.Dir(path)}, err
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
	if s.Toolsets != "" {
		args = append(args, "--toolsets", s.Toolsets)
	}
	if s.EnvFile != nil {
		args = append(args, "--env-file", envPath(o.db))
	}
	return &Server{Command: o.programs.Server, Args: args, Env: []string{"COUNTERSIGN_TOKEN=" + s.token()}}
}

func (o *overStdio) connect(ctx context.Context, s Scenario, agent string) (*client.Client, error) {
	start := o.server(s)
	cmd := exec.CommandContext(ctx, start.Command, append(start.Args, "--log-level", "debug")...)
	cmd.Env, cmd.Dir, cmd.Stderr = start.Env, o.folder, &o.printed
	return client.Start(ctx, cmd, agent)
}

func (o *overStdio) decide(ctx context.Context, approval string, d Decision) error {
	noun := "approvals"
	if d.aboutRequest() {
		noun = "requests"
	}
	args := []string{noun, d.Verb, approval, "--yes"}
	for name, value := range d.Answers {
		args = append(args, "--set", name+"="+value)
	}
	if d.Amount != "" {
		args = append(args, "--amount", d.Amount)
	}
	if d.Note != "" {
		args = append(args, "--note", d.Note)
	}
	const usage, conflict = 2, 5
	err := o.operate(ctx, args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == conflict {
		return nil
	}
	if exit != nil && exit.ExitCode() == usage && d.Verb == answer {
		return fmt.Errorf("%w: %w", errUnfit, err)
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
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.folder, &o.printed, io.MultiWriter(&stderr, &o.printed)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("countersign %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// advance is never asked of it: scenarios that move the clock are left out.
func (o *overStdio) advance(time.Duration) {}

func (o *overStdio) database() *store.DB { return o.db }

func (o *overStdio) said() string { return o.printed.String() }

func (o *overStdio) close() error { return o.db.Close() }
