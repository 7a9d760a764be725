// Command countersign-evals plays scenarios with an agent on the real server and
// grades what happened. It is a program of its own so that nothing of it is linked
// into the operators'.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"countersign/cmd/internal/setup"
	"countersign/evals"
)

// Exit codes.
const (
	exitDone = iota
	exitFailure
	exitUsage
)

var errFailed = errors.New("") // the report has said it

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), setup.Signals()...)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	var usage usageError
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		os.Exit(exitDone)
	case errors.Is(err, errFailed):
		os.Exit(exitFailure)
	}
	fmt.Fprintln(os.Stderr, "countersign-evals:", strings.ReplaceAll(err.Error(), "\n", "; "))
	if errors.As(err, &usage) {
		os.Exit(exitUsage)
	}
	os.Exit(exitFailure)
}

// usageError is a command line that can't be meant.
type usageError struct{ error }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if len(o.files) > 0 && o.files[0] == "retail" {
		return o.retail(ctx, stdout, stderr)
	}
	return o.play(ctx, stdout, stderr)
}

// retail plays the retail suite.
func (o options) retail(ctx context.Context, stdout, stderr io.Writer) error {
	if len(o.files) > 1 || o.stdio || o.repeat != 1 || o.agent != replayAgent {
		return usageError{errors.New("retail takes --only, --parallel and --json alone")}
	}
	only, err := o.picks()
	if err != nil {
		return err
	}
	line := progressLine(stderr)
	report, err := evals.RunRetail(ctx, only, o.parallel, func(done, total int) { line("%d of %d pieces of work done", done, total) })
	line("")
	if err != nil {
		return err
	}
	if o.json {
		err = printJSON(stdout, report)
	} else {
		report.Print(colorprofile.NewWriter(stdout, os.Environ()))
	}
	if err == nil && report.Failed() {
		err = errFailed
	}
	return err
}

// play plays scenarios.
func (o options) play(ctx context.Context, stdout, stderr io.Writer) (err error) {
	scenarios, err := o.scenarios()
	if err != nil {
		return err
	}
	agent, err := o.newAgent()
	if err != nil {
		return err
	}
	var programs *evals.Programs
	if o.stdio {
		if programs, err = findPrograms(); err != nil {
			return err
		}
	}
	runner, err := evals.NewRunner(agent, programs)
	if errors.Is(err, evals.ErrNeedsPrograms) {
		return usageError{fmt.Errorf("--agent %s needs --stdio", o.agent)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	began, failed := time.Now(), 0
	line := progressLine(stderr)
	report := runner.RunAll(ctx, scenarios, o.repeat, o.parallel, func(done, total int, last evals.Result) {
		if !last.Passed && last.Skipped == "" {
			failed++
		}
		line("%d of %d played, %d failed: %s", done, total, failed, last.Scenario)
	})
	line("")
	if err := ctx.Err(); err != nil {
		return errors.New("interrupted")
	}
	if o.json {
		err = printJSON(stdout, report)
	} else {
		report.Print(colorprofile.NewWriter(stdout, os.Environ()), time.Since(began))
	}
	if o.record != "" && err == nil {
		err = o.keep(ctx, runner, agent, scenarios, report, stderr)
	}
	if err == nil && report.Failed > 0 {
		err = errFailed
	}
	return err
}

// findPrograms finds the server and the operators' program beside this one.
func findPrograms() (*evals.Programs, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, err
	}
	return evals.FindPrograms(filepath.Dir(self))
}

// progressLine returns what rewrites one line on a terminal, and does nothing
// elsewhere.
func progressLine(w io.Writer) func(format string, args ...any) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func(string, ...any) {}
	}
	const eraseLine = "\r\x1b[2K"
	return func(format string, args ...any) { fmt.Fprintf(w, eraseLine+format, args...) }
}

// printJSON prints one document, indented.
func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
