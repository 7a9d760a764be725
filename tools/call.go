package tools

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
)

// Caller is what a call says about where it comes from. Who it is and what it
// may do is looked up anew each time.
type Caller struct {
	Token    string
	Customer string // the shop's id of the customer it claims to act for, or ""
	Door     audit.Door
	Session  string // one per server process
	Client   string // the client's own name for itself

	// Progress, if set, is told how long a call has waited for a human, and how
	// long it will at most.
	Progress func(waited, most time.Duration)
}

// call is one call on its way.
type call struct {
	caller  Caller
	action  string
	tool    *Tool       // nil: there is none of that name
	none    policy.Code // of a call of what there isn't
	raw     json.RawMessage
	arrived time.Time
	print   string // the fingerprint of the arguments
	shown   string // the case that the session knew of when the call arrived
	opened  string // the case that is open now, if a case says the customer
	scope   Scope
	args    any // once they are valid
}

// arrive takes a call in. Unknown names are recorded as one.
func (d *Desk) arrive(caller Caller, tool *Tool, none policy.Code, raw json.RawMessage) *call {
	c := &call{
		caller: caller, action: "unknown", tool: tool, none: none, raw: raw, arrived: time.Now(), shown: d.sessions.shown(caller.Session),
	}
	if c.tool != nil {
		c.action = c.tool.Name
	}
	c.scope.env = d.EnvFile
	c.print = audit.Fingerprint(d.db.Key(), c.action, raw)
	return c
}

// identify looks up who calls, for which customer, and under which rules. The
// customer is the one that the token is pinned to, else the one that the caller
// claims, else the one of the case that an operator opened; the anonymous
// principal acts for nobody.
func (d *Desk) identify(v *store.View, c *call) error {
	entrance, err := v.Enter(c.caller.Token, c.caller.Customer)
	if err != nil {
		return err
	}
	c.scope.View, c.scope.Principal = v, entrance.Principal
	c.scope.Customer, c.opened = "", entrance.Case.ID // a read that is tried again may have had others
	switch {
	case entrance.Principal.Customer != "":
		c.scope.Customer = entrance.Principal.Customer
	case entrance.Case.ID != "":
		d.followCase(c, entrance.Case)
	case entrance.Principal.ID != "":
		c.scope.Customer = entrance.Claimed
	}
	c.scope.Rules, err = d.rules.given(entrance.Policy)
	return err
}

// request is what an approval keeps of the call.
func (c *call) request(p plan) store.Approval {
	return store.Approval{
		Tool: c.tool.Name, Arguments: mustMarshal(c.args), Customer: c.scope.Customer,
		OrderID: c.scope.subject.orderID, Amount: c.scope.subject.amount.Minor, Currency: c.scope.subject.amount.Currency,
		AskedBy: c.scope.Principal.ID, RequestKey: p.repeat, Reasons: p.decision.Reasons,
		Policy: c.scope.Rules.Version, Expires: c.scope.Now.Add(c.scope.Rules.Refund.ApprovalExpires),
	}
}

// entry is the call's row in the audit log.
func (c *call) entry(res Result) audit.Entry {
	return audit.Entry{
		Principal: c.scope.Principal, Door: c.caller.Door, Session: c.caller.Session, Client: c.caller.Client,
		Customer: c.scope.Customer, Action: c.action, OrderID: c.scope.subject.orderID,
		ApprovalID: c.scope.subject.approvalID, Amount: c.scope.subject.amount,
		Outcome: res.Outcome, Code: res.Code, Fingerprint: c.print, Policy: c.scope.Rules.Version,
		Duration: time.Since(c.arrived),
	}
}

// The codes of a call of what there isn't. They are protocol errors and never
// part of a result.
const (
	UnknownTool     policy.Code = "unknown_tool"
	UnknownResource policy.Code = "unknown_resource"
	UnknownPrompt   policy.Code = "unknown_prompt"
)

// Replayed is the code in the audit log of a call that repeated an earlier one
// and got its answer: nothing was done anew.
const Replayed policy.Code = "replayed"

func unknown(code policy.Code) *refusal {
	return &refusal{outcome: audit.Invalid, code: code, message: "There is nothing of that name."}
}

// permissionDenied is built from the registry alone: nothing that a caller sent
// can change a byte of it.
func permissionDenied(t *Tool, has policy.Role) *refusal {
	return &refusal{
		outcome: audit.Denied, code: policy.PermissionDenied, gate: true,
		message: fmt.Sprintf("%s requires role '%s'; this session has role '%s'.", t.Name, t.Role, has),
		facts:   []fact{{"required_role", t.Role}, {"current_role", has}},
	}
}

// noCustomer says who can give the session a customer; or that it has another
// one now, which the agent has to hear of before it does anything for them.
func (c *call) noCustomer() *refusal {
	r := &refusal{outcome: audit.Denied, code: policy.NoCustomer, gate: true}
	if c.opened != "" {
		r.message = fmt.Sprintf("The case changed: an operator opened another one for this session since it last knew its customer. "+
			"Call %s first, then go on for the customer that it shows; nothing was done.", lookupCustomer.Name)
		return r
	}
	how := "an operator gives the session a token of that customer, starts the server with --customer, or opens a case for it"
	switch {
	case c.scope.Principal.ID == "":
		how = "the session's token is missing, unknown, expired or revoked; whoever runs the server sets COUNTERSIGN_TOKEN"
	case c.shown != "":
		how = "its case was closed or has expired; an operator opens the next one"
	}
	r.message = fmt.Sprintf("%s works for one customer, and this session has none. No argument can set it: %s.", c.tool.Name, how)
	return r
}
