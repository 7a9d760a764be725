package tools

import (
	"encoding/json"
	"fmt"

	"countersign/policy"
	"countersign/store"
)

// Replanned is what performing a parked request would do now.
type Replanned struct {
	// Decision is the policy's with a human's yes: it allows or refuses.
	Decision policy.Decision
	// Fits is the most money, in minor units, that it would not refuse.
	Fits int64
	// Held is the money, in minor units, that other requests which wait have reserved.
	Held int64
	// Perform does it, in the transaction it was planned in, and returns what the
	// tool answered.
	Perform func() (json.RawMessage, error)
}

// Replan works out a parked request again, for the principal and customer that
// asked, with the amount in a.ApprovedAmount. It is for the operator's side.
func Replan(tx *store.Tx, rules InForce, a store.Approval) (Replanned, error) {
	tool := find(a.Tool)
	if tool == nil || tool.plan == nil {
		return Replanned{}, fmt.Errorf("%s asks for %s, which this program can't do", a.ID, a.Tool)
	}
	args, problems := tool.decode(a.Arguments)
	if len(problems) > 0 {
		return Replanned{}, fmt.Errorf("arguments of %s: %w", a.ID, invalid(problems...))
	}
	asker, err := tx.Principal(a.AskedBy)
	if err != nil {
		return Replanned{}, fmt.Errorf("who asked for %s: %w", a.ID, err)
	}
	scope := &Scope{View: &tx.View, Rules: rules, Principal: asker, Customer: a.Customer, Approval: &a}
	p, err := tool.plan(scope, args)
	return Replanned{Decision: p.decision, Fits: p.fits, Held: p.held, Perform: func() (json.RawMessage, error) {
		answer, err := p.perform(tx)
		if err != nil {
			return nil, err
		}
		return marshal(answer)
	}}, err
}

func find(name string) *Tool {
	for _, t := range All {
		if t.Name == name {
			return t
		}
	}
	return nil
}
