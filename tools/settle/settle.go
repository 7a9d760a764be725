// Package settle is the operator's only way in: it decides what waits for a
// human. The server doesn't import it, so no agent's call can reach it.
package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
)

// Office is where an operator works on a database.
type Office struct {
	DB     *store.DB
	Rules  *tools.Rulebook
	Caller tools.Caller // its token says who the operator is

	// AgentShell tells that an agent seems to run this program. Then nothing that
	// needs a manager is done, and no case opened, whatever the token.
	AgentShell bool
}

// Kind says what stood in an operator's way.
type Kind int

// The kinds of an [Error].
const (
	NotPermitted Kind = iota + 1
	NotFound
	Conflict // decided already, expired, or it doesn't fit any more
	Invalid  // what the operator sent makes no sense
	Failed   // it was tried and can't be done
)

// Error is a refusal that an operator may read. The attempt is in the audit log.
type Error struct {
	Kind    Kind
	Code    policy.Code
	Message string
}

func (e *Error) Error() string { return e.Message }

// Codes of the audit rows of an operator's refused attempts, beside policy's.
const (
	FourEyes       policy.Code = "four_eyes"
	AgentShell     policy.Code = "agent_shell"
	AlreadyDecided policy.Code = "already_decided"
	RequestExpired policy.Code = "request_expired"
	RequestStale   policy.Code = "request_stale"
	RequestAltered policy.Code = "request_altered"
	AlreadyClosed  policy.Code = "already_closed"
	KeyGiven       policy.Code = "key_given"
	NameInUse      policy.Code = "name_in_use"
	TokenEnded     policy.Code = "token_ended"
	SameRole       policy.Code = "same_role"
	LastManager    policy.Code = "last_manager"
	Pinned         policy.Code = "pinned"
	Ambiguous      policy.Code = "ambiguous"
	NoCase         policy.Code = "no_case"
	StillWaits     policy.Code = "still_waits"
	CustomerErased policy.Code = "customer_erased"
)

// Do runs work for an operator of at least role min, in one transaction with
// the audit row of action. An *[Error] from work is recorded as the row's
// outcome, with whatever work wrote before; after any other error nothing
// has happened.
func (o *Office) Do(ctx context.Context, action string, min policy.Role, work func(*Session) error) error {
	arrived := time.Now()
	var refused *Error
	err := o.DB.Tx(ctx, func(tx *store.Tx) error {
		s := &Session{Tx: tx, Entry: audit.Entry{Door: o.Caller.Door, Session: o.Caller.Session, Action: action, Outcome: audit.OK}}
		err := o.enter(s, action, min)
		if err == nil {
			err = work(s)
		}
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		if refused != nil {
			s.Entry.Outcome, s.Entry.Code = outcomeOf(refused), refused.Code
		}
		s.Entry.Duration = time.Since(arrived)
		return audit.Append(tx, s.Entry)
	})
	if err == nil && refused != nil {
		return refused
	}
	return err
}

// Session is an operator at work: a transaction, who it is, the rules in force,
// and the audit row that will be written.
type Session struct {
	*store.Tx
	Operator store.Principal
	Rules    tools.InForce
	Entry    audit.Entry
}

// enter is the gate of every operator command.
func (o *Office) enter(s *Session, action string, min policy.Role) (err error) {
	if s.Rules, err = o.Rules.InForce(&s.View); err != nil {
		return err
	}
	if s.Operator, err = s.PrincipalByToken(o.Caller.Token); err != nil {
		return err
	}
	s.Entry.Principal, s.Entry.Policy = s.Operator, s.Rules.Version
	if min == policy.Manager {
		if err := o.byPerson(action); err != nil {
			return err
		}
	}
	return permitted(s.Operator, action, min)
}

// byPerson refuses what an agent seems to run.
func (o *Office) byPerson(action string) error {
	if !o.AgentShell {
		return nil
	}
	return &Error{Kind: NotPermitted, Code: AgentShell, Message: fmt.Sprintf(
		"%q is for people: this shell seems to be an agent's; run it in a terminal of your own", action)}
}

// Permit checks an operator for a command that changes nothing.
func (o *Office) Permit(ctx context.Context, action string, min policy.Role) error {
	return o.DB.View(ctx, func(v *store.View) error {
		p, err := v.PrincipalByToken(o.Caller.Token)
		if err != nil {
			return err
		}
		return permitted(p, action, min)
	})
}

func permitted(p store.Principal, action string, min policy.Role) error {
	if p.Kind == policy.Operator && p.Role.AtLeast(min) {
		return nil
	}
	this := fmt.Sprintf("this token is for %s %q of role %s", p.Kind, p.Name, p.Role)
	if p.ID == "" {
		this = "no token that holds was given; set COUNTERSIGN_TOKEN, or use the account that ran countersign init"
	}
	return &Error{Kind: NotPermitted, Code: policy.PermissionDenied, Message: fmt.Sprintf(
		"%q needs an operator of role %s; %s", action, min, this)}
}

func outcomeOf(e *Error) audit.Outcome {
	switch e.Kind {
	case NotFound, Failed:
		return audit.Failed
	case Invalid:
		return audit.Invalid
	}
	return audit.Denied
}

func notFound(message string) *Error {
	return &Error{Kind: NotFound, Code: policy.NotFound, Message: message}
}

func invalid(format string, args ...any) *Error {
	return &Error{Kind: Invalid, Code: policy.InvalidArguments, Message: fmt.Sprintf(format, args...)}
}

func conflict(code policy.Code, format string, args ...any) *Error {
	return &Error{Kind: Conflict, Code: code, Message: fmt.Sprintf(format, args...)}
}
