package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"countersign/evals"
	"countersign/evals/api"
	"countersign/evals/claude"
)

// The agents to choose from.
const (
	replayAgent = "replay"
	apiAgent    = "api"
	claudeAgent = "claude"
)

// recordDefault stands for the folder that is named for the model.
const recordDefault = "MODEL"

// fits finds flags that the agent doesn't know.
func (o options) fits() error {
	switch {
	case !slices.Contains([]string{replayAgent, apiAgent, claudeAgent}, o.agent):
		return fmt.Errorf("no agent is named %q", o.agent)
	case o.agent != apiAgent && (o.record != "" || o.states != "" || o.steps != 0):
		return errors.New("--record, --state and --steps are for --agent api")
	case o.agent == replayAgent && o.model != "":
		return errors.New("--model is for --agent api and --agent claude")
	case o.agent != replayAgent && o.replayed != "":
		return errors.New("--recordings is for --agent replay")
	case o.steps < 0:
		return errors.New("--steps counts from 1")
	}
	return nil
}

func (o options) newAgent() (evals.Agent, error) {
	switch o.agent {
	case apiAgent:
		agent, err := api.New(api.Options{Key: os.Getenv("ANTHROPIC_API_KEY"), BaseURL: os.Getenv("ANTHROPIC_BASE_URL"),
			Model: o.model, Steps: o.steps, States: o.states})
		if errors.Is(err, api.ErrNoKey) {
			err = usageError{err}
		}
		return agent, err
	case claudeAgent:
		agent, err := claude.New(o.model)
		if errors.Is(err, claude.ErrNotInstalled) {
			err = usageError{err}
		}
		return agent, err
	}
	if o.replayed != "" {
		return evals.NewReplay(os.DirFS(o.replayed)), nil
	}
	return evals.NewReplay(evals.Recordings()), nil
}

// keep writes a recording of each scenario of which a trial passed, if that passes
// again when it is replayed, and says on stderr what came of it.
func (o options) keep(ctx context.Context, runner *evals.Runner, agent evals.Agent, scenarios []evals.Scenario, report evals.Report, stderr io.Writer) error {
	model := agent.(*api.Agent).Model() // fits has seen to it
	folder := o.record
	if folder == recordDefault {
		folder = filepath.Join("evals", "recordings", model)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	kept := 0
	for i, s := range scenarios {
		trials := report.Scenarios[i].Trials
		passed := slices.IndexFunc(trials, func(t evals.Result) bool { return t.Passed })
		if passed < 0 {
			continue
		}
		text, err := recorded(ctx, runner, s, trials[passed], model)
		if err != nil {
			fmt.Fprintf(stderr, "%s isn't recorded: %v\n", s.ID, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, s.ID+".yaml"), text, 0o644); err != nil {
			return err
		}
		kept++
	}
	fmt.Fprintf(stderr, "%d scenarios recorded in %s\n", kept, folder)
	return nil
}

// recorded is the recording of a trial, which has been replayed.
func recorded(ctx context.Context, runner *evals.Runner, s evals.Scenario, trial evals.Result, model string) ([]byte, error) {
	recording, err := evals.Record(trial, model)
	if err != nil {
		return nil, err
	}
	text, err := recording.YAML()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "countersign-recording-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, s.ID+".yaml"), text, 0o600); err != nil {
		return nil, err
	}
	again := runner.With(evals.NewReplay(os.DirFS(folder))).Run(ctx, s)
	if !again.Passed {
		return nil, fmt.Errorf("replayed, it doesn't pass: %s", again.Fault)
	}
	return text, nil
}
