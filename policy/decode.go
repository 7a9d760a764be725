package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"countersign/policy/money"

	"go.yaml.in/yaml/v4"
)

const (
	maxWindowDays      = 3650
	minApprovalExpires = time.Minute
	maxApprovalExpires = 8760 * time.Hour
)

// decoder reads rules from a YAML tree and collects what is wrong in it.
type decoder struct {
	problems []LineProblem
	places   map[string]string // where each key belongs
}

func (d *decoder) rules(root *yaml.Node, r *Rules) {
	refund := map[string]func(*yaml.Node){
		"window_days":        func(n *yaml.Node) { d.days(n, &r.Refund.WindowDays) },
		"auto_limit":         func(n *yaml.Node) { d.limits(n, "auto_limit", &r.Refund.AutoLimit) },
		"customer_limit_24h": func(n *yaml.Node) { d.limits(n, "customer_limit_24h", &r.Refund.CustomerLimit24h) },
		"undelivered":        func(n *yaml.Node) { d.undelivered(n, &r.Refund.Undelivered) },
		"approval_expires":   func(n *yaml.Node) { d.expiry(n, &r.Refund.ApprovalExpires) },
	}
	address := map[string]func(*yaml.Node){
		"refuse_po_boxes": func(n *yaml.Node) { d.flag(n, "refuse_po_boxes", &r.Address.RefusePOBoxes) },
	}
	whole := map[string]func(*yaml.Node){
		"timezone": func(n *yaml.Node) { d.zone(n, &r.Zone) },
		"refund":   func(n *yaml.Node) { d.section(n, "refund", refund) },
		"address":  func(n *yaml.Node) { d.section(n, "address", address) },
	}
	d.places = map[string]string{}
	for place, keys := range map[string]map[string]func(*yaml.Node){"under refund:": refund, "under address:": address, "at the left margin, under nothing": whole} {
		for key := range keys {
			d.places[key] = place
		}
	}
	d.section(root, "the policy", whole)
}

// section reads a mapping with known keys. Nothing at all is an empty section, as when all its keys are commented out.
func (d *decoder) section(n *yaml.Node, name string, keys map[string]func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	d.mapping(n, name, func(key, value *yaml.Node) {
		read, ok := keys[key.Value]
		if !ok {
			listed := strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
			if place, known := d.places[key.Value]; known {
				listed += fmt.Sprintf("; %s belongs %s", key.Value, place)
			}
			d.fail(key, "unknown key %q; %s may have: %s", key.Value, name, listed)
			return
		}
		read(value)
	})
}

func (d *decoder) limits(n *yaml.Node, name string, limits *map[string]int64) {
	if *limits == nil {
		*limits = make(map[string]int64)
	}
	d.mapping(n, name, func(key, value *yaml.Node) {
		if _, ok := money.Exponent(key.Value); !ok {
			d.fail(key, "%s: %q is an unknown currency; use an ISO 4217 code in capitals, such as USD", name, key.Value)
			return
		}
		text, ok := scalar(value, "!!str")
		if !ok {
			d.fail(value, "%s: write the amount for %s in quotes, such as %q", name, key.Value,
				money.Amount{Minor: 10000, Currency: key.Value}.Decimal())
			return
		}
		amount, err := money.Parse(text, key.Value)
		if err != nil {
			d.fail(value, "%s: %v", name, err)
			return
		}
		(*limits)[key.Value] = amount.Minor
	})
}

// mapping calls read for every pair of a mapping, once for each key.
func (d *decoder) mapping(n *yaml.Node, name string, read func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a mapping of keys to values", name)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.fail(key, "%s: a key must be a word", name)
		case seen[key.Value]:
			d.fail(key, "%s: %q stands here a second time", name, key.Value)
		default:
			seen[key.Value] = true
			read(key, value)
		}
	}
}

func (d *decoder) zone(n *yaml.Node, zone **time.Location) {
	name, ok := scalar(n, "!!str")
	loc, err := time.LoadLocation(name)
	// "" and "Local" would mean something else on every machine.
	if !ok || err != nil || name == "" || name == "Local" {
		d.fail(n, "timezone must be the name of an IANA time zone, such as Europe/Berlin or UTC")
		return
	}
	*zone = loc
}

var plainNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`) })

func (d *decoder) days(n *yaml.Node, days *int) {
	text, ok := scalar(n, "!!int")
	number, err := strconv.Atoi(text)
	if !ok || err != nil || !plainNumber().MatchString(text) || number > maxWindowDays {
		d.fail(n, "window_days must be a whole number from 0 to %d", maxWindowDays)
		return
	}
	*days = number
}

func (d *decoder) undelivered(n *yaml.Node, setting *Undelivered) {
	text, _ := scalar(n, "!!str")
	switch u := Undelivered(text); u {
	case AskUndelivered, RefuseUndelivered, AllowUndelivered:
		*setting = u
	default:
		d.fail(n, "undelivered must be ask, refuse or allow")
	}
}

func (d *decoder) expiry(n *yaml.Node, expiry *time.Duration) {
	text, ok := scalar(n, "!!str")
	duration, err := time.ParseDuration(text)
	if !ok || err != nil || duration < minApprovalExpires || duration > maxApprovalExpires {
		d.fail(n, "approval_expires must be a duration from 1m to 8760h, such as 72h")
		return
	}
	*expiry = duration
}

func (d *decoder) flag(n *yaml.Node, name string, flag *bool) {
	text, ok := scalar(n, "!!bool")
	if !ok || text != "true" && text != "false" {
		d.fail(n, "%s must be true or false", name)
		return
	}
	*flag = text == "true"
}

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, LineProblem{Line: n.Line, Message: fmt.Sprintf(format, args...)})
}

// scalar returns the text of a single value if it has the tag. An alias is no value.
func scalar(n *yaml.Node, tag string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != tag {
		return "", false
	}
	return n.Value, true
}
