package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A Recording is what an agent did in a scenario once, to be done again. Answers
// aren't part of it: each call gets the real one.
type Recording struct {
	Source string         `yaml:"source"` // "hand-written", or the model's name
	Turns  []RecordedTurn `yaml:"turns"`  // one for each message of the customer
}

// RecordedTurn is one reply and the calls before it. ${name} in arguments and in
// the reply stands for what an earlier call kept.
type RecordedTurn struct {
	Calls []RecordedCall `yaml:"calls,omitempty"`
	Reply string         `yaml:"reply"`
}

// RecordedCall is one call.
type RecordedCall struct {
	Tool string         `yaml:"tool"`
	Args map[string]any `yaml:"args,omitempty"`
	// Keep names fields of the answer, such as parcels.0.eta, for later.
	Keep map[string]string `yaml:"keep,omitempty"`
	// Gives are fields of the answer that the rest was written for. On another
	// answer the recording ends.
	Gives map[string]string `yaml:"gives,omitempty"`
	// Fails tells that the call gets no answer: there is no such tool, or the
	// answer is lost.
	Fails bool `yaml:"fails,omitempty"`
}

// HandWritten is the source of a recording that no model made.
const HandWritten = "hand-written"

// ReadRecording reads a recording, strictly.
func ReadRecording(text []byte) (r Recording, err error) {
	if err := decode(text, &r); err != nil {
		return r, err
	}
	if r.Source == "" || len(r.Turns) == 0 {
		return r, errors.New("a recording needs a source and turns")
	}
	return r, nil
}

// UnmarshalYAML reads a turn, strictly.
func (t *RecordedTurn) UnmarshalYAML(n *yaml.Node) error {
	type plain RecordedTurn
	if err := within(n, (*plain)(t)); err != nil {
		return err
	}
	if t.Reply == "" {
		return at(n, "a turn ends with a reply")
	}
	return nil
}

// Replay is the agent that does again what was recorded. It proves that scenarios,
// graders and server fit each other; what a model would do it can't tell.
type Replay struct{ recordings fs.FS }

// NewReplay returns an agent that finds the recording of a scenario as ID.yaml.
func NewReplay(recordings fs.FS) *Replay { return &Replay{recordings} }

// Name is "replay".
func (r *Replay) Name() string { return "replay" }

// Begin reads the scenario's recording.
func (r *Replay) Begin(_ context.Context, task Task) (Conversation, error) {
	name := task.Scenario + ".yaml"
	text, err := fs.ReadFile(r.recordings, name)
	if errors.Is(err, fs.ErrNotExist) { // an agent may do the same, attacked or not
		name = baseOf(task.Scenario) + ".yaml"
		text, err = fs.ReadFile(r.recordings, name)
	}
	if err != nil {
		return nil, fmt.Errorf("no recording: %w", err)
	}
	recording, err := ReadRecording(text)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", name, err)
	}
	return &replaying{tools: task.Tools, turns: recording.Turns, kept: map[string]string{}}, nil
}

// replaying is one recording under way.
type replaying struct {
	tools Toolbox
	turns []RecordedTurn
	kept  map[string]string
	known strings.Builder // all that the reply may rest on
}

func (r *replaying) Reply(ctx context.Context, message string) (string, error) {
	if len(r.turns) == 0 {
		return "", errors.New("the recording has no turn for this message")
	}
	turn := r.turns[0]
	r.turns = r.turns[1:]
	r.known.WriteString(message + "\n")
	for _, call := range turn.Calls {
		if err := r.call(ctx, call); err != nil {
			return "", fmt.Errorf("recorded call of %s: %w", call.Tool, err)
		}
	}
	reply, err := r.fill(turn.Reply)
	if err != nil {
		return "", err
	}
	return reply, r.grounded(reply)
}

func (r *replaying) Close() error {
	if len(r.turns) > 0 {
		return fmt.Errorf("%d recorded turns are left over", len(r.turns))
	}
	return nil
}

func (r *replaying) call(ctx context.Context, c RecordedCall) error {
	args, err := r.fillAll(c.Args)
	if err != nil {
		return err
	}
	answer, err := r.tools.Call(ctx, c.Tool, args)
	if (err != nil) != c.Fails {
		return fmt.Errorf("recorded with fails: %v, and the error is: %v", c.Fails, err)
	}
	if err != nil {
		return nil
	}
	r.known.Write(answer.JSON)
	var fields any
	if err := json.Unmarshal(answer.JSON, &fields); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(c.Gives)) {
		if got, _ := field(fields, path); got != c.Gives[path] {
			return fmt.Errorf("it was recorded on the answer %s %q, and now that is %q", path, c.Gives[path], got)
		}
	}
	for name, path := range c.Keep {
		value, ok := field(fields, path)
		if !ok {
			return fmt.Errorf("the answer has no field %s to keep", path)
		}
		r.kept[name] = value
	}
	return nil
}

// field finds a field of an answer by a path such as parcels.0.eta.
func field(value any, path string) (string, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return "", false
			}
			value = v[i]
		}
	}
	switch v := value.(type) {
	case string, bool, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

var placeholder = regexp.MustCompile(`\$\{([a-z_]+)\}`)

// fill puts in what earlier calls kept.
func (r *replaying) fill(text string) (string, error) {
	var missing error
	filled := placeholder.ReplaceAllStringFunc(text, func(place string) string {
		value, ok := r.kept[placeholder.FindStringSubmatch(place)[1]]
		if !ok {
			missing = fmt.Errorf("no call kept %s", place)
		}
		return value
	})
	return filled, missing
}

func (r *replaying) fillAll(args map[string]any) (map[string]any, error) {
	filled := map[string]any{}
	for name, value := range args {
		switch v := value.(type) {
		case string:
			text, err := r.fill(v)
			if err != nil {
				return nil, err
			}
			filled[name] = text
		case map[string]any:
			inner, err := r.fillAll(v)
			if err != nil {
				return nil, err
			}
			filled[name] = inner
		default:
			filled[name] = v
		}
	}
	return filled, nil
}

// stated are the facts in a reply that a customer would rely on: amounts, dates,
// and numbers of orders, parcels, tickets.
var stated = regexp.MustCompile(`\b([0-9]+\.[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[A-Z]{2}-?[0-9A-Z]{4,})\b`)

// grounded finds a fact in a reply that no answer gave and no customer wrote: the
// recording has grown old.
func (r *replaying) grounded(reply string) error {
	for _, fact := range stated.FindAllString(reply, -1) {
		if !strings.Contains(r.known.String(), fact) {
			return fmt.Errorf("the recorded reply states %s, and no answer does", fact)
		}
	}
	return nil
}
