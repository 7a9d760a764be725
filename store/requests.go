package store

import (
	"encoding/json"
	"errors"
	"fmt"
)

// RequestTool is the tool that asks a human for what only a human can give. Its
// requests are kept among the approvals: one mechanism parks, decides and
// expires both. Arguments is then the form, and Result the sealed answer.
const RequestTool = "request_human"

// States of a request that differ from an approval's in their word.
const (
	Answered = "answered" // approved
	Declined = "declined" // rejected
)

// prefixOf is how the ids of what a tool parks start.
func prefixOf(tool string) string {
	if tool == RequestTool {
		return "RQ-"
	}
	return "AP-"
}

// StateWord is a's state in the word that fits what it is.
func (a Approval) StateWord() string {
	if a.Tool == RequestTool {
		switch a.State {
		case Approved:
			return Answered
		case Rejected:
			return Declined
		}
	}
	return a.State
}

// Request returns the request of an id, whoever's it is. It is for operators.
func (v *View) Request(id string) (Approval, error) {
	return first(v.approvals("a.id = ? and a.tool = ?", id, RequestTool))
}

// Requests returns requests in the order they were filed; only those that wait,
// or all.
func (v *View) Requests(all bool) ([]Approval, error) { return v.parked("a.tool = ?", all) }

// Parked returns the approval or request of an id. It is for operators.
func (v *View) Parked(id string) (Approval, error) { return first(v.approvals("a.id = ?", id)) }

// OwnRequest returns the request that a principal has filed for a customer (""
// where it acted for none). An unknown id gives [ErrNotFound], another's
// [ErrForeignID].
func (v *View) OwnRequest(principal, customer, id string) (Approval, error) {
	a, err := first(v.approvals("a.id = ? and a.tool = ? and a.asked_by = ? and coalesce(a.customer, '') = ?",
		id, RequestTool, principal, customer))
	if errors.Is(err, ErrNotFound) {
		err = v.foreign("select 1 from approvals where id = ?", id)
	}
	return a, err
}

// OpenRequest returns the newest request of this key that waits, or whose
// outcome nobody has collected; [ErrNotFound] where there is none.
func (v *View) OpenRequest(key string) (Approval, error) {
	return first(v.approvals(`a.request_key = ? and a.tool = ? and a.collected_at is null
		and (a.state <> 'pending' or a.expires_at > ?) order by a.seq desc limit 1`, key, RequestTool, stamp(v.Now)))
}

// CollectedSince returns the answered requests that agents have collected, and
// that a human decided later than a; not those that were erased.
func (v *View) CollectedSince(a Approval) ([]Approval, error) {
	return v.approvals("a.tool = ? and a.state = 'approved' and a.collected_at is not null and a.result <> '' and a.decided_at > ? order by a.decided_at",
		RequestTool, stamp(a.Decided))
}

// Collect notes that the agent gets a request's outcome now, with what stays of
// its answer.
func (tx *Tx) Collect(id string, result json.RawMessage) error {
	err := tx.execOne("update approvals set result = ?, collected_at = coalesce(collected_at, ?) where id = ? and tool = ?",
		string(result), stamp(tx.Now), id, RequestTool)
	if err != nil {
		return fmt.Errorf("collecting %s: %w", id, err)
	}
	return nil
}
