package policy

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// KnownCountry reports whether code is an officially assigned ISO 3166-1
// alpha-2 code, or XK (Kosovo). Upper case only.
func KnownCountry(code string) bool {
	_, ok := postalRuleOf(code)
	return ok
}

// PostalProblem says in one sentence what to send instead of code as the
// postal code of an address in country, or "" when it is fine. Case, blanks
// around it and the blanks and hyphens inside it are the customer's business.
// The code is personal data and never part of the answer. A country that
// KnownCountry doesn't know has no rule here: check it first.
func PostalProblem(country, code string) string {
	rule, ok := postalRuleOf(country)
	if !ok || rule.need == noRule {
		return ""
	}
	code = strings.Join(strings.Fields(strings.Map(upperASCII, code)), " ")
	switch {
	case code == "" && rule.need == required:
		return country + " needs a postal_code such as " + rule.like
	case code == "":
		return ""
	case rule.need == noCodes:
		return country + " has no postal codes: leave postal_code out"
	case rule.matches(code):
		return ""
	case rule.need == optional:
		return country + " postal codes look like " + rule.like + ", or leave postal_code out"
	default:
		return country + " postal codes look like " + rule.like
	}
}

// postalRule is what is known about one country's postal codes.
type postalRule struct {
	country string
	need    postalNeed
	pattern string // RE2 over the whole code in upper case; "_" is a blank, a hyphen or nothing
	like    string // what to send, for people
}

type postalNeed uint8

const (
	noRule   postalNeed = iota // anything goes: codes are new, unused or told differently by the sources
	noCodes                    // the country has no postal codes
	optional                   // checked when given
	required
)

func postalRuleOf(country string) (postalRule, bool) {
	i, ok := slices.BinarySearchFunc(postalRules[:], country, func(r postalRule, code string) int {
		return cmp.Compare(r.country, code)
	})
	if !ok {
		return postalRule{}, false
	}
	return postalRules[i], true
}

// matches also takes the country in front, as mail from abroad has it ("SE-114 55").
func (r postalRule) matches(code string) bool {
	if strings.Trim(code, "0 -") == "" {
		return false // 00000 fits many patterns, and is the filler people type; no country has it
	}
	re := compilePostal(r.pattern)
	if re.MatchString(code) {
		return true
	}
	rest, ok := strings.CutPrefix(code, r.country)
	return ok && rest != "" && strings.ContainsRune("- ", rune(rest[0])) && re.MatchString(rest[1:])
}

// postalPatterns holds compiled patterns. They are compiled at their first
// use: compiling all of them would cost every start of the server.
var postalPatterns sync.Map // pattern → *regexp.Regexp

func compilePostal(pattern string) *regexp.Regexp {
	if re, ok := postalPatterns.Load(pattern); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile(`^(?:` + strings.ReplaceAll(pattern, "_", "[ -]?") + `)$`)
	postalPatterns.Store(pattern, re)
	return re
}

// upperASCII leaves other letters alone: strings.ToUpper would turn "ſ" into "S".
func upperASCII(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}
