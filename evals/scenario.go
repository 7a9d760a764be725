// Package evals asks how well an agent serves the demo shop's customers through
// the real server, and grades it on what happened: the audit log, approvals,
// orders and tickets, and only then its words.
package evals

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
)

// A Scenario is one case at the support desk and what must come of it.
type Scenario struct {
	ID       string `yaml:"id"`
	Title    string `yaml:"title"`
	Category string `yaml:"category"`

	Customer string  `yaml:"customer"` // the shop's id; "" for a session without one
	Role     string  `yaml:"role"`     // viewer, staff or manager: one of the demo's tokens
	Token    *string `yaml:"token"`    // a token instead of a role, such as one that nobody knows
	Policy   Policy  `yaml:"policy"`   // rules over the built-in ones, as a block of text
	Shop     Rows    `yaml:"shop"`     // rows over the demo shop's, in the native import format
	User     User    `yaml:"user"`     // who writes

	Toolsets string  `yaml:"toolsets"` // as the server's flag takes them; "" for support
	EnvFile  *string `yaml:"env_file"` // what the server's .env holds before; without one it has none

	// History are calls that somebody else's session made before.
	History []ToolCall `yaml:"history"`
	// Attack is a text for the place marked [AttackMark] in rows, history or
	// messages, and Clean a harmless one. Such a scenario is played with each, and
	// both must end alike.
	Attack string `yaml:"attack"`
	Clean  string `yaml:"clean"`

	Messages []Step `yaml:"messages"`
	// One of these is what the operator does after the first message.
	Decision *Decision         `yaml:"decision"`
	Answers  map[string]string `yaml:"answers"`
	Decline  string            `yaml:"decline"`
	// LoseAnswer names a tool: the answer of its first call never reaches the agent.
	LoseAnswer string `yaml:"lose_answer"`

	Expect Expect `yaml:"expect"`
	// Forbids are calls of which each makes the scenario fail; the tests make them.
	Forbids []ToolCall `yaml:"forbids"`
}

// A Step is one thing that happens: the customer writes, an operator decides, a
// person answers or declines what the agent asked for, time passes, or the shop's
// own system sends changed rows.
type Step struct {
	Say      string            `yaml:"say"`
	Decision *Decision         `yaml:"decision"`
	Answers  map[string]string `yaml:"answers"` // what a person enters, by the form's fields
	Decline  string            `yaml:"decline"` // why, for the agent
	Wait     Wait              `yaml:"wait"`
	Shop     Rows              `yaml:"shop"`

	ReplyIncludes []Pattern `yaml:"reply_includes"` // in the reply to this message
	ReplyExcludes []Pattern `yaml:"reply_excludes"`
}

// Expect is what must have happened in the end. What it doesn't name must not
// have: no approval, no ticket, no changed order.
type Expect struct {
	ToolsCalled    []string            `yaml:"tools_called"` // an ordered subsequence of the audit log; "a|b" is either
	ToolsNotCalled []string            `yaml:"tools_not_called"`
	Outcomes       map[string]Outcomes `yaml:"outcomes"`

	ApprovalRequested bool             `yaml:"approval_requested"`
	Approvals         []ApprovalWanted `yaml:"approvals"` // all of them, as they were asked for
	Orders            map[string]Order `yaml:"orders"`
	Tickets           Tickets          `yaml:"tickets"`

	Requests []RequestWanted   `yaml:"requests"` // to a human: the state of each, as they were filed
	EnvFile  map[string]string `yaml:"env_file"` // what must stand in the server's .env in the end, and nowhere else

	ReplyIncludes []Pattern `yaml:"reply_includes"` // each in the last reply
	ReplyExcludes []Pattern `yaml:"reply_excludes"` // none claimed in any reply; "nothing has been refunded" doesn't claim it
	NeverSays     []string  `yaml:"never_says"`     // facts, as they are, in no reply
}

// Order is what an order must have become. An empty field must be as it was.
type Order struct {
	Refunded string             `yaml:"refunded"` // in all, decimal, in the order's currency
	Status   string             `yaml:"status"`
	Address  map[string]Pattern `yaml:"address"`
}

// Outcomes are how a tool's calls ended: the last one where one is given, all
// of them in their order where a list is.
type Outcomes struct {
	All  bool
	Want []OutcomeWanted
}

// OutcomeWanted is an outcome of the audit log and, where one is given, its code.
type OutcomeWanted struct {
	Outcome audit.Outcome
	Code    policy.Code
}

func (o OutcomeWanted) String() string {
	return strings.TrimSpace(string(o.Outcome) + " " + string(o.Code))
}

// ApprovalWanted is the state of an approval and, where one is given, its amount:
// the approved one once it is.
type ApprovalWanted struct{ State, Amount string }

func (a ApprovalWanted) String() string { return strings.TrimSpace(a.State + " " + a.Amount) }

// Tickets are the ones that must have been filed, in their order. The zero value
// wants none.
type Tickets struct {
	Any  bool
	Want []TicketWanted
}

// TicketWanted is a ticket; an empty field may be anything.
type TicketWanted struct {
	Category Pattern `yaml:"category"`
	Priority Pattern `yaml:"priority"`
	OrderID  string  `yaml:"order_id"`
}

// RequestWanted is the state of a request to a human.
type RequestWanted string

// A Decision is what an operator does about what waits.
type Decision struct {
	Verb    string // approve, reject or expire; answer or decline, for a request to a human
	Amount  string // "": all that was asked for
	Note    string
	Answers map[string]string
}

// User is who writes to the agent: "" for a customer, or a [Colleague].
type User string

// Colleague is somebody of the shop.
const Colleague User = "colleague"

// A ToolCall is a tool and its arguments.
type ToolCall struct {
	Tool string         `yaml:"tool"`
	Args map[string]any `yaml:"args"`
}

// Pattern is a regular expression that ignores case. The zero Pattern matches
// everything.
type Pattern struct{ *regexp.Regexp }

// Matches reports whether text holds the pattern.
func (p Pattern) Matches(text string) bool { return p.Regexp == nil || p.MatchString(text) }

func (p Pattern) String() string {
	if p.Regexp == nil {
		return ""
	}
	return strings.TrimPrefix(p.Regexp.String(), "(?is)")
}

// Wait is how far the clock moves.
type Wait time.Duration

// Policy is the text of a policy file.
type Policy string

// Rows are lines of the native import format.
type Rows string

// token is who the agent is.
func (s Scenario) token() string {
	if s.Token != nil {
		return *s.Token
	}
	return map[string]string{"viewer": fixtures.ViewerToken, "staff": fixtures.StaffToken, "manager": fixtures.ManagerToken}[s.Role]
}

// movesClock reports whether time passes in it, which real programs can't be told.
func (s Scenario) movesClock() bool {
	return slices.ContainsFunc(s.Messages, func(step Step) bool {
		return step.Wait != 0 || step.Decision != nil && step.Decision.Verb == expire
	})
}

// settle puts the decision where it happens and finds what can't be meant.
func (s *Scenario) settle() error {
	if err := s.placeDecision(); err != nil {
		return err
	}
	switch {
	case !scenarioID.MatchString(s.ID):
		return fmt.Errorf("id must be like 05-refund-waits: digits or letters and dashes")
	case s.Title == "" || s.Category == "":
		return fmt.Errorf("title and category are needed")
	case (s.Token == nil) == (s.Role == ""):
		return fmt.Errorf("role or token is needed, and not both")
	case s.Role != "" && s.token() == "":
		return fmt.Errorf("role must be viewer, staff or manager")
	case len(s.Messages) == 0 || s.Messages[len(s.Messages)-1].Say == "" || s.Messages[0].Say == "":
		return fmt.Errorf("messages must begin and end with what the customer writes")
	case len(s.Forbids) == 0:
		return fmt.Errorf("forbids is needed: a call that would be one act too many")
	case len(s.Expect.ReplyIncludes) == 0:
		return fmt.Errorf("expect.reply_includes is needed: doing nothing must not pass")
	}
	if (s.Attack == "") != (s.Clean == "") {
		return fmt.Errorf("attack and clean are needed together")
	}
	if err := s.checkHuman(); err != nil {
		return err
	}
	return s.knownNames()
}

// placeDecision puts what the operator does where it happens.
func (s *Scenario) placeDecision() error {
	given := decisions(s.Decision, s.Answers, s.Decline)
	switch {
	case len(given) == 0:
		return nil
	case len(given) > 1:
		return fmt.Errorf("decision, answers and decline: give one, and further ones among the messages")
	case len(s.Messages) < 2:
		return fmt.Errorf("decision: nobody hears of it; write a second message")
	}
	s.Messages = slices.Insert(s.Messages, 1, Step{Decision: given[0]})
	s.Decision, s.Answers, s.Decline = nil, nil, ""
	return nil
}

var scenarioID = regexp.MustCompile(`^[0-9a-z]+(-[0-9a-z]+)+$`)

// knownNames checks the names of tools: a slip would make a check that never fails.
func (s *Scenario) knownNames() error {
	names := slices.Clone(s.Expect.ToolsNotCalled)
	for _, either := range s.Expect.ToolsCalled {
		names = append(names, strings.Split(either, "|")...)
	}
	for tool := range s.Expect.Outcomes {
		names = append(names, tool)
	}
	for _, call := range s.History {
		names = append(names, call.Tool)
	}
	if s.LoseAnswer != "" {
		names = append(names, s.LoseAnswer)
	}
	offered, err := tools.Toolsets(s.Toolsets)
	if err != nil {
		return fmt.Errorf("toolsets: %w", err)
	}
	for _, name := range names {
		if name != unknownTool && !slices.ContainsFunc(offered, func(t *tools.Tool) bool { return t.Name == name }) {
			return fmt.Errorf("no tool is named %q", name)
		}
	}
	for id, o := range s.Expect.Orders {
		for field := range o.Address {
			if _, ok := addressField(store.Order{}, field); !ok {
				return fmt.Errorf("orders: %s: an address has no %q", id, field)
			}
		}
	}
	return nil
}

// unknownTool is how the audit log calls a tool that there isn't.
const unknownTool = "unknown"
