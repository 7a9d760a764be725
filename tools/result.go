package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
)

// Result is what a caller gets: compact JSON, and whether it is a refusal or an
// error. Outcome and Code are the audit row's.
type Result struct {
	JSON    json.RawMessage
	IsError bool
	Outcome audit.Outcome
	Code    policy.Code

	answer any   // what JSON was made of
	fault  error // why it couldn't be answered or recorded, for the log alone
}

// refusal is an error that an agent may read: why a call was not done and what
// would work instead.
type refusal struct {
	outcome audit.Outcome
	code    policy.Code
	message string
	facts   []fact
	gate    bool  // refused before the arguments were looked at
	fault   error // what whoever runs the server has to mend, for the log alone
}

// fact is one more field of a refusal's JSON.
type fact struct {
	name  string
	value any
}

func (r *refusal) Error() string { return string(r.code) + ": " + r.message }

// mostProblems is how many problems a refusal lists; more than that is no slip.
const mostProblems = 20

// invalid refuses arguments for the problems that they have.
func invalid(problems ...policy.Problem) *refusal {
	listed := problems[:min(len(problems), mostProblems)]
	var texts []string
	for _, p := range listed {
		texts = append(texts, strings.TrimSpace(p.Path+" "+p.Message))
	}
	if more := len(problems) - len(listed); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return &refusal{
		outcome: audit.Invalid, code: policy.InvalidArguments,
		message: "Mend the arguments and call again: " + strings.Join(texts, "; ") + ".",
		facts:   []fact{{"problems", listed}},
	}
}

// refusedBy turns a policy's refusal into what the agent reads.
func refusedBy(d policy.Decision, facts ...fact) *refusal {
	outcome := audit.Denied
	if d.Code == policy.InvalidArguments {
		outcome = audit.Invalid
	}
	if len(d.Problems) > 0 {
		facts = append(facts, fact{"problems", d.Problems})
	}
	return &refusal{outcome: outcome, code: d.Code, message: sentence(d.Message), facts: facts}
}

// sentence starts a policy's text with a capital and ends it with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// succeeded is the result of an answer. Its outcome is "ok" unless the answer
// knows better.
func succeeded(answer any) Result {
	text, err := marshalShort(answer)
	if err != nil {
		return failed(err)
	}
	res := Result{JSON: text, Outcome: audit.OK, answer: answer}
	if a, ok := answer.(interface{ outcome() audit.Outcome }); ok {
		res.Outcome = a.outcome()
	}
	return res
}

// failed is the only place where an error becomes text for an agent. What isn't
// made for it becomes "internal": no words of Go or SQLite get through.
func failed(err error) Result {
	r := &refusal{outcome: audit.Failed, code: policy.Internal, message: "Something failed on our side and nothing was changed. Say so, and use escalate_to_human if you have it."}
	var fault error
	var readable *refusal
	switch {
	case errors.As(err, &readable):
		r, fault = readable, readable.fault
	case errors.Is(err, store.ErrNotFound):
		r.code = policy.NotFound
		r.message = "This customer has nothing of that id. Check it with the customer, or see lookup_customer for what they have."
		if errors.Is(err, store.ErrForeignID) {
			r.outcome = audit.Denied
		}
	case errors.Is(err, store.ErrLocked):
		r.code, r.message = policy.Busy, "Another process is writing; nothing was changed. Call again in a few seconds."
	default:
		fault = err
	}
	return Result{JSON: r.json(), IsError: true, Outcome: r.outcome, Code: r.code, fault: fault}
}

// unavailable is the result of a call whose audit row could not be written.
func unavailable(err error) Result {
	said := err
	if !errors.Is(err, store.ErrLocked) {
		said = &refusal{outcome: audit.Failed, code: policy.AuditUnavailable,
			message: "The audit log can't be written, so nothing was done and nothing is shown. Say that you can't help right now; the shop's operators must mend it."}
	}
	res := failed(said)
	res.fault = err
	return res
}

func (r *refusal) json() json.RawMessage {
	fields := []fact{{"error", r.code}, {"message", r.message}}
	if r.gate {
		fields = append([]fact{{"allowed", false}}, fields...)
	}
	var b bytes.Buffer
	separator := "{"
	for _, f := range append(fields, r.facts...) {
		fmt.Fprintf(&b, "%s%q:%s", separator, f.name, mustMarshal(f.value))
		separator = ","
	}
	b.WriteByte('}')
	return b.Bytes()
}

// mustMarshal is marshal for what always marshals: strings and numbers, and what
// was decoded from JSON.
func mustMarshal(value any) json.RawMessage {
	text, err := marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T: %v", value, err))
	}
	return text
}

// marshal is json.Marshal that leaves <, > and & readable: nothing here is HTML.
func marshal(value any) (json.RawMessage, error) {
	b := bytes.NewBuffer(make([]byte, 0, 1024)) // most answers fit
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
