package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"countersign/policy"

	"github.com/google/go-cmp/cmp"
)

// compareZones compares the zones of rules by name.
var compareZones = cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })

func parse(t *testing.T, text string) policy.Rules {
	t.Helper()
	r, err := policy.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return r
}

func TestDefault(t *testing.T) {
	want := policy.Rules{
		Zone: time.UTC,
		Refund: policy.RefundRules{
			WindowDays:       30,
			AutoLimit:        map[string]int64{"USD": 10000},
			CustomerLimit24h: map[string]int64{"USD": 20000},
			Undelivered:      policy.AskUndelivered,
			ApprovalExpires:  72 * time.Hour,
		},
	}
	if diff := cmp.Diff(want, policy.Default(), compareZones); diff != "" {
		t.Error(diff)
	}
	policy.Default().Refund.AutoLimit["USD"] = 1
	if got := policy.Default().Refund.AutoLimit["USD"]; got != 10000 {
		t.Errorf("one caller's change reached another: auto_limit USD is %d", got)
	}
}

func TestParseWithoutContentGivesTheDefaults(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# nothing\n", "---\n", "{}", "\ufeff", "refund:\naddress:\n", "refund: {auto_limit: {}}"} {
		if diff := cmp.Diff(policy.Default(), parse(t, text), compareZones); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestParseMerges(t *testing.T) {
	got := parse(t, `
timezone: America/New_York
refund:
  window_days: 14
  auto_limit: {EUR: "50.00", JPY: '5400', KWD: "1.5"}
  customer_limit_24h:
    USD: "0"
  undelivered: refuse
  approval_expires: 90m
address: {refuse_po_boxes: true}
`)
	zone, _ := time.LoadLocation("America/New_York")
	want := policy.Rules{
		Zone: zone,
		Refund: policy.RefundRules{
			WindowDays:       14,
			AutoLimit:        map[string]int64{"USD": 10000, "EUR": 5000, "JPY": 5400, "KWD": 1500},
			CustomerLimit24h: map[string]int64{"USD": 0},
			Undelivered:      policy.RefuseUndelivered,
			ApprovalExpires:  90 * time.Minute,
		},
		Address: policy.AddressRules{RefusePOBoxes: true},
	}
	if diff := cmp.Diff(want, got, compareZones); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "# x\nrefunds: {}\n", `line 2: unknown key "refunds"; the policy may have: address, refund, timezone`},
		{"unknown key inside", "refund:\n  window: 3\n", `line 2: unknown key "window"; refund may have: approval_expires, `},
		{"key of a section", "approval_expires: 2h\n", `line 1: unknown key "approval_expires"; the policy may have: address, refund, timezone; approval_expires belongs under refund:`},
		{"key of another one", "refund:\n  refuse_po_boxes: true\n", `; refuse_po_boxes belongs under address:`},
		{"key of the whole", "refund:\n  timezone: UTC\n", `; timezone belongs at the left margin, under nothing`},
		{"key in another case", "Timezone: UTC", `line 1: unknown key "Timezone"`},
		{"merge key", "<<: {timezone: UTC}", `line 1: unknown key "<<"`},
		{"repeated key", "timezone: UTC\n\ntimezone: UTC\n", `line 3: the policy: "timezone" stands here a second time`},
		{"repeated currency", "refund:\n  auto_limit:\n    EUR: \"1\"\n    EUR: \"2\"\n", `line 4: auto_limit: "EUR" stands here a second time`},
		{"unknown zone", "timezone: Mars/Olympus", `line 1: timezone must be the name of an IANA time zone`},
		{"the machine's zone", "timezone: Local", `line 1: timezone must`},
		{"empty zone", `timezone: ""`, `line 1: timezone must`},
		{"zone outside the database", `timezone: ../../etc/passwd`, `line 1: timezone must`},
		{"no zone", "timezone:", `line 1: timezone must`},
		{"unknown currency", "refund: {auto_limit: {\n ABC: \"1.00\"}}", `line 2: auto_limit: "ABC" is an unknown currency`},
		{"currency in lower case", `refund: {customer_limit_24h: {usd: "1.00"}}`, `line 1: customer_limit_24h: "usd" is an unknown currency`},
		{"money as a number", "refund: {auto_limit: {USD: 100.00}}", `line 1: auto_limit: write the amount for USD in quotes, such as "100.00"`},
		{"whole money as a number", "refund: {auto_limit: {JPY: 100}}", `such as "10000"`},
		{"money missing", "refund: {auto_limit: {USD: }}", `line 1: auto_limit: write the amount for USD in quotes`},
		{"negative money", `refund: {auto_limit: {USD: "-1.00"}}`, `line 1: auto_limit: not an amount`},
		{"too many decimals", `refund: {auto_limit: {JPY: "1.50"}}`, `line 1: auto_limit: too many decimals`},
		{"no mapping of limits", `refund: {auto_limit: "100.00"}`, `line 1: auto_limit must be a mapping`},
		{"empty limits", "refund:\n  auto_limit:\n", `line 2: auto_limit must be a mapping`},
		{"window below 0", "refund: {window_days: -1}", `line 1: window_days must be a whole number from 0 to 3650`},
		{"window above 3650", "refund: {window_days: 3651}", `line 1: window_days must`},
		{"window in quotes", `refund: {window_days: "30"}`, `line 1: window_days must`},
		{"window with a fraction", "refund: {window_days: 30.0}", `line 1: window_days must`},
		{"octal window", "refund: {window_days: 030}", `line 1: window_days must`},
		{"huge window", "refund: {window_days: 99999999999999999999}", `line 1: window_days must`},
		{"undelivered", "refund: {undelivered: maybe}", `line 1: undelivered must be ask, refuse or allow`},
		{"undelivered in capitals", "refund: {undelivered: Ask}", `line 1: undelivered must`},
		{"expiry without a unit", "refund: {approval_expires: 72}", `line 1: approval_expires must be a duration from 1m to 8760h`},
		{"expiry too short", "refund: {approval_expires: 59s}", `line 1: approval_expires must`},
		{"expiry too long", "refund: {approval_expires: 8760h1s}", `line 1: approval_expires must`},
		{"flag in words", "address: {refuse_po_boxes: yes}", `line 1: refuse_po_boxes must be true or false`},
		{"flag in quotes", `address: {refuse_po_boxes: "true"}`, `line 1: refuse_po_boxes must`},
		{"a list", "- a\n- b\n", `line 1: the policy must be a mapping`},
		{"a word", "\n\ngarbage\n", `line 3: the policy must be a mapping`},
		{"section is a list", "refund: [1]", `line 1: refund must be a mapping`},
		{"alias", "timezone: &z UTC\nrefund: {undelivered: *z}", `line 2: undelivered must`},
		{"key is a list", "? [a]\n: b\n", `line 1: the policy: a key must be a word`},
		{"two documents", "timezone: UTC\n---\ntimezone: UTC\n", `line 2: a second document begins here`},
		{"text after the end", "timezone: UTC\n...\ngarbage\n", `line 3: a second document begins here`},
		{"broken YAML", "timezone: UTC\nrefund: [1\n", `line 3: not valid YAML`},
		{"broken on one line", "timezone: UTC\na: b: c\n", `line 2: not valid YAML`},
		{"tab", "timezone: UTC\n\t- a\n", `line 2: not valid YAML`},
		{"NUL", "timezone: UTC\n\x00", `line 2: control characters are not allowed`},
		{"no UTF-8", "timezone: UTC\n\xff\xfe", `line 2: not UTF-8 text`},
		{"UTF-16", "\xff\xfe", `line 1: not UTF-8 text`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := policy.Parse([]byte(c.text))
			if err == nil {
				t.Fatalf("no error, rules:\n%s", r.YAML())
			}
			if !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
			if diff := cmp.Diff(policy.Rules{}, r, compareZones); diff != "" {
				t.Errorf("rules beside an error: %s", diff)
			}
		})
	}
}

func TestParseListsEveryProblemByLine(t *testing.T) {
	_, err := policy.Parse([]byte("address: {refuse_po_boxes: 1}\nrefund:\n  window_days: x\n  undelivered: x\nzone: x\n"))
	var file *policy.FileError
	if !errors.As(err, &file) {
		t.Fatalf("error %v", err)
	}
	var lines []int
	for _, p := range file.Problems {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{1, 3, 4, 5}, lines); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
}

func TestParseLimitsOfValues(t *testing.T) {
	for _, text := range []string{
		"refund: {window_days: 0}", "refund: {window_days: 3650}",
		"refund: {approval_expires: 1m}", "refund: {approval_expires: 8760h}",
		`refund: {auto_limit: {USD: "0"}}`, `refund: {auto_limit: {USD: "92233720368547758.07"}}`,
	} {
		parse(t, text)
	}
}

// The version of the built-in policy stands in decisions that were recorded. If this test fails, either the defaults
// changed, and the version must, or YAML writes them differently, and then old versions no longer mean what they did.
func TestVersion(t *testing.T) {
	if got, want := policy.Default().Version(), "p-70d16210cd3d"; got != want {
		t.Errorf("Version() = %s, want %s", got, want)
	}
	a := parse(t, "refund: {window_days: 14, auto_limit: {EUR: \"50.00\", JPY: \"10\"}}")
	b := parse(t, "# ours\nrefund:\n  auto_limit: {JPY: '10', EUR: '50.0'} # euros\n  window_days: 14\n  approval_expires: 4320m\ntimezone: UTC\n")
	if a.Version() != b.Version() {
		t.Errorf("same settings, versions %s and %s", a.Version(), b.Version())
	}
	seen := map[string]string{policy.Default().Version(): "defaults"}
	for _, text := range []string{
		"timezone: Europe/Berlin", "refund: {window_days: 31}", `refund: {auto_limit: {USD: "100.01"}}`,
		`refund: {auto_limit: {EUR: "100.00"}}`, `refund: {customer_limit_24h: {EUR: "100.00"}}`,
		"refund: {undelivered: allow}", "refund: {approval_expires: 71h}", "address: {refuse_po_boxes: true}",
	} {
		v := parse(t, text).Version()
		if other, ok := seen[v]; ok {
			t.Errorf("%s and %s have one version", text, other)
		}
		seen[v] = text
	}
}

func TestYAML(t *testing.T) {
	r := parse(t, "timezone: America/Argentina/Buenos_Aires\nrefund: {auto_limit: {EUR: \"50\", JPY: \"10\"}, approval_expires: 1h30m}")
	want := `timezone: America/Argentina/Buenos_Aires
refund:
  window_days: 30
  auto_limit:
    EUR: "50.00"
    JPY: "10"
    USD: "100.00"
  customer_limit_24h:
    USD: "200.00"
  undelivered: ask
  approval_expires: 1h30m
address:
  refuse_po_boxes: false
`
	if diff := cmp.Diff(want, string(r.YAML())); diff != "" {
		t.Error(diff)
	}
	if got := parse(t, want); got.Version() != r.Version() {
		t.Errorf("read back as %s", got.YAML())
	}
	if got := (policy.Rules{}).Version(); got == "" {
		t.Error("rules without settings have no version")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(policy.Default().YAML())
	for _, seed := range []string{"", "a: &x [*x]", "timezone: GMT+0", "refund: {window_days: 1e3}", "---\n---", "? x", "refund: {auto_limit: {EUR: \"1\"}}", "{timezone: UTC}\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := policy.Parse(text)
		if err != nil {
			var file *policy.FileError
			if !errors.As(err, &file) || len(file.Problems) == 0 {
				t.Fatalf("error without a problem: %v", err)
			}
			return
		}
		again, err := policy.Parse(r.YAML())
		if err != nil || again.Version() != r.Version() {
			t.Fatalf("%q became %q, which reads back as %q, %v", text, r.YAML(), again.YAML(), err)
		}
	})
}
