// Package tools holds the tools that an agent may call and the path that every
// call takes: gates, validation, plan, policy, act, audit. [Desk.Call] is the
// agent's only way in.
package tools

// All is every tool, one line each, in the order of a support conversation.
var All = []*Tool{
	lookupCustomer,
	getOrder,
	trackShipment,
	searchHelpCenter,
	updateShippingAddress,
	issueRefund,
	escalateToHuman,
}
