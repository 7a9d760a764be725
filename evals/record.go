package evals

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Record makes a recording of a trial, with the model as its source. What an
// answer gave and a later call or reply repeats becomes a placeholder: another
// time it may be another number.
func Record(trial Result, source string) (Recording, error) {
	if trial.Fault != "" || len(trial.Turns) == 0 {
		return Recording{}, errors.New("only a trial that came to its end can be recorded")
	}
	r := recorder{customer: &strings.Builder{}, names: map[string]bool{}}
	recording := Recording{Source: source}
	for _, turn := range trial.Turns {
		recorded, err := r.turn(turn)
		if err != nil {
			return Recording{}, err
		}
		recording.Turns = append(recording.Turns, recorded)
	}
	return recording, nil
}

// YAML is the recording as a file that [ReadRecording] reads.
func (r Recording) YAML() ([]byte, error) { return yaml.Marshal(r) }

// recorder makes one recording.
type recorder struct {
	customer *strings.Builder // all that the customer wrote
	answers  []answered
	keeps    []map[string]string // of each call; more is kept as more is repeated
	names    map[string]bool
}

// answered is a field of an answer.
type answered struct {
	call        int
	path, value string
	name        string // "" until something repeats the value
}

func (r *recorder) turn(turn Turn) (t RecordedTurn, err error) {
	r.customer.WriteString(turn.Message + "\n")
	for _, call := range turn.Calls {
		recorded, err := r.call(call)
		if err != nil {
			return t, fmt.Errorf("%s: %w", call.Tool, err)
		}
		t.Calls = append(t.Calls, recorded)
		r.keeps = append(r.keeps, recorded.Keep)
		r.learn(call)
	}
	t.Reply, err = r.held(turn.Reply)
	return t, err
}

func (r *recorder) call(call Call) (c RecordedCall, err error) {
	text, err := json.Marshal(call.Args)
	if err != nil {
		return c, err
	}
	c = RecordedCall{Tool: call.Tool, Fails: call.Error != "", Keep: map[string]string{}}
	if err := json.Unmarshal(text, &c.Args); err != nil {
		return c, errors.New("its arguments aren't an object")
	}
	if err := r.hold(c.Args); err != nil || c.Fails {
		return c, err
	}
	// A recording ends where an answer is of another kind.
	var fields map[string]any
	if err := json.Unmarshal(call.Answer, &fields); err != nil {
		return c, err
	}
	for _, name := range []string{"status", "error"} {
		if value, ok := fields[name].(string); ok {
			c.Gives = map[string]string{name: value}
		}
	}
	return c, nil
}

// hold puts placeholders into arguments.
func (r *recorder) hold(args map[string]any) (err error) {
	for name, value := range args {
		switch v := value.(type) {
		case string:
			if args[name], err = r.held(v); err != nil {
				return err
			}
		case map[string]any:
			if err := r.hold(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// held is text with placeholders for the facts in it that an answer gave and the
// customer didn't name.
func (r *recorder) held(text string) (string, error) {
	if placeholder.MatchString(text) {
		return "", errors.New("${…} in the agent's own words can't be recorded")
	}
	return stated.ReplaceAllStringFunc(text, func(fact string) string {
		if strings.Contains(r.customer.String(), fact) {
			return fact
		}
		for i := len(r.answers) - 1; i >= 0; i-- {
			if r.answers[i].value == fact {
				return "${" + r.keep(&r.answers[i]) + "}"
			}
		}
		return fact
	}), nil
}

// keep has a field of an answer kept and returns its name.
func (r *recorder) keep(a *answered) string {
	if a.name == "" {
		last := a.path[strings.LastIndex(a.path, ".")+1:]
		if strings.Trim(last, "abcdefghijklmnopqrstuvwxyz_") != "" {
			last = "value"
		}
		for a.name = last; r.names[a.name]; {
			a.name += "_again"
		}
		r.names[a.name] = true
		r.keeps[a.call][a.name] = a.path
	}
	return a.name
}

// learn takes in the fields of an answer.
func (r *recorder) learn(call Call) {
	var fields any
	if call.Error == "" && json.Unmarshal(call.Answer, &fields) == nil {
		r.gather("", fields)
	}
}

func (r *recorder) gather(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(v))) {
			r.gather(strings.TrimPrefix(path+"."+name, "."), v[name])
		}
	case []any:
		for i, inner := range v {
			r.gather(path+"."+strconv.Itoa(i), inner)
		}
	case string:
		r.answers = append(r.answers, answered{call: len(r.keeps) - 1, path: path, value: v})
	}
}
