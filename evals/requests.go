package evals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"countersign/approvals"
	"countersign/store"
	"countersign/tools"
)

// What a person can do in a scenario about a request to a human.
const (
	answer  = "answer"
	decline = "decline"
)

// decisions are those that are given.
func decisions(d *Decision, answers map[string]string, why string) (given []*Decision) {
	if d != nil {
		given = append(given, d)
	}
	if answers != nil {
		given = append(given, &Decision{Verb: answer, Answers: answers})
	}
	if why != "" {
		given = append(given, &Decision{Verb: decline, Note: why})
	}
	return given
}

// aboutRequest reports whether it is about a request to a human.
func (d Decision) aboutRequest() bool { return d.Verb == answer || d.Verb == decline }

// errUnfit means that a form can't be filled with what the operator knows.
var errUnfit = errors.New("the form doesn't fit what the operator knows")

// known are the answers that a request's form asks for: what an agent forgot to
// ask for nobody enters.
func known(request store.Approval, answers map[string]string) (map[string]string, error) {
	var form approvals.Form
	if err := json.Unmarshal(request.Arguments, &form); err != nil {
		return nil, fmt.Errorf("form of %s: %w", request.ID, err)
	}
	fitting := map[string]string{}
	for _, field := range form.Fields {
		if value, ok := answers[field.Name]; ok {
			fitting[field.Name] = value
		}
	}
	return fitting, nil
}

// setting is where the agent works and who reads its answers.
func (u User) setting() string {
	who := "the customer"
	if u == Colleague {
		who = "a colleague from the shop"
	}
	return "You work at a shop's support desk. The user is " + who + ", and reads only the last message of each of your turns."
}

// UnmarshalYAML reads "colleague".
func (u *User) UnmarshalYAML(n *yaml.Node) error {
	if *u = User(scalar(n)); *u != Colleague {
		return at(n, "user must be colleague, or left out: a customer")
	}
	return nil
}

// UnmarshalYAML reads the state of a request.
func (r *RequestWanted) UnmarshalYAML(n *yaml.Node) error {
	known := []string{store.Pending, store.Answered, store.Declined, store.Expired}
	if *r = RequestWanted(scalar(n)); !slices.Contains(known, string(*r)) {
		return at(n, "a request must be one of %v", known)
	}
	return nil
}

// checkHuman finds what can't be meant about requests to a human.
func (s *Scenario) checkHuman() error {
	offered, err := tools.Toolsets(s.Toolsets)
	if err != nil {
		return fmt.Errorf("toolsets: %w", err)
	}
	asks := len(s.Expect.Requests) > 0 || slices.ContainsFunc(s.Messages, func(step Step) bool {
		return step.Decision != nil && step.Decision.aboutRequest()
	})
	switch {
	case asks && !slices.Contains(offered, tools.Human[0]):
		return fmt.Errorf("nothing can be asked of a human without toolsets: human")
	case len(s.Expect.EnvFile) > 0 && s.EnvFile == nil:
		return fmt.Errorf("expect.env_file needs an env_file, which may be empty")
	}
	return checkSecrets(s.Expect.EnvFile)
}

// requests grades what was asked of a human.
func (g *grader) requests() {
	var got []RequestWanted
	for _, a := range g.after.requests {
		got = append(got, RequestWanted(a.StateWord()))
	}
	if want := g.Expect.Requests; len(want) > 0 {
		g.check(true, slices.Equal(want, got), list(got), "requests to a human are %s", list(want))
		return
	}
	g.check(false, len(got) == 0, list(got), "nothing is asked of a human")
}

// envPath is the server's .env file, beside the database.
func envPath(db *store.DB) string { return filepath.Join(filepath.Dir(db.Path()), envName) }

const envName = ".env"

// output keeps what several write. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Clone(o.text.String())
}
