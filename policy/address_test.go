package policy_test

import (
	"strings"
	"testing"

	"countersign/policy"

	"github.com/google/go-cmp/cmp"
)

func address(change func(*policy.Address)) policy.Address {
	a := policy.Address{Recipient: "Zoë Große", Line1: "7 Beach Rd 🏖", City: "Leeds", PostalCode: "LS1 1AA", Country: "GB"}
	if change != nil {
		change(&a)
	}
	return a
}

func TestDecideAddressByStatus(t *testing.T) {
	for status, says := range map[string]string{
		policy.Shipped:   "has shipped",
		policy.Delivered: "has been delivered",
		policy.Cancelled: "is cancelled",
		"":               "only while the order is processing",
		"Processing":     "only while the order is processing",
	} {
		d := policy.Default().DecideAddress(status, policy.Address{})
		if d.Outcome != policy.Refuse || d.Code != policy.OrderNotEditable || len(d.Problems) > 0 {
			t.Errorf("%q: %+v", status, d)
		}
		if !strings.Contains(d.Message, says) || !strings.Contains(d.Message, "escalate_to_human") {
			t.Errorf("%q: message %q", status, d.Message)
		}
	}
	want := policy.Decision{Outcome: policy.Allow}
	if diff := cmp.Diff(want, policy.Default().DecideAddress(policy.Processing, address(nil))); diff != "" {
		t.Error(diff)
	}
}

func TestDecideAddressFields(t *testing.T) {
	strict := policy.Default()
	strict.Address.RefusePOBoxes = true
	for _, c := range []struct {
		name   string
		rules  policy.Rules
		change func(*policy.Address)
		paths  []string
	}{
		{"PO boxes are fine by default", policy.Default(), func(a *policy.Address) { a.Line1 = "PO Box 65" }, nil},
		{"PO box refused", strict, func(a *policy.Address) { a.Line1 = "P.O. Box 65" }, []string{"address.line1"}},
		{"PO box in line 2", strict, func(a *policy.Address) { a.Line2 = "P O BOX 65" }, []string{"address.line2"}},
		{"a street that sounds like one", strict, func(a *policy.Address) { a.Line1 = "12 Boxwood Lane" }, nil},
		{"no postal code in Hong Kong", strict, func(a *policy.Address) { a.Country, a.PostalCode = "HK", "" }, nil},
		{"postal code missing", strict, func(a *policy.Address) { a.PostalCode = "" }, []string{"address.postal_code"}},
		{"postal code of another country", strict, func(a *policy.Address) { a.Country = "US" }, []string{"address.postal_code"}},
		{"unknown country", strict, func(a *policy.Address) { a.Country = "UK" }, []string{"address.country"}},
		{"blank fields", strict, func(a *policy.Address) { a.Line1, a.City = " ", "\u00a0" }, []string{"address.city", "address.line1"}},
		{"line break", strict, func(a *policy.Address) { a.Recipient = "Zoë\nGroße" }, []string{"address.recipient"}},
		{"NUL", strict, func(a *policy.Address) { a.Region = "x\x00" }, []string{"address.region"}},
		{"direction override", strict, func(a *policy.Address) { a.City = "Leeds\u202e" }, []string{"address.city"}},
		{"the first and last mark that scripts need", strict, func(a *policy.Address) { a.Line1 = "نمی\u200cخواهم \u200f5" }, nil},
		{"invisible beside those", strict, func(a *policy.Address) { a.Line1, a.City = "1 Main\u200b St", "Leeds\u202a" }, []string{"address.city", "address.line1"}},
		{"several at once, sorted", strict, func(a *policy.Address) { a.Line1, a.City, a.Country = "PO Box 1", "", "" },
			[]string{"address.city", "address.country", "address.line1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.rules.DecideAddress(policy.Processing, address(c.change))
			var paths []string
			for _, p := range d.Problems {
				paths = append(paths, p.Path)
				if p.Message == "" || !strings.Contains(d.Message, p.Path+": "+p.Message) {
					t.Errorf("problem %+v is not in the message %q", p, d.Message)
				}
			}
			if diff := cmp.Diff(c.paths, paths); diff != "" {
				t.Error(diff)
			}
			if len(c.paths) == 0 && d.Outcome != policy.Allow || len(c.paths) > 0 && d.Code != policy.InvalidAddress {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestDecideAddressRepeatsNothing(t *testing.T) {
	d := policy.Default().DecideAddress(policy.Processing, policy.Address{
		Recipient: "SECRET\n", Line1: "SECRET\x00", City: "SECRET\t", Region: "SECRET\r", PostalCode: "SECRET", Country: "SECRET",
	})
	if strings.Contains(d.Message, "SECRET") || len(d.Problems) != 5 {
		t.Errorf("%+v", d)
	}
}
