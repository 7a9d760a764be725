package evals

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"countersign/audit"
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
	"countersign/store/ingest"
)

// ReadScenario reads a scenario: one, or two where it holds an attack. It is
// strict: an unknown or repeated key and a value that can't be meant are errors
// with their line.
func ReadScenario(text []byte) ([]Scenario, error) {
	var s Scenario
	if err := decode(text, &s); err != nil {
		return nil, err
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	return s.variants()
}

// ReadScenarios reads every .yaml file of a folder, by name.
func ReadScenarios(files fs.FS) (all []Scenario, err error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		read, err := ReadScenario(text)
		if id := strings.TrimSuffix(path.Base(name), ".yaml"); err == nil && read[0].base() != id {
			err = fmt.Errorf("its id is %s; name file and scenario alike", read[0].base())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, read...)
	}
	return all, nil
}

// decode reads one YAML document into value, strictly.
func decode(text []byte, value any) error {
	err := yaml.Load(text, value, yaml.WithKnownFields())
	if err == nil {
		return nil
	}
	return errors.New(unknownKey.ReplaceAllString(onLine(err.Error()), `unknown key "$1"`))
}

var unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)

// onLine is the YAML reader's list of errors on one line.
func onLine(text string) string {
	text = strings.TrimPrefix(text, "yaml: ")
	text = strings.TrimPrefix(text, "construct errors:\n")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "; ")
}

// at is an error about the value of a node.
func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

// scalar is a node's text, "" where it isn't a single value.
func scalar(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// within decodes a node that stands in a strict document, as strictly.
func within(n *yaml.Node, value any) error { return n.Load(value, yaml.WithKnownFields()) }

// UnmarshalYAML reads what the customer writes, or a mapping with one of say,
// decision, answers, decline, wait and shop.
func (s *Step) UnmarshalYAML(n *yaml.Node) error {
	if s.Say = scalar(n); s.Say != "" {
		return nil
	}
	type plain Step
	if err := within(n, (*plain)(s)); err != nil {
		return err
	}
	decided := decisions(s.Decision, s.Answers, s.Decline)
	given := len(decided)
	for _, is := range []bool{s.Say != "", s.Wait != 0, s.Shop != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return at(n, "a message is a text, or one of say, decision, answers, decline, wait and shop")
	case s.Say == "" && len(s.ReplyIncludes)+len(s.ReplyExcludes) > 0:
		return at(n, "only what the customer writes has a reply")
	case len(decided) == 1:
		s.Decision, s.Answers, s.Decline = decided[0], nil, ""
	}
	return nil
}

// UnmarshalYAML reads a regular expression.
func (p *Pattern) UnmarshalYAML(n *yaml.Node) (err error) {
	text := scalar(n)
	if text == "" {
		return at(n, "a pattern must be a text that isn't empty")
	}
	if p.Regexp, err = regexp.Compile("(?is)" + text); err != nil {
		return at(n, "%v", err)
	}
	return nil
}

// What an operator can do in a scenario.
const (
	approve = "approve"
	reject  = "reject"
	expire  = "expire" // nobody decides until the request has expired
)

// UnmarshalYAML reads "approve", "approve 80.00", "approve 80.00 NOTE", "reject
// NOTE" or "expire".
func (d *Decision) UnmarshalYAML(n *yaml.Node) error {
	verb, rest, _ := strings.Cut(scalar(n), " ")
	d.Verb, d.Note = verb, strings.TrimSpace(rest)
	if verb == approve {
		if first, note, _ := strings.Cut(d.Note, " "); decimal.MatchString(first) {
			d.Amount, d.Note = first, strings.TrimSpace(note)
		}
	}
	if verb != approve && verb != reject && verb != expire || (d.Note == "") != (verb == expire) && verb != approve {
		return at(n, `decision must be "approve", "approve 80.00", "approve 80.00 NOTE", "reject NOTE" or "expire"`)
	}
	return nil
}

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// UnmarshalYAML reads a duration such as 11m or 73h.
func (w *Wait) UnmarshalYAML(n *yaml.Node) error {
	d, err := time.ParseDuration(scalar(n))
	if err != nil || d <= 0 {
		return at(n, "wait must be a duration such as 11m or 73h")
	}
	*w = Wait(d)
	return nil
}

// UnmarshalYAML reads the text of a policy file and checks it.
func (p *Policy) UnmarshalYAML(n *yaml.Node) error {
	*p = Policy(scalar(n))
	_, err := policy.Parse([]byte(*p))
	var file *policy.FileError
	if errors.As(err, &file) && len(file.Problems) > 0 {
		return fmt.Errorf("line %d: policy: %s", n.Line+file.Problems[0].Line, file.Problems[0].Message)
	}
	return err
}

// UnmarshalYAML reads rows and checks each by itself.
func (r *Rows) UnmarshalYAML(n *yaml.Node) error {
	*r = Rows(scalar(n))
	batch, err := ingest.Read(strings.NewReader(string(*r)), epoch)
	if err != nil {
		return at(n, "shop: %v", err)
	}
	if problems := batch.Problems(); len(problems) > 0 {
		p := problems[0]
		p.Line += n.Line
		return errors.New(p.String())
	}
	if len(bytes.TrimSpace([]byte(*r))) == 0 {
		return at(n, "shop must be a block of JSON lines")
	}
	return nil
}

// UnmarshalYAML reads "denied", "denied not_found", or a list of these.
func (o *Outcomes) UnmarshalYAML(n *yaml.Node) error {
	nodes := []*yaml.Node{n}
	if o.All = n.Kind == yaml.SequenceNode; o.All {
		nodes = n.Content
	}
	for _, node := range nodes {
		outcome, code, _ := strings.Cut(scalar(node), " ")
		known := []audit.Outcome{audit.OK, audit.PendingApproval, audit.Denied, audit.Invalid, audit.Failed}
		if !slices.Contains(known, audit.Outcome(outcome)) {
			return at(node, "an outcome must be one of %v, and then perhaps a code", known)
		}
		o.Want = append(o.Want, OutcomeWanted{audit.Outcome(outcome), policy.Code(code)})
	}
	return nil
}

// UnmarshalYAML reads "pending", or "approved 80.00".
func (a *ApprovalWanted) UnmarshalYAML(n *yaml.Node) error {
	a.State, a.Amount, _ = strings.Cut(scalar(n), " ")
	known := []string{store.Pending, store.Approved, store.Rejected, store.Expired, store.Stale}
	if !slices.Contains(known, a.State) || a.Amount != "" && !decimal.MatchString(a.Amount) {
		return at(n, "an approval must be one of %v, and then perhaps an amount", known)
	}
	return nil
}

// UnmarshalYAML reads 0, "any", or a list of tickets.
func (t *Tickets) UnmarshalYAML(n *yaml.Node) error {
	switch scalar(n) {
	case "0":
		return nil
	case "any":
		t.Any = true
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return at(n, "tickets must be 0, any, or a list")
	}
	return within(n, &t.Want)
}

// UnmarshalYAML reads an order and checks its amount.
func (o *Order) UnmarshalYAML(n *yaml.Node) error {
	type plain Order
	if err := within(n, (*plain)(o)); err != nil {
		return err
	}
	if o.Refunded != "" {
		if _, err := money.Parse(o.Refunded, "KWD"); err != nil { // the currency with the most decimals
			return at(n, "refunded: %v", err)
		}
	}
	return nil
}
