package policy

import "fmt"

// Outcome is what a rule decides. The zero value refuses.
type Outcome int

// The outcomes.
const (
	Refuse Outcome = iota // it may not be done
	Ask                   // a human has to decide
	Allow                 // it may be done now
)

// String returns "refuse", "ask" or "allow".
func (o Outcome) String() string {
	switch o {
	case Refuse:
		return "refuse"
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// Code names the kind of a refusal or an error. Codes are stable: agents and scripts may compare them.
type Code string

// All codes a call can answer with; the rules here give only some of them.
const (
	PermissionDenied        Code = "permission_denied"
	NoCustomer              Code = "no_customer"
	InvalidArguments        Code = "invalid_arguments"
	NotFound                Code = "not_found"
	OrderCancelled          Code = "order_cancelled"
	CurrencyMismatch        Code = "currency_mismatch"
	OrderNotPaid            Code = "order_not_paid"
	OrderNotDelivered       Code = "order_not_delivered"
	RefundWindowExpired     Code = "refund_window_expired"
	NothingToRefund         Code = "nothing_to_refund"
	AmountExceedsRefundable Code = "amount_exceeds_refundable"
	RefundRejected          Code = "refund_rejected"
	OrderNotEditable        Code = "order_not_editable"
	InvalidAddress          Code = "invalid_address"
	EnvFileUnavailable      Code = "env_file_unavailable"
	AnswerUnreadable        Code = "answer_unreadable"
	Busy                    Code = "busy"
	AuditUnavailable        Code = "audit_unavailable"
	Internal                Code = "internal"
)

// Decision is what the rules say to one act. Code and Message are set when it is refused; Message says to a model what
// would work instead. Reasons are set when a human is asked: plain sentences for the operator. Problems are the fields
// that were wrong, if it is a matter of fields.
type Decision struct {
	Outcome  Outcome
	Code     Code
	Message  string
	Reasons  []string
	Problems []Problem
}

// Problem is one field that was wrong: where, and what to send instead.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func refusal(code Code, format string, args ...any) Decision {
	return Decision{Outcome: Refuse, Code: code, Message: fmt.Sprintf(format, args...)}
}
