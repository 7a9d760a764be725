package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"

	"github.com/spf13/pflag"

	"countersign/evals"
	"countersign/evals/api"
)

type options struct {
	agent, only      string
	model, states    string
	record, replayed string
	repeat, parallel int
	steps            int
	stdio, json      bool
	files            []string
}

const about = `Plays scenarios of customer support on the real server, each on a fresh demo
shop, and grades what happened: audit log, approvals, orders, tickets, replies.

Usage: countersign-evals [flags] [SCENARIO.yaml…]
       countersign-evals retail [--only REGEXP] [--parallel N] [--json]

retail plays 405 calls of a retail benchmark, as its customers and as strangers.

`

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := pflag.NewFlagSet("countersign-evals", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.agent, "agent", replayAgent, "`who` answers the customers: replay repeats what was recorded, api is a model (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL), claude your Claude Code")
	flags.StringVar(&o.model, "model", "", "whom api asks (default "+api.DefaultModel+"), or claude in its own words")
	flags.IntVar(&o.steps, "steps", 0, fmt.Sprintf("api: most requests for one message (default %d)", api.DefaultSteps))
	flags.StringVar(&o.record, "record", "", "api: a `folder` for recordings of what passed (default evals/recordings/MODEL)")
	flags.Lookup("record").NoOptDefVal = recordDefault
	flags.StringVar(&o.replayed, "recordings", "", "replay: a `folder` that --record wrote")
	flags.StringVar(&o.states, "state", "", "api: a `folder` for each conversation as JSON; every reply begins from there")
	flags.StringVar(&o.only, "only", "", "only scenarios whose id, title or category matches this `regexp`")
	flags.IntVar(&o.repeat, "repeat", 1, "play each `k` times and report pass^k")
	flags.IntVar(&o.parallel, "parallel", runtime.GOMAXPROCS(0), "how many to play at once")
	flags.BoolVar(&o.stdio, "stdio", false, "use the programs beside this one, over stdio and in a shell, and not one process")
	flags.BoolVar(&o.json, "json", false, "print one JSON document, with every check, call and reply")
	flags.Usage = func() {
		fmt.Fprint(stderr, about, flags.FlagUsagesWrapped(80))
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return o, err
		}
		return o, usageError{err}
	}
	const most = 1000
	if o.repeat < 1 || o.parallel < 1 || o.repeat > most || o.parallel > most {
		return o, usageError{fmt.Errorf("--repeat and --parallel take 1 to %d", most)}
	}
	o.files = flags.Args()
	if err := o.fits(); err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// picks is what --only matches.
func (o options) picks() (*regexp.Regexp, error) {
	only, err := regexp.Compile("(?i)" + o.only)
	if err != nil {
		return nil, usageError{fmt.Errorf("--only: %w", err)}
	}
	return only, nil
}

// scenarios are the files named, else the built-in ones, those that --only picks.
func (o options) scenarios() (picked []evals.Scenario, err error) {
	only, err := o.picks()
	if err != nil {
		return nil, err
	}
	all, err := evals.ReadScenarios(evals.Scenarios())
	if len(o.files) > 0 {
		all = nil
		for _, name := range o.files {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			read, err := evals.ReadScenario(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, read...)
		}
	}
	picked = slices.DeleteFunc(all, func(s evals.Scenario) bool {
		return !only.MatchString(s.ID + "\n" + s.Title + "\n" + s.Category)
	})
	if err == nil && len(picked) == 0 {
		err = usageError{errors.New("no scenario is meant")}
	}
	return picked, err
}
