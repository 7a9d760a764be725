package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"countersign/approvals"
	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/policy"
	"countersign/store"
)

// CheckRequestArgs are the arguments of check_request.
type CheckRequestArgs struct {
	RequestID   string `json:"request_id" jsonschema:"minLength=1,maxLength=40,example=RQ-7VQG9SWMW9"`
	WaitSeconds int    `json:"wait_seconds,omitempty" jsonschema:"minimum=0,maximum=45,default=0" jsonschema_description:"Wait so long for a decision."`
}

// CheckAnswer is the answer of check_request.
type CheckAnswer struct {
	RequestState
	Approval *ApprovalState `json:"approval,omitempty"`
}

// RequestState is how a request stands.
type RequestState struct {
	Status    string         `json:"status"` // pending, answered, declined or expired; of an approval: its state
	RequestID string         `json:"request_id,omitempty"`
	Answer    map[string]any `json:"answer,omitempty"` // by the field's name; a secret is a reference
	Operator  *OperatorNote  `json:"operator,omitempty"`
	DecidedAt string         `json:"decided_at,omitempty"`
	ExpiresAt string         `json:"expires_at,omitempty"` // while pending
	What      string         `json:"what_this_means"`
}

const checkRequestName = "check_request"

var checkRequest = define(spec[CheckRequestArgs, CheckAnswer]{
	Name:  checkRequestName,
	Title: "Check a request to a human",
	Description: "Tells how a request to a human stands (the RQ id of request_human, or the AP id of a refund's approval) and gives the answer once there is one. " +
		"It can wait for it. Secrets are written to the server's .env, and only their names are given.",
	Hint:       "has somebody answered, is it approved yet",
	Role:       policy.Viewer,
	Idempotent: true,
	Plan:       planCheck,
	Wait: func(s *Scope, in CheckRequestArgs) (time.Duration, error) {
		a, err := s.parked(in.RequestID)
		if err != nil || a.State != store.Pending {
			return 0, err
		}
		return time.Duration(in.WaitSeconds) * time.Second, nil
	},
})

// parked is a tool's only way to what was asked of a human: the principal's own
// request, or the customer's approval.
func (s *Scope) parked(id string) (a store.Approval, err error) {
	id = strings.ToUpper(strings.TrimSpace(id))
	if strings.HasPrefix(id, "AP-") {
		a, err = s.CustomersApproval(s.Customer, id)
	} else {
		a, err = s.OwnRequest(s.Principal.ID, s.Customer, id)
	}
	if err == nil {
		s.subject.approvalID, s.subject.orderID = a.ID, a.OrderID
	}
	return a, err
}

func planCheck(s *Scope, in CheckRequestArgs) (p Plan[CheckAnswer], err error) {
	a, err := s.parked(in.RequestID)
	if errors.Is(err, store.ErrNotFound) {
		return p, unknownRequest(err)
	}
	if err != nil {
		return p, err
	}
	p.Decision.Outcome = policy.Allow
	if a.Tool != store.RequestTool {
		p.Perform = func(*store.Tx) (CheckAnswer, error) { return checkedApproval(a), nil }
		return p, nil
	}
	state := CheckAnswer{RequestState: requestState(a)}
	if a.State != store.Approved {
		p.Perform = func(tx *store.Tx) (CheckAnswer, error) {
			if a.State == store.Rejected {
				return state, tx.Collect(a.ID, a.Result)
			}
			return state, nil
		}
		return p, nil
	}
	answer, err := s.open(a)
	if err != nil {
		return p, err
	}
	if len(answer.Secrets) > 0 && s.env == nil {
		return p, noEnvFile("The answer is kept until a server that has one collects it.")
	}
	p.Perform = func(tx *store.Tx) (CheckAnswer, error) {
		err := s.collect(tx, a, &answer)
		state.Answer = s.answered(answer)
		return state, err
	}
	return p, nil
}

// unknownRequest refuses an id that isn't there for this session, whoever's it is.
func unknownRequest(err error) *refusal {
	r := &refusal{
		outcome: audit.Failed, code: policy.NotFound,
		message: "Nothing of that id was asked in this session's name. Take the request_id from the answer of request_human, or the approval_id of a refund.",
	}
	if errors.Is(err, store.ErrForeignID) {
		r.outcome = audit.Denied
	}
	return r
}

// open unseals what a human answered.
func (s *Scope) open(a store.Approval) (answer approvals.Answer, err error) {
	key, err := s.Key()
	var text []byte
	if err == nil {
		text, err = approvals.Open(key, a.ID, string(a.Result))
	}
	switch {
	case errors.Is(err, store.ErrKey), errors.Is(err, approvals.ErrWrongKey):
		return answer, unreadable("it was sealed under another key than this server's. It can be read once the shop's operators put that key back; if they no longer have it,")
	case errors.Is(err, approvals.ErrSeal):
		return answer, unreadable("it is damaged. Unless the shop's operators have a backup of it,")
	}
	if err == nil {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		err = decoder.Decode(&answer)
	}
	if err != nil {
		return answer, fmt.Errorf("answer of %s: %w", a.ID, err)
	}
	return answer, nil
}

// unreadable refuses to hand out an answer that can't be opened. why ends where
// it says when to ask again.
func unreadable(why string) *refusal {
	return &refusal{
		outcome: audit.Failed, code: policy.AnswerUnreadable,
		message: "A human has answered, but this server can't open the answer: " + why + " ask again with request_human.",
	}
}

// collect writes the secrets of an answer to the .env file and then keeps the
// answer without them. Where the file can't be written nothing has changed; where
// the transaction fails later, the same is written again the next time.
func (s *Scope) collect(tx *store.Tx, a store.Approval, answer *approvals.Answer) error {
	if !a.Collected.IsZero() && len(answer.Secrets) == 0 {
		return nil
	}
	if len(answer.Secrets) > 0 {
		if err := s.write(a, answer); err != nil {
			return err
		}
	}
	text, err := marshal(answer)
	if err != nil {
		return err
	}
	key, err := s.Key()
	if err != nil {
		return err
	}
	sealed, err := approvals.Seal(key, a.ID, text)
	if err != nil {
		return err
	}
	return tx.Collect(a.ID, json.RawMessage(sealed))
}

// write puts the secrets of an answer into the .env file, but for those that the
// file has from an answer that a human gave later.
func (s *Scope) write(a store.Approval, answer *approvals.Answer) error {
	place := s.env.Place()
	newer, err := s.writtenSince(a, place)
	if err != nil {
		return err
	}
	var variables []envfile.Variable
	answer.Written = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(answer.Secrets)) {
		answer.Written[name] = place
		if newer[name] {
			answer.Passed = append(answer.Passed, name)
			continue
		}
		variables = append(variables, envfile.Variable{Name: name, Value: answer.Secrets[name]})
	}
	if len(variables) > 0 {
		if err := s.env.Put(variables); err != nil {
			return unwritten(s.env.Name(), err)
		}
	}
	answer.Secrets = nil
	return nil
}

// writtenSince returns the secrets that a file got from answers which humans gave
// later than this one, to whomever.
func (s *Scope) writtenSince(a store.Approval, place string) (map[string]bool, error) {
	later, err := s.CollectedSince(a)
	names := map[string]bool{}
	for _, other := range later {
		answer, err := s.open(other)
		if err != nil {
			return nil, err
		}
		for name, file := range answer.Written {
			names[name] = names[name] || file == place
		}
	}
	return names, err
}

// answered is what the agent gets of an answer. Of a secret it gets where that
// stands: a file of another server's is named by its path.
func (s *Scope) answered(a approvals.Answer) map[string]any {
	values := map[string]any{}
	for name, value := range a.Values {
		if text, ok := value.(string); ok {
			value = Visible(text)
		}
		values[name] = value
	}
	for name, path := range a.Written {
		file, state := "another server's "+path, "written to"
		if s.env != nil && s.env.Place() == path {
			file = s.env.Name()
		}
		if slices.Contains(a.Passed, name) {
			state = fmt.Sprintf("a newer answer for ${%s} is in the file already:", name)
		}
		values[name] = fmt.Sprintf("<%s %s; use ${%s}>", state, Visible(file), name)
	}
	return values
}

func requestState(a store.Approval) RequestState {
	state := RequestState{Status: a.StateWord(), RequestID: a.ID, DecidedAt: rfc3339(a.Decided), What: whatRequest[a.State]}
	if a.State == store.Pending {
		state.ExpiresAt = rfc3339(a.Expires)
	}
	if a.DecidedByName != "" {
		state.Operator = operatorNote(a)
	}
	return state
}

var whatRequest = map[string]string{
	store.Pending:  waitsForHuman,
	store.Approved: "A person of the shop entered this. A secret stands in the file that its reference names: use it from there, and never print it.",
	store.Rejected: "A person has declined; their note says why. Go on without it, and don't ask for the same again.",
	store.Expired:  "Nobody answered in time. File it again only if it is still needed.",
}

func checkedApproval(a store.Approval) CheckAnswer {
	state := approvalState(a)
	return CheckAnswer{RequestState{Status: a.State, What: whatApproval[a.State]}, &state}
}

var whatApproval = map[string]string{
	store.Pending:  "Nobody has decided yet, and nothing has been done.",
	store.Approved: "A human has approved it, and it is done. The same call as before gives its result.",
	store.Rejected: "A human has rejected it, and nothing has been done. Tell the customer so and why.",
	store.Expired:  "Nobody decided in time, and nothing has been done.",
	store.Stale:    "Nothing of it could be done any more when a human looked at it.",
}
