package tools

import (
	"strings"

	"countersign/policy"
	"countersign/store"
)

// UpdateShippingAddressArgs are the arguments of update_shipping_address.
type UpdateShippingAddressArgs struct {
	OrderID string      `json:"order_id" jsonschema:"minLength=1,maxLength=100,example=NW-5001"`
	Address AddressArgs `json:"address" jsonschema_description:"The whole new address."`
}

// AddressArgs is policy.Address as a client sends it.
type AddressArgs struct {
	Recipient  string `json:"recipient,omitempty" jsonschema:"maxLength=100"`
	Line1      string `json:"line1" jsonschema:"minLength=1,maxLength=200"`
	Line2      string `json:"line2,omitempty" jsonschema:"maxLength=200"`
	City       string `json:"city" jsonschema:"minLength=1,maxLength=100"`
	Region     string `json:"region,omitempty" jsonschema:"maxLength=100"`
	PostalCode string `json:"postal_code,omitempty" jsonschema:"maxLength=20" jsonschema_description:"Leave out only where the country has none."`
	Country    string `json:"country" jsonschema:"pattern=^[A-Z]{2}$,example=US" jsonschema_description:"ISO 3166-1 alpha-2."`
}

// AddressAnswer is the answer of update_shipping_address.
type AddressAnswer struct {
	Updated      bool                      `json:"updated"`
	OrderID      string                    `json:"order_id"`
	OldAddress   Untrusted[policy.Address] `json:"old_address"`
	NewAddress   Untrusted[policy.Address] `json:"new_address"`
	TellCustomer string                    `json:"tell_customer"`
}

var updateShippingAddress = define(spec[UpdateShippingAddressArgs, AddressAnswer]{
	Name:  "update_shipping_address",
	Title: "Change a shipping address",
	Description: "Changes where an order goes (send it somewhere else, delivery address, moving house, wrong street) while it is still processing. Ask the customer for " +
		"the full address first. Never changes an order that has shipped.",
	Hint:          "the customer has moved, send it somewhere else",
	Role:          policy.Staff,
	NeedsCustomer: true,
	Destructive:   true,
	Idempotent:    true,
	Plan:          planAddress,
})

func planAddress(s *Scope, in UpdateShippingAddressArgs) (p Plan[AddressAnswer], err error) {
	order, err := s.Order(in.OrderID)
	if err != nil {
		return p, err
	}
	address := policy.Address(in.Address)
	for _, field := range []*string{&address.Recipient, &address.Line1, &address.Line2, &address.City, &address.Region, &address.PostalCode} {
		*field = strings.TrimSpace(*field)
	}
	if address.Recipient == "" {
		address.Recipient = order.Address.Recipient
	}
	p.Decision = s.Rules.DecideAddress(order.Status, address)
	p.Perform = func(tx *store.Tx) (AddressAnswer, error) {
		return AddressAnswer{
			Updated: true, OrderID: order.ID,
			OldAddress: untrusted(visibleAddress(order.Address)), NewAddress: untrusted(visibleAddress(address)),
			TellCustomer: "The shipping address of order " + order.ID + " is changed.",
		}, tx.SetAddress(order.ID, address, s.Principal.ID)
	}
	return p, nil
}
