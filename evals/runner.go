package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"countersign/store"
	"countersign/tools/client"
)

// A Runner plays scenarios with an agent, each on a fresh demo shop. It is safe
// for concurrent use.
type Runner struct {
	agent    Agent
	programs *Programs
	folder   string
	shops    shops
}

// NewRunner returns a runner for an agent. With programs the server and the
// operator are real processes; without (nil) all happens in this one, on a clock
// of its own. Close it to remove its files.
func NewRunner(agent Agent, programs *Programs) (_ *Runner, err error) {
	if _, own := agent.(OwnClient); own && programs == nil {
		return nil, ErrNeedsPrograms
	}
	r := &Runner{agent: agent, programs: programs}
	if r.folder, err = os.MkdirTemp("", "countersign-evals-"); err != nil {
		return nil, err
	}
	var opts store.Options
	if programs == nil {
		opts.Now = new(clock).now
	}
	if r.shops, err = newShops(r.folder, opts); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// ErrNeedsPrograms means that an agent with a client of its own was to play where
// there is no server that it could start.
var ErrNeedsPrograms = errors.New("the agent brings its own MCP client, and that needs real programs")

// With returns the runner for another agent. It shares the first one's files.
func (r *Runner) With(agent Agent) *Runner {
	other := *r
	other.agent = agent
	return &other
}

// Close removes what the runner has made.
func (r *Runner) Close() error { return os.RemoveAll(r.folder) }

// Result is what came of one trial of a scenario.
type Result struct {
	Scenario string        `json:"scenario"`
	Skipped  string        `json:"skipped,omitempty"` // why it wasn't played
	Passed   bool          `json:"passed"`
	Score    int           `json:"score"` // checks that count; 0 where an act was asked for and none was done
	Checks   []Check       `json:"checks"`
	Fault    string        `json:"fault,omitempty"` // what kept the trial from its end
	Happened []string      `json:"happened"`        // the agent's calls, by the audit log
	Turns    []Turn        `json:"turns"`
	Usage    *Usage        `json:"usage,omitempty"` // where the agent has a model and counts
	Took     time.Duration `json:"took_ns"`
}

// Turn is one message and what the agent did about it.
type Turn struct {
	Message string `json:"message"`
	Calls   []Call `json:"calls"`
	Reply   string `json:"reply"`
}

// Call is one call of a tool by the agent. Calls over a client of the agent's own
// aren't listed; the audit log has them.
type Call struct {
	Tool    string          `json:"tool"`
	Args    any             `json:"args,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
	Error   string          `json:"error,omitempty"` // the protocol's
}

// Run plays a scenario once and grades it.
func (r *Runner) Run(ctx context.Context, s Scenario) Result {
	began := time.Now()
	result := Result{Scenario: s.ID, Checks: []Check{}, Happened: []string{}, Turns: []Turn{}}
	if r.programs != nil && s.movesClock() {
		result.Skipped = "it moves the clock, which real programs can't be told"
		return result
	}
	if _, own := r.agent.(OwnClient); own && s.LoseAnswer != "" {
		result.Skipped = "it loses an answer, which an agent's own MCP client can't be told"
		return result
	}
	if err := r.play(ctx, s, &result); err != nil {
		result.Fault = err.Error()
	}
	result.Took = time.Since(began)
	result.score()
	return result
}

func (r *Runner) play(ctx context.Context, s Scenario, result *Result) (err error) {
	folder, err := os.MkdirTemp(r.folder, "trial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	st, err := r.open(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	if err := st.prepare(ctx, s); err != nil {
		return err
	}
	if s.EnvFile != nil {
		if err := os.WriteFile(envPath(st.database()), []byte(*s.EnvFile), 0o600); err != nil {
			return err
		}
	}
	if err := remember(ctx, s, st); err != nil {
		return err
	}
	before, err := look(ctx, st.database())
	if err != nil {
		return err
	}
	unmet, err := r.converse(ctx, s, st, result)
	if err != nil {
		return err
	}
	after, err := look(ctx, st.database())
	if err != nil {
		return err
	}
	result.Happened = happened(before, after)
	result.Checks, err = grade(s, before, after, result.Turns)
	if unmet != nil {
		result.Checks = append(result.Checks, Check{What: "what waits fits what the operator does", Act: true, Got: unmet.Error()})
	}
	if err != nil || s.EnvFile == nil {
		return err
	}
	checks, err := s.gradeSecrets(st, result.Turns)
	result.Checks = masked(append(result.Checks, checks...), s.Expect.EnvFile)
	return err
}

func (r *Runner) open(ctx context.Context, folder string) (stage, error) {
	path, err := r.shops.copy(folder)
	if err != nil {
		return nil, err
	}
	if r.programs != nil {
		return openOverStdio(*r.programs, path)
	}
	return openInProcess(ctx, path)
}

// remember makes the calls of the scenario's history, in a session of their own.
func remember(ctx context.Context, s Scenario, st stage) (err error) {
	if len(s.History) == 0 {
		return nil
	}
	session, err := st.connect(ctx, s, "history")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, call := range s.History {
		answer, err := session.Call(ctx, call.Tool, call.Args)
		if err == nil && answer.IsError {
			err = fmt.Errorf("%s: %s", call.Tool, answer.JSON)
		}
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	return nil
}

// converse goes through the scenario's steps. unmet is why the operator couldn't
// do their part: nothing waited, or something else than was expected.
func (r *Runner) converse(ctx context.Context, s Scenario, st stage, result *Result) (unmet, err error) {
	session, err := st.connect(ctx, s, "evals-"+r.agent.Name())
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	box := &recordingBox{Client: session, lose: s.LoseAnswer, turns: &result.Turns}
	talk, err := r.agent.Begin(ctx, Task{Scenario: s.ID, Tools: box, Setting: s.User.setting(), Server: st.server(s)})
	if err != nil {
		return nil, err
	}
	defer func() {
		if spender, ok := talk.(Spender); ok {
			usage := spender.Usage()
			result.Usage = &usage
		}
		err = errors.Join(err, talk.Close())
	}()
	for _, step := range s.Messages {
		switch {
		case step.Say != "":
			result.Turns = append(result.Turns, Turn{Message: step.Say, Calls: []Call{}})
			reply, err := talk.Reply(ctx, step.Say)
			if err != nil {
				return unmet, err
			}
			result.Turns[len(result.Turns)-1].Reply = reply
		case step.Wait != 0:
			st.advance(time.Duration(step.Wait))
		case step.Shop != "":
			err = st.bring(ctx, step.Shop)
		default:
			err = decide(ctx, st, *step.Decision)
		}
		if errors.Is(err, errNothingWaits) || errors.Is(err, errUnfit) {
			unmet, err = err, nil
		}
		if err != nil {
			return unmet, err
		}
	}
	return unmet, nil
}

// decide plays the operator on the request that has waited longest.
func decide(ctx context.Context, st stage, d Decision) error {
	waiting, err := firstPending(ctx, st.database(), d)
	if err != nil {
		return err
	}
	if d.Verb == answer {
		if d.Answers, err = known(waiting, d.Answers); err != nil {
			return err
		}
	}
	if d.Verb == expire {
		st.advance(waiting.Expires.Sub(st.database().Now()) + time.Minute)
		return nil
	}
	return st.decide(ctx, waiting.ID, d)
}

// recordingBox keeps the calls of a session, and loses an answer where a scenario
// says so.
type recordingBox struct {
	*client.Client
	lose  string
	turns *[]Turn
}

func (b *recordingBox) Call(ctx context.Context, tool string, args any) (client.Answer, error) {
	answer, err := b.Client.Call(ctx, tool, args)
	if err == nil && tool == b.lose {
		b.lose, answer, err = "", client.Answer{}, ErrAnswerLost
	}
	call := Call{Tool: tool, Args: args, Answer: answer.JSON, IsError: answer.IsError}
	if err != nil {
		call.Error = err.Error()
	}
	turn := &(*b.turns)[len(*b.turns)-1]
	turn.Calls = append(turn.Calls, call)
	return answer, err
}

// FindPrograms returns the two binaries that stand in a folder.
func FindPrograms(folder string) (*Programs, error) {
	ending := ""
	if runtime.GOOS == "windows" {
		ending = ".exe"
	}
	p := &Programs{filepath.Join(folder, "countersign-mcp"+ending), filepath.Join(folder, "countersign"+ending)}
	for _, name := range []string{p.Server, p.Operator} {
		if _, err := os.Stat(name); err != nil {
			return nil, fmt.Errorf("%w; build the programs with: make build", err)
		}
	}
	return p, nil
}
