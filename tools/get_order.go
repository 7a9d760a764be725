package tools

import (
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// GetOrderArgs are the arguments of get_order.
type GetOrderArgs struct {
	OrderID string `json:"order_id" jsonschema:"minLength=1,maxLength=100,example=NW-5001" jsonschema_description:"As the customer writes it."`
}

// OrderAnswer is the answer of get_order. Money is decimal text in Currency.
type OrderAnswer struct {
	OrderID          string                    `json:"order_id"`
	Status           string                    `json:"status"`
	PlacedAt         string                    `json:"placed_at"`
	DeliveredAt      string                    `json:"delivered_at,omitempty"`
	Items            []OrderItem               `json:"items"`
	ItemsOmitted     int                       `json:"items_omitted,omitempty"` // lines left out; the totals count them
	ItemCount        int64                     `json:"item_count"`              // pieces
	Currency         string                    `json:"currency"`
	ItemsTotal       string                    `json:"items_total"`
	Shipping         string                    `json:"shipping"`
	Tax              string                    `json:"tax"`
	Discount         string                    `json:"discount"`
	Total            string                    `json:"total"`
	Paid             string                    `json:"paid"`
	Refunded         string                    `json:"refunded"`
	AwaitingApproval string                    `json:"awaiting_approval"`
	Refundable       string                    `json:"refundable"` // now
	RefundableReason string                    `json:"refundable_reason"`
	RefundWindowEnds string                    `json:"refund_window_ends,omitempty"`
	Address          Untrusted[policy.Address] `json:"address"`
	CustomerNote     *Untrusted[string]        `json:"customer_note,omitempty"`
	Refunds          []OrderRefund             `json:"refunds"`
	Approvals        []ApprovalState           `json:"approvals"`
	Omitted          int                       `json:"earlier_omitted,omitempty"` // older refunds and approvals left out
	More             string                    `json:"how_to_see_more,omitempty"` // where something is left out
}

// shorter leaves out lines, then what happened earlier.
func (a OrderAnswer) shorter() (shortener, bool) {
	a.More = moreOfOrder
	switch {
	case len(a.Items) > 10:
		a.Items = a.Items[:len(a.Items)-2]
		a.ItemsOmitted += 2
	case len(a.Refunds) > 1:
		a.Refunds = a.Refunds[1:]
		a.Omitted++
	case len(a.Approvals) > 1:
		a.Approvals = a.Approvals[1:]
		a.Omitted++
	case len(a.Items) > 1:
		a.Items = a.Items[:len(a.Items)-1]
		a.ItemsOmitted++
	default:
		return a, false
	}
	return a, true
}

// OrderItem is one line of an order.
type OrderItem struct {
	SKU       string `json:"sku"`
	Title     string `json:"title"`
	Quantity  int64  `json:"quantity"`
	UnitPrice string `json:"unit_price"`
}

// OrderRefund is a refund made here.
type OrderRefund struct {
	RefundID   string             `json:"refund_id"`
	Amount     string             `json:"amount"`
	RefundedAt string             `json:"refunded_at"`
	ApprovalID string             `json:"approval_id,omitempty"`
	Reason     *Untrusted[string] `json:"reason,omitempty"`
	Operator   *OperatorNote      `json:"operator,omitempty"` // who made it, where no agent asked for it
}

// ApprovalState is how a request that a human decides stands.
type ApprovalState struct {
	ApprovalID     string        `json:"approval_id"`
	OrderID        string        `json:"order_id,omitempty"`
	State          string        `json:"state"` // pending, approved, rejected, expired or stale
	Amount         string        `json:"amount,omitempty"`
	ApprovedAmount string        `json:"approved_amount,omitempty"`
	Currency       string        `json:"currency,omitempty"`
	AskedAt        string        `json:"asked_at"`
	ExpiresAt      string        `json:"expires_at,omitempty"` // while pending
	DecidedAt      string        `json:"decided_at,omitempty"`
	Operator       *OperatorNote `json:"operator,omitempty"`
}

// moreOfOrder is for what no argument can show.
const moreOfOrder = "All sums count what is left out here. If a line or an earlier request matters, use escalate_to_human."

// What an order's answer shows of long lists, so that it stays under 10 kB.
const (
	mostItems   = 30
	mostHistory = 8
	mostTitle   = 160 // bytes
	mostNote    = 1500
	mostReason  = 240
	mostAddress = 300 // bytes of each field
)

var getOrder = define(spec[GetOrderArgs, OrderAnswer]{
	Name:  "get_order",
	Title: "Look up an order",
	Description: "Shows one order (purchase, what the customer did buy): items, totals, what was paid and refunded, how much can be refunded now and why, and the " +
		"status of requests for it. Use it before refunding and to check on an approval. Changes nothing.",
	Hint:          "what was purchased, how much was paid",
	Role:          policy.Viewer,
	NeedsCustomer: true,
	Answer:        answerOrder,
})

func answerOrder(s *Scope, in GetOrderArgs) (OrderAnswer, error) {
	o, err := s.Order(in.OrderID)
	if err != nil {
		return OrderAnswer{}, err
	}
	facts, history, err := s.refundFacts(o)
	if err != nil {
		return OrderAnswer{}, err
	}
	state := s.Rules.State(facts, s.Now)
	decimal := func(minor int64) string { return money.Amount{Minor: minor, Currency: o.Currency}.Decimal() }
	answer := OrderAnswer{
		OrderID: o.ID, Status: o.Status, PlacedAt: rfc3339(o.Placed), DeliveredAt: rfc3339(o.Delivered),
		Items: []OrderItem{}, Currency: o.Currency, Shipping: decimal(o.Shipping), Tax: decimal(o.Tax),
		Discount: decimal(o.Discount), Total: decimal(o.Total), Paid: decimal(state.Paid), Refunded: decimal(state.Refunded),
		AwaitingApproval: decimal(state.Awaiting), Refundable: decimal(state.Refundable), RefundableReason: state.Reason,
		RefundWindowEnds: rfc3339(state.WindowEnds), Address: untrusted(visibleAddress(o.Address)), CustomerNote: optional(o.Note, mostNote),
	}
	var itemsTotal int64
	for i, item := range o.Items {
		answer.ItemCount += item.Quantity
		itemsTotal += item.Quantity * item.UnitPrice
		if i >= mostItems {
			answer.ItemsOmitted++
			continue
		}
		answer.Items = append(answer.Items,
			OrderItem{short(item.SKU, mostTitle), short(item.Title, mostTitle), item.Quantity, decimal(item.UnitPrice)})
	}
	answer.ItemsTotal = decimal(itemsTotal)
	answer.addHistory(history, decimal)
	if answer.ItemsOmitted+answer.Omitted > 0 {
		answer.More = moreOfOrder
	}
	return answer, nil
}

// addHistory lists the newest refunds and approvals, oldest first.
func (a *OrderAnswer) addHistory(h refundHistory, decimal func(int64) string) {
	refunds, left := newest(h.refunds, mostHistory)
	a.Omitted += left
	a.Refunds = []OrderRefund{}
	for _, r := range refunds {
		refund := OrderRefund{RefundID: r.ID, Amount: decimal(r.Amount), RefundedAt: rfc3339(r.Created), ApprovalID: r.ApprovalID}
		if r.Issued() {
			refund.Operator = &OperatorNote{Name: r.MadeByName, Note: short(r.Reason, mostReason)}
		} else {
			refund.Reason = optional(r.Reason, mostReason)
		}
		a.Refunds = append(a.Refunds, refund)
	}
	approvals, left := newest(h.approvals, mostHistory)
	a.Omitted += left
	a.Approvals = []ApprovalState{}
	for _, ap := range approvals {
		a.Approvals = append(a.Approvals, approvalState(ap))
	}
}

func approvalState(a store.Approval) ApprovalState {
	state := ApprovalState{
		ApprovalID: a.ID, OrderID: a.OrderID, State: a.State, Currency: a.Currency,
		AskedAt: rfc3339(a.Created), DecidedAt: rfc3339(a.Decided),
	}
	if a.Amount > 0 {
		state.Amount = money.Amount{Minor: a.Amount, Currency: a.Currency}.Decimal()
	}
	if a.ApprovedAmount > 0 {
		state.ApprovedAmount = money.Amount{Minor: a.ApprovedAmount, Currency: a.Currency}.Decimal()
	}
	if a.State == store.Pending {
		state.ExpiresAt = rfc3339(a.Expires)
	}
	if a.DecidedByName != "" {
		state.Operator = operatorNote(a)
	}
	return state
}

// newest returns the last n of a list and how many it left out.
func newest[T any](list []T, n int) ([]T, int) {
	left := max(len(list)-n, 0)
	return list[left:], left
}

// optional wraps somebody's text, at most n bytes of it; nil where there is none.
func optional(text string, n int) *Untrusted[string] {
	if text == "" {
		return nil
	}
	wrapped := untrusted(short(text, n))
	return &wrapped
}

func visibleAddress(a policy.Address) policy.Address {
	for _, field := range []*string{&a.Recipient, &a.Line1, &a.Line2, &a.City, &a.Region, &a.PostalCode, &a.Country} {
		*field = short(*field, mostAddress)
	}
	return a
}
