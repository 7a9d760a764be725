package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"countersign/approvals"
	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/policy"
	"countersign/store"
)

// Desk is where agents' calls arrive. It is safe for concurrent use.
type Desk struct {
	db    *store.DB
	rules *Rulebook
	tools map[string]*Tool

	recorder *audit.Recorder
	sessions sessions
	waiting  waiting

	// EnvFile, if set, is where this process puts answered secrets.
	EnvFile *envfile.File
	// Faulted, if set, is told of faults whose words no caller may read.
	Faulted func(action string, fault error)
}

// NewDesk returns a desk that offers tools on db under the rules in force.
func NewDesk(db *store.DB, rules *Rulebook, tools []*Tool) *Desk {
	d := &Desk{db: db, rules: rules, tools: make(map[string]*Tool, len(tools)), recorder: audit.NewRecorder(db), waiting: newWaiting()}
	for _, t := range tools {
		if d.tools[t.Name] != nil {
			panic("two tools are named " + t.Name)
		}
		d.tools[t.Name] = t
	}
	return d
}

// Call takes one call from its arrival to its audit row: known, role gate,
// tenant gate, validation, plan, policy, act, audit, in this order. Nothing
// that it did is kept and nothing that it read is shown unless its row is
// written.
func (d *Desk) Call(ctx context.Context, caller Caller, name string, raw json.RawMessage) Result {
	return d.take(ctx, d.arrive(caller, d.tools[name], UnknownTool, raw))
}

// Read is [Desk.Call] for a resource. It also returns what kind of text the
// result is, [MIMEText] or [MIMEJSON].
func (d *Desk) Read(ctx context.Context, caller Caller, uri string) (res Result, mime string) {
	r, args := resourceAt(uri)
	return d.take(ctx, d.arrive(caller, r.Tool, UnknownResource, args)), r.MIME
}

// Prompt is [Desk.Call] for a prompt, by its command.
func (d *Desk) Prompt(ctx context.Context, caller Caller, command string, raw json.RawMessage) Result {
	var writer *Tool
	for _, p := range Prompts {
		if p.Command == command {
			writer = p.Tool
		}
	}
	return d.take(ctx, d.arrive(caller, writer, UnknownPrompt, raw))
}

// take is the path of every call, whatever it calls: it waits for a human where
// its tool does, and goes on with what the tool wants called next. If that fails
// its own answer stands: a fault's "nothing was changed" would deny what it did.
func (d *Desk) take(ctx context.Context, c *call) Result {
	d.await(ctx, c)
	res := d.do(ctx, c)
	if !res.IsError && c.tool.follow != nil {
		next := d.followUp(ctx, c, res.answer)
		switched := next.Code == policy.NoCustomer || next.Code == policy.NotFound // while it waited
		if (next.fault == nil || next.Code == policy.EnvFileUnavailable) && !switched {
			return next
		}
	}
	return res
}

// do answers and records a call.
func (d *Desk) do(ctx context.Context, c *call) Result {
	work := d.read
	if c.tool != nil && !c.tool.ReadOnly {
		work = d.write
	}
	res, err := work(ctx, c)
	if err != nil {
		d.fault(c, err)
		return unavailable(err)
	}
	d.showCase(ctx, c, res)
	return res
}

// followUp makes the call that a tool wants made after its own, for the case
// that the session knew of when that one arrived.
func (d *Desk) followUp(ctx context.Context, c *call, answer any) Result {
	name, arguments := c.tool.follow(c.args, answer)
	next := d.arrive(c.caller, d.tools[name], UnknownTool, mustMarshal(arguments))
	next.shown = c.shown
	d.await(ctx, next)
	return d.do(ctx, next)
}

// read answers a call on one state of the database and then records it, by a
// commit that others who read at the same time may share.
func (d *Desk) read(ctx context.Context, c *call) (res Result, err error) {
	if err := ctx.Err(); err != nil {
		return res, err
	}
	err = d.recorder.Record(func(v *store.View) audit.Entry {
		res = d.guard(c, func() Result {
			if err := d.admit(v, c); err != nil {
				return failed(err)
			}
			answer, err := c.tool.answer(&c.scope, c.args)
			if err != nil {
				return failed(err)
			}
			return succeeded(answer)
		})
		return c.entry(res)
	})
	return res, err
}

// write does what a call asks, or parks it for a human, and records it in the
// same transaction. What it wrote is undone if it fails, so that the audit row
// of the failure still commits.
func (d *Desk) write(ctx context.Context, c *call) (res Result, err error) {
	err = d.db.Tx(ctx, func(tx *store.Tx) (err error) {
		err = tx.Savepoint(func() (keep bool) {
			res = d.guard(c, func() Result {
				if err := d.admit(&tx.View, c); err != nil {
					return failed(err)
				}
				return d.act(tx, c)
			})
			return !res.IsError
		})
		if err == nil {
			err = audit.Append(tx, c.entry(res))
		}
		return err
	})
	return res, err
}

// admit takes a call through the gates and its arguments through validation.
func (d *Desk) admit(v *store.View, c *call) error {
	if err := d.identify(v, c); err != nil {
		return err
	}
	if c.tool == nil {
		return unknown(c.none)
	}
	if !c.scope.Principal.Role.AtLeast(c.tool.Role) {
		return permissionDenied(c.tool, c.scope.Principal.Role)
	}
	switched := c.opened != "" && !c.tool.ReadOnly // what it writes would be nobody's, and meant for somebody
	if c.scope.Customer == "" && (c.tool.NeedsCustomer || switched) {
		return c.noCustomer()
	}
	args, problems := c.tool.decode(c.raw)
	if len(problems) > 0 {
		return invalid(problems...)
	}
	c.args = args
	return nil
}

// act plans what an admitted call would do, asks the policy, and performs it or
// parks it.
func (d *Desk) act(tx *store.Tx, c *call) Result {
	p, err := c.tool.plan(&c.scope, c.args)
	switch {
	case err != nil:
		return failed(err)
	case p.earlier != nil:
		res := succeeded(p.earlier)
		res.Code = Replayed
		return res
	}
	switch p.decision.Outcome {
	case policy.Allow:
		answer, err := p.perform(tx)
		if err != nil {
			return failed(err)
		}
		return succeeded(answer)
	case policy.Ask:
		parked, err := approvals.Park(tx, c.request(p))
		if err != nil {
			return failed(err)
		}
		c.scope.subject.approvalID = parked.ID
		return succeeded(p.parked(parked))
	default:
		return failed(refusedBy(p.decision, p.facts...))
	}
}

// guard runs act, turns a panic into an internal error, and reports faults.
func (d *Desk) guard(c *call, act func() Result) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = failed(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		if res.fault != nil {
			d.fault(c, res.fault)
		}
	}()
	return act()
}

func (d *Desk) fault(c *call, err error) {
	if d.Faulted != nil && !errors.Is(err, context.Canceled) {
		d.Faulted(c.action, err)
	}
}
