package policy

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Address is a shipping address. Recipient, Line2, Region and, where the country has none, PostalCode may be empty.
// Country is a code of ISO 3166-1 alpha-2 in capitals.
type Address struct {
	Recipient  string `json:"recipient,omitempty"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	Region     string `json:"region,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
	Country    string `json:"country"`
}

// DecideAddress decides a change of the shipping address of an order in a state. It allows it only while the order is
// processing, and only to an address the shop can send to; it never asks. What is wrong with the address is listed in
// Problems, sorted by path, without repeating any of its text.
func (r Rules) DecideAddress(status string, a Address) Decision {
	if status != Processing {
		return refusal(OrderNotEditable, "%s", notEditable(status))
	}
	problems := r.addressProblems(a)
	if len(problems) == 0 {
		return Decision{Outcome: Allow}
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Path + ": " + p.Message
	}
	d := refusal(InvalidAddress, "nothing was changed; ask the customer and send the address again: %s", strings.Join(texts, "; "))
	d.Problems = problems
	return d
}

func notEditable(status string) string {
	switch status {
	case Shipped:
		return "the order has shipped, so its address can't be changed here; use track_shipment to see where it is, " +
			"and escalate_to_human if the parcel must be sent elsewhere"
	case Delivered:
		return "the order has been delivered, so its address can't be changed; use escalate_to_human if it went to the wrong place"
	case Cancelled:
		return "the order is cancelled and won't be sent; use escalate_to_human if the customer still wants it"
	}
	return "the address can be changed only while the order is processing; use escalate_to_human"
}

func (r Rules) addressProblems(a Address) []Problem {
	var problems []Problem
	add := func(field, message string) {
		problems = append(problems, Problem{Path: "address." + field, Message: message})
	}
	for _, f := range []struct {
		field, text     string
		required, poBox bool
	}{
		{"recipient", a.Recipient, false, true},
		{"line1", a.Line1, true, true},
		{"line2", a.Line2, false, true},
		{"city", a.City, true, true},
		{"region", a.Region, false, false},
		{"postal_code", a.PostalCode, false, false},
	} {
		switch {
		case strings.ContainsFunc(f.text, unprintable):
			add(f.field, "send one line of plain text, without control and invisible characters")
		case f.required && strings.TrimSpace(f.text) == "":
			add(f.field, "must not be blank")
		case f.poBox && r.Address.RefusePOBoxes && IsPOBox(f.text):
			add(f.field, "the shop doesn't send to post office boxes; send a street address")
		}
	}
	if !KnownCountry(a.Country) {
		add("country", "send an ISO 3166-1 alpha-2 code in capitals, such as US")
	} else if text := PostalProblem(a.Country, a.PostalCode); text != "" {
		add("postal_code", text)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return problems
}

// unprintable reports what can't be seen on a label: control characters, line separators, overrides of the direction of
// writing, and invisible characters but for the joiners and marks that scripts need (U+200C to U+200F).
func unprintable(r rune) bool {
	if r >= '\u200c' && r <= '\u200f' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
