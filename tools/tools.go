// Package tools holds the tools that an agent may call and the path that every
// call takes: gates, validation, plan, policy, act, audit. [Desk.Call] is the
// agent's only way in.
package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// All is every tool of the toolset "support", one line each, in the order of a
// support conversation.
var All = []*Tool{
	lookupCustomer,
	getOrder,
	trackShipment,
	searchHelpCenter,
	updateShippingAddress,
	issueRefund,
	escalateToHuman,
}

// Human is every tool of the toolset "human".
var Human = []*Tool{
	requestHuman,
	checkRequest,
}

// ErrToolset means that there is no toolset of a name.
var ErrToolset = errors.New("the toolsets are support and human")

// Toolsets returns the tools of toolsets, named with commas between them; of
// "support" where none is named. It returns [ErrToolset] for an unknown one.
func Toolsets(names string) (list []*Tool, err error) {
	sets := map[string][]*Tool{"support": All, "human": Human}
	if strings.TrimSpace(names) == "" {
		names = "support"
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		set, ok := sets[name]
		if !ok {
			return nil, fmt.Errorf("%q is no toolset: %w", name, ErrToolset)
		}
		if !slices.Contains(list, set[0]) {
			list = append(list, set...)
		}
	}
	return list, nil
}
