package policy_test

import (
	"strings"
	"testing"

	"countersign/policy"
)

// iso is ISO 3166-1's list of officially assigned alpha-2 codes.
const iso = `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE
GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP
KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF
NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN
SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA
ZM ZW`

func TestKnownCountry(t *testing.T) {
	known := map[string]bool{"XK": true}
	for _, code := range strings.Fields(iso) {
		known[code] = true
	}
	if len(known) != 250 {
		t.Fatalf("the test's own list has %d codes, want 250", len(known))
	}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			if got := policy.KnownCountry(code); got != known[code] {
				t.Errorf("KnownCountry(%q) = %v, want %v", code, got, known[code])
			}
		}
	}
	for _, code := range []string{"", "us", "Us", "USA", "U", " US", "US ", "840", "UK", "ZZ", "AN"} {
		if policy.KnownCountry(code) {
			t.Errorf("KnownCountry(%q) = true, want false", code)
		}
	}
}

func TestPostalProblem(t *testing.T) {
	tests := []struct {
		country string
		fine    []string
		wrong   []string
	}{
		{"US", []string{"02138", "02138-1234", " 02138 ", "02138 1234", "021381234", "00501", "99950"},
			[]string{"", " ", "ABCDE", "1234", "00000", "00000-0000", "00400", "021388", "02138-", "02138-12345", "O2138", "０２１３８"}},
		{"GB", []string{"LS1 1AA", "ls1 1aa", "LS11AA", "GIR 0AA", "BFPO 801", "BFPO57", "BF1 3AA", "EC1Y 8SY", "W1A 1AA", "M1 1AE", "CR2 6XH", "DN55 1PT", "LS1\u00a01AA"},
			[]string{"", "LS1", "LS1 1A", "12345", "LS1 1CC", "QS1 1AA", "LS1 1AAA"}},
		{"CA", []string{"K9Z 9Z1", "k9z9z1", "K9Z-9Z1"}, []string{"", "K9Z", "D9Z 9Z1", "K9Z 9ZO", "12345"}},
		{"JP", []string{"150-0002", "1500002"}, []string{"", "150-002", "000-0000"}},
		{"NL", []string{"1234 AB", "1234ab", "NL-1234 AB"}, []string{"", "1234", "0234 AB", "1234 ABC"}},
		{"DE", []string{"10115", "01067", "DE-10115"}, []string{"", "1011", "00000", "00115"}},
		{"FR", []string{"75001", "75 001", "97400"}, []string{"", "7500"}},
		{"SE", []string{"114 55", "11455", "SE-114 55", "SE 11455"}, []string{"", "1145", "SE114 55", "-11455"}},
		{"CH", []string{"8001", "CH-8001"}, []string{"", "0800", "80010"}},
		{"PL", []string{"00-950", "00950"}, []string{"", "0095"}},
		{"PT", []string{"2725-079", "2725"}, []string{"", "27-25079"}},
		{"BR", []string{"40301-110", "40301110"}, []string{"", "40301"}},
		{"IN", []string{"110034", "110 034"}, []string{"", "010034"}},
		{"LU", []string{"4750", "L-4750", "LU-4750"}, []string{""}},
		{"LI", []string{"9496", "FL-9496"}, []string{"", "9500"}},
		{"AL", []string{"1001", ""}, []string{"100", "ABC"}},
		{"AF", []string{"1001", ""}, []string{"10001"}},
		{"XK", []string{"10000", ""}, []string{"90000"}},
		{"IE", []string{"", "D02 AF30", "d6w xy00", "A65F4E2"}, []string{"D02", "12345", "B65 F4E2"}},
		{"KW", []string{"", "54541"}, []string{"545"}},
		{"LV", []string{"LV-1073", "1073", ""}, []string{"LV-107"}},
		{"KZ", []string{"040900", "A15E3B2", ""}, []string{"40900"}},
		{"TW", []string{"104", "10452", "104452", "104-52"}, []string{"", "1045", "104-"}},
		{"HK", []string{"", " "}, []string{"00000", "999077"}},
		{"AE", []string{""}, []string{"00000", "12345"}},
		{"GH", []string{"", "GA-183-8164"}, nil},
		{"PA", []string{"", "0801"}, nil},
		{"ZZ", []string{"", "anything"}, nil},
	}
	for _, tt := range tests {
		for _, code := range tt.fine {
			if got := policy.PostalProblem(tt.country, code); got != "" {
				t.Errorf("PostalProblem(%q, %q) = %q, want it accepted", tt.country, code, got)
			}
		}
		for _, code := range tt.wrong {
			if policy.PostalProblem(tt.country, code) == "" {
				t.Errorf("PostalProblem(%q, %q): accepted, want a problem", tt.country, code)
			}
		}
	}
}

func TestPostalProblemSays(t *testing.T) {
	tests := []struct{ country, code, want string }{
		{"US", "ABCDE", "US postal codes look like 02138 or 02138-1234"},
		{"US", "", "US needs a postal_code such as 02138 or 02138-1234"},
		{"HK", "999077", "HK has no postal codes: leave postal_code out"},
		{"IE", "12345", "IE postal codes look like A65 F4E2, or leave postal_code out"},
	}
	for _, tt := range tests {
		if got := policy.PostalProblem(tt.country, tt.code); got != tt.want {
			t.Errorf("PostalProblem(%q, %q) = %q, want %q", tt.country, tt.code, got, tt.want)
		}
	}
}

// What a message tells people to send must itself be accepted, in either case
// and for every country, and no message may repeat the code it refuses.
func TestPostalExamplesPass(t *testing.T) {
	checked := 0
	for _, country := range append(strings.Fields(iso), "XK") {
		problem := policy.PostalProblem(country, "?!secret!?")
		if strings.Contains(problem, "secret") {
			t.Errorf("%s: the message repeats the code: %q", country, problem)
		}
		_, like, ok := strings.Cut(problem, "look like ")
		if !ok {
			continue
		}
		like, _, _ = strings.Cut(like, ",")
		for example := range strings.SplitSeq(like, " or ") {
			checked++
			for _, code := range []string{example, strings.ToLower(example), " " + example + "\t"} {
				if got := policy.PostalProblem(country, code); got != "" {
					t.Errorf("PostalProblem(%q, %q) = %q, but that is its own example", country, code, got)
				}
			}
		}
	}
	if checked < 170 {
		t.Errorf("only %d examples checked: has the wording changed?", checked)
	}
}

func FuzzPostalProblem(f *testing.F) {
	f.Add("US", "02138")
	f.Add("GB", "ſ1 1aa")
	f.Add("SE", "SE")
	f.Fuzz(func(t *testing.T, country, code string) {
		problem := policy.PostalProblem(country, code)
		if len(problem) > 100 {
			t.Errorf("%d bytes long: %q", len(problem), problem)
		}
		if problem != "" && !policy.KnownCountry(country) {
			t.Errorf("a rule for the unknown country %q", country)
		}
	})
}
