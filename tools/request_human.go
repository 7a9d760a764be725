package tools

import (
	"errors"
	"fmt"
	"strings"

	"countersign/approvals"
	"countersign/audit"
	"countersign/policy"
	"countersign/store"
)

// RequestHumanArgs are the arguments of request_human.
type RequestHumanArgs struct {
	Title          string         `json:"title" jsonschema:"minLength=3,maxLength=200"`
	Instructions   string         `json:"instructions" jsonschema:"minLength=3,maxLength=4000" jsonschema_description:"What the person has to do, step by step."`
	Context        string         `json:"context,omitempty" jsonschema:"maxLength=4000" jsonschema_description:"Why it is needed."`
	Category       string         `json:"category" jsonschema:"minLength=1,maxLength=40,example=login code"`
	Fields         []RequestField `json:"fields" jsonschema:"maxItems=50" jsonschema_description:"What the person enters: the form."`
	TimeoutSeconds *int           `json:"timeout_seconds,omitempty" jsonschema:"minimum=0,maximum=45,default=20" jsonschema_description:"How long to wait for the answer."`
}

// RequestField is one field of a form.
type RequestField struct {
	Name     string   `json:"name" jsonschema:"minLength=1,maxLength=64,example=LOGIN_CODE"`
	Label    string   `json:"label,omitempty" jsonschema:"maxLength=200"`
	Type     string   `json:"type" jsonschema:"enum=string,enum=number,enum=boolean,enum=choice,enum=secret" jsonschema_description:"A secret is written to the server's .env under its name; you get a reference."`
	Required bool     `json:"required,omitempty"`
	Options  []string `json:"options,omitempty" jsonschema:"maxItems=50" jsonschema_description:"Of a choice."`
	Pattern  string   `json:"pattern,omitempty" jsonschema:"maxLength=300" jsonschema_description:"RE2 that the whole of a string or secret must match."`
}

// FiledAnswer is the answer of request_human: where nobody has answered yet a
// request that waits, else what check_request says of it.
type FiledAnswer struct{ RequestState }

func (FiledAnswer) outcome() audit.Outcome { return audit.PendingApproval }

// usualTimeout is how many seconds request_human waits where nothing is said.
const usualTimeout = 20

var requestHuman = define(spec[RequestHumanArgs, FiledAnswer]{
	Name:  store.RequestTool,
	Title: "Ask a human for something",
	Description: "Asks a person of the shop for what only a person can give (a login code, a captcha, a password, a choice, a confirmation) by a form, and waits for it. " +
		"While status is pending nobody has answered: call check_request later. The same again is the same request.",
	Hint:       "ask a person, need a key, login code, captcha",
	Role:       policy.Staff,
	Idempotent: true,
	Plan:       planRequest,
	Follow: func(in RequestHumanArgs, out FiledAnswer) (string, any) {
		wait := usualTimeout
		if in.TimeoutSeconds != nil {
			wait = *in.TimeoutSeconds
		}
		return checkRequestName, CheckRequestArgs{RequestID: out.RequestID, WaitSeconds: wait}
	},
})

func planRequest(s *Scope, in RequestHumanArgs) (p Plan[FiledAnswer], err error) {
	form := in.form()
	if problems := append(blanks(in), form.Check()...); len(problems) > 0 {
		return p, invalid(problems...)
	}
	if form.HasSecret() && s.env == nil {
		return p, noEnvFile("Nothing was asked.")
	}
	if p.Repeat, err = requestKey(s, form); err != nil {
		return p, err
	}
	earlier, err := s.OpenRequest(p.Repeat)
	switch {
	case err == nil:
		s.subject.approvalID = earlier.ID
		answer := filed(earlier)
		p.Earlier = &answer
		return p, nil
	case !errors.Is(err, store.ErrNotFound):
		return p, err
	}
	p.Decision = policy.Decision{Outcome: policy.Ask, Reasons: []string{"only a human can give what is asked for"}}
	p.Parked = filed
	return p, nil
}

func (in RequestHumanArgs) form() approvals.Form {
	form := approvals.Form{Title: in.Title, Instructions: in.Instructions, Context: in.Context, Category: in.Category}
	for _, f := range in.Fields {
		form.Fields = append(form.Fields, approvals.Field(f))
	}
	return form
}

// blanks are the texts in which nothing can be read.
func blanks(in RequestHumanArgs) (problems []policy.Problem) {
	for path, text := range map[string]string{"title": in.Title, "instructions": in.Instructions, "category": in.Category} {
		if plainText(text) == "" {
			problems = append(problems, policy.Problem{Path: path, Message: "must say something"})
		}
	}
	return problems
}

// requestKey is equal for the same form of the same principal and customer.
func requestKey(s *Scope, form approvals.Form) (string, error) {
	text, err := marshal(form)
	return keyOf(store.RequestTool, s.Principal.ID, s.Customer, string(text)), err
}

func filed(a store.Approval) FiledAnswer {
	return FiledAnswer{RequestState{Status: store.Pending, RequestID: a.ID, ExpiresAt: rfc3339(a.Expires), What: waitsForHuman}}
}

const waitsForHuman = "Nobody has answered yet, and nothing of what you asked for is there. Call check_request with this request_id later; don't file it again in other words."

// noEnvFile refuses what needs a place for secrets. state says how things stand.
func noEnvFile(state string) *refusal {
	return &refusal{
		outcome: audit.Denied, code: policy.EnvFileUnavailable,
		message: strings.TrimSpace(fmt.Sprintf("This server has no place for secrets: whoever runs it has to start it with --env-file. %s", state)),
	}
}
