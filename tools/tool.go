package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	"countersign/approvals/envfile"
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// Tool is one entry of the registry. Everything that the gates, the tool list
// and the registry-wide tests need is in it; make one with define.
type Tool struct {
	Name          string
	Title         string
	Description   string // for a model: what it does, when to use it, what it never does
	Hint          string // further words that people use for it, for clients that search for tools
	Category      string // of what its approvals are about, for people; "" where it parks none
	Role          policy.Role
	NeedsCustomer bool
	ReadOnly      bool
	Destructive   bool
	Idempotent    bool

	schema  func() schema // derived when it is first needed
	answer  func(s *Scope, args any) (any, error)
	plan    func(s *Scope, args any) (plan, error)
	wait    func(s *Scope, args any) (time.Duration, error)
	follow  func(args, answer any) (tool string, arguments any)
	args    reflect.Type
	answers reflect.Type
}

// spec is how a tool declares itself: exactly one of Answer, for a tool that
// only reads, and Plan, for one that writes.
type spec[In, Out any] struct {
	Name          string
	Title         string
	Description   string
	Hint          string
	Category      string
	Role          policy.Role
	NeedsCustomer bool
	Destructive   bool
	Idempotent    bool

	// Answer reads and returns the answer.
	Answer func(s *Scope, in In) (Out, error)
	// Plan works out what the call would do. It reads and decides, and changes
	// nothing.
	Plan func(s *Scope, in In) (Plan[Out], error)

	// Wait, if set, says how long the call may wait for a human before it is
	// planned: zero once there is nothing to wait for. It is asked again and again.
	Wait func(s *Scope, in In) (time.Duration, error)
	// Follow, if set, names a call that is made once this one is committed. Its
	// answer is given in place of this one's.
	Follow func(in In, out Out) (tool string, arguments any)
}

// Plan is what a call would do and what the policy says to it.
type Plan[Out any] struct {
	// Decision is the policy's, on the facts of this moment. A refusal carries Facts.
	Decision policy.Decision
	Facts    []fact
	// Fits is the most money, in minor units, that the policy would not refuse.
	Fits int64
	// Held is the money, in minor units, that requests which wait have reserved.
	Held int64
	// Earlier is the answer that the same request got before; nil on a first one.
	// It is returned in place of everything else.
	Earlier *Out
	// Perform does it. It runs when the decision is to allow it, or when an
	// operator approved it, in the transaction in which it was planned.
	Perform func(tx *store.Tx) (Out, error)
	// Parked answers for a request that now waits for a human; nil for a tool
	// whose policy never asks. Repeat is equal for a repeat of the request.
	Parked func(a store.Approval) Out
	Repeat string
}

// plan is a Plan whose answer's type is forgotten.
type plan struct {
	decision policy.Decision
	facts    []fact
	fits     int64
	held     int64
	earlier  any
	perform  func(tx *store.Tx) (any, error)
	parked   func(a store.Approval) any
	repeat   string
}

// Scope is what one call may see and know: a state of the database, the rules
// in force, and who calls for whom.
type Scope struct {
	*store.View
	Rules     InForce
	Principal store.Principal
	Customer  string // key; "" where the tool needs none
	// Approval is the request that a human has just approved, when an operator
	// settles one; nil when an agent asks.
	Approval *store.Approval

	env     *envfile.File // where answered secrets go; nil: nowhere
	subject subject
}

// subject is what a call turned out to be about, for the audit log.
type subject struct {
	orderID    string
	approvalID string
	amount     money.Amount
}

// Order is a tool's only way to an order: it finds the customer's own one by
// its number as people write it. An unknown order and another customer's give
// the same answer.
func (s *Scope) Order(number string) (store.Order, error) {
	if _, ok := store.FoldNumber(number); !ok {
		return store.Order{}, invalid(policy.Problem{Path: "order_id", Message: "is not an order number; send it as on the receipt, such as NW-5001"})
	}
	order, err := s.View.Order(s.Customer, number)
	if err == nil {
		s.subject.orderID = order.ID
	}
	return order, err
}

// define makes a Tool of a spec. It panics on a declaration that can't work.
func define[In, Out any](s spec[In, Out]) *Tool {
	if (s.Answer == nil) == (s.Plan == nil) {
		panic(fmt.Sprintf("tool %s: exactly one of Answer and Plan", s.Name))
	}
	args := reflect.TypeFor[In]()
	t := &Tool{
		Name: s.Name, Title: s.Title, Description: s.Description, Hint: s.Hint, Category: s.Category, Role: s.Role, NeedsCustomer: s.NeedsCustomer,
		ReadOnly: s.Answer != nil, Destructive: s.Destructive, Idempotent: s.Idempotent || s.Answer != nil,
		schema: sync.OnceValue(func() schema { return schemaOf(args) }), args: args, answers: reflect.TypeFor[Out](),
	}
	if s.Wait != nil {
		t.wait = func(scope *Scope, in any) (time.Duration, error) { return s.Wait(scope, *in.(*In)) }
	}
	if s.Follow != nil {
		t.follow = func(in, out any) (string, any) { return s.Follow(*in.(*In), out.(Out)) }
	}
	if s.Answer != nil {
		t.answer = func(scope *Scope, in any) (any, error) { return s.Answer(scope, *in.(*In)) }
		return t
	}
	t.plan = func(scope *Scope, in any) (plan, error) {
		p, err := s.Plan(scope, *in.(*In))
		return p.erase(), err
	}
	return t
}

func (p Plan[Out]) erase() plan {
	erased := plan{decision: p.Decision, facts: p.Facts, fits: p.Fits, held: p.Held, repeat: p.Repeat}
	if p.Earlier != nil {
		erased.earlier = *p.Earlier
	}
	if p.Perform != nil {
		erased.perform = func(tx *store.Tx) (any, error) { return p.Perform(tx) }
	}
	if p.Parked != nil {
		erased.parked = func(a store.Approval) any { return p.Parked(a) }
	}
	return erased
}

// Waits reports whether a call of the tool, or the one that follows it, may wait
// for a human.
func (t *Tool) Waits() bool { return t.wait != nil || t.follow != nil }

// decode checks raw arguments and returns them as a pointer to the tool's struct.
func (t *Tool) decode(raw json.RawMessage) (any, []policy.Problem) {
	args := reflect.New(t.args).Interface()
	problems := t.schema().decode(raw, args)
	return args, problems
}
