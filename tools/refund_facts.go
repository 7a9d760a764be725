package tools

import (
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// refundHistory is what has happened on an order so far: the rows behind the
// facts that the policy judges.
type refundHistory struct {
	order     store.Order
	refunds   []store.Refund
	approvals []store.Approval
}

// refundFacts gathers what the refund rules have to know about an order.
func (s *Scope) refundFacts(o store.Order) (policy.Order, refundHistory, error) {
	h := refundHistory{order: o}
	if o.Acted {
		var err error
		if h.refunds, err = s.Refunds(o.ID); err != nil {
			return policy.Order{}, h, err
		}
		if h.approvals, err = s.ApprovalsOfOrder(o.ID); err != nil {
			return policy.Order{}, h, err
		}
	}
	facts := policy.Order{
		Status: o.Status, Currency: o.Currency, Paid: o.Paid, Refunded: o.Refunded, DeliveredAt: o.Delivered,
		CustomerAuto24h: o.CustomerAuto24h, Charges: h.charges(s.Approval),
	}
	for _, i := range o.Items {
		facts.Lines = append(facts.Lines, policy.Line{SKU: i.SKU, Quantity: i.Quantity, UnitPrice: i.UnitPrice})
	}
	for _, p := range o.Parcels {
		parcel := policy.Parcel{Delivered: p.Delivered}
		for _, i := range p.Items {
			parcel.Items = append(parcel.Items, policy.ParcelItem{SKU: i.SKU, Quantity: i.Quantity})
		}
		facts.Parcels = append(facts.Parcels, parcel)
	}
	for _, a := range h.approvals {
		saidNo := a.State == store.Rejected || a.State == store.Approved && a.ApprovedAmount < a.Amount
		facts.HumanSaidNo = facts.HumanSaidNo || saidNo
	}
	return facts, h, nil
}

// RefundState works out what can be refunded of an order now under rules, as
// get_order and issue_refund do. It is for the operator's side.
func RefundState(v *store.View, rules InForce, o store.Order) (policy.State, error) {
	facts, _, err := (&Scope{View: v, Rules: rules}).refundFacts(o)
	if err != nil {
		return policy.State{}, err
	}
	return rules.State(facts, v.Now), nil
}

// charges lists what was refunded and what waits. What the shop itself refunded
// counts from the moment we first saw it. The request being settled doesn't
// wait any more.
func (h refundHistory) charges(settled *store.Approval) (charges []policy.Charge) {
	imported := h.order.Refunded
	for _, r := range h.refunds {
		imported -= r.Amount
		charges = append(charges, policy.Charge{Minor: r.Amount, JudgedAt: r.Judged, Human: r.Human})
	}
	if imported > 0 {
		charges = append(charges, policy.Charge{Minor: imported, JudgedAt: h.order.SourceRefunded, Imported: true})
	}
	for _, a := range h.approvals {
		if a.State == store.Pending && (settled == nil || settled.ID != a.ID) {
			charges = append(charges, policy.Charge{Minor: a.Amount, JudgedAt: a.Created, Pending: true})
		}
	}
	return charges
}

// moneyFacts are the figures that go with every refusal about money.
func moneyFacts(state policy.State, currency string) []fact {
	decimal := func(minor int64) string { return money.Amount{Minor: minor, Currency: currency}.Decimal() }
	return []fact{
		{"currency", currency}, {"paid", decimal(state.Paid)}, {"refunded", decimal(state.Refunded)},
		{"awaiting_approval", decimal(state.Awaiting)}, {"refundable", decimal(state.Refundable)},
	}
}
