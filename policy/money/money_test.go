package money_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"countersign/policy/money"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, currency string
		want           int64
	}{
		{"144.00", "USD", 14400},
		{"12.5", "USD", 1250},
		{"12.50", "USD", 1250},
		{"12", "USD", 1200},
		{"0.01", "USD", 1},
		{"0", "USD", 0},
		{"0.00", "USD", 0},
		{"007.5", "USD", 750},
		{"5400", "JPY", 5400},
		{"0", "JPY", 0},
		{"1.234", "KWD", 1234},
		{"1.2", "KWD", 1200},
		{"1.0001", "CLF", 10001},
		{"1000.50", "COP", 100050},
		{"92233720368547758.07", "USD", math.MaxInt64},
		{"9223372036854775807", "JPY", math.MaxInt64},
		{strings.Repeat("0", 5000) + "1", "USD", 100},
	} {
		got, err := money.Parse(c.text, c.currency)
		if want := (money.Amount{Minor: c.want, Currency: c.currency}); err != nil || got != want {
			t.Errorf("Parse(%.40q, %s) = %v, %v; want %v", c.text, c.currency, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		text, currency string
		want           error
	}{
		{"12.505", "USD", money.ErrDecimals},
		{"12.500", "USD", money.ErrDecimals},
		{"5400.50", "JPY", money.ErrDecimals},
		{"5400.0", "JPY", money.ErrDecimals},
		{"1.2345", "KWD", money.ErrDecimals},
		{"", "USD", money.ErrFormat},
		{" 5", "USD", money.ErrFormat},
		{"5 ", "USD", money.ErrFormat},
		{"5\n", "USD", money.ErrFormat},
		{"5.", "USD", money.ErrFormat},
		{"5.", "JPY", money.ErrFormat},
		{".5", "USD", money.ErrFormat},
		{".", "USD", money.ErrFormat},
		{"1.2.3", "USD", money.ErrFormat},
		{"1e3", "USD", money.ErrFormat},
		{"-5", "USD", money.ErrFormat},
		{"+5", "USD", money.ErrFormat},
		{"NaN", "USD", money.ErrFormat},
		{"12,50", "USD", money.ErrFormat},
		{"1,000.00", "USD", money.ErrFormat},
		{"1_000", "USD", money.ErrFormat},
		{"0x10", "USD", money.ErrFormat},
		{"$5", "USD", money.ErrFormat},
		{"٥", "USD", money.ErrFormat},
		{"５", "USD", money.ErrFormat},
		{"5.٥", "USD", money.ErrFormat},
		{"92233720368547758.08", "USD", money.ErrRange},
		{"9223372036854775808", "JPY", money.ErrRange},
		{strings.Repeat("9", 5000), "USD", money.ErrRange},
		{"5", "", money.ErrCurrency},
		{"5", "usd", money.ErrCurrency},
		{"5", "USDT", money.ErrCurrency},
		{"5", "XAU", money.ErrCurrency},
	} {
		got, err := money.Parse(c.text, c.currency)
		if !errors.Is(err, c.want) || got != (money.Amount{}) {
			t.Errorf("Parse(%.40q, %q) = %v, %v; want %v", c.text, c.currency, got, err, c.want)
		}
	}
}

func TestParseErrorTexts(t *testing.T) {
	for _, c := range []struct{ text, currency, want string }{
		{"<b>", "USD", `not an amount: send plain decimal digits such as "12.50" for USD`},
		{"<b>", "JPY", `not an amount: send plain decimal digits such as "1250" for JPY`},
		{"1.234", "USD", `too many decimals: send at most 2 for USD, such as "12.50"`},
		{"1.2", "JPY", `too many decimals: JPY has none, send whole units such as "1250"`},
		{"99999999999999999999", "KWD", `amount too large: send at most 9223372036854775.807 for KWD`},
		{"1", "<b>", `unknown currency: use an ISO 4217 code in capitals, such as USD`},
	} {
		_, err := money.Parse(c.text, c.currency)
		if err == nil {
			t.Fatalf("Parse(%q, %s): no error", c.text, c.currency)
		}
		if diff := cmp.Diff(c.want, err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		minor    int64
		currency string
		want     string
	}{
		{14400, "USD", "144.00"},
		{5, "USD", "0.05"},
		{0, "USD", "0.00"},
		{-5, "USD", "-0.05"},
		{-14400, "USD", "-144.00"},
		{5400, "JPY", "5400"},
		{0, "JPY", "0"},
		{-7, "JPY", "-7"},
		{1234, "KWD", "1.234"},
		{1, "CLF", "0.0001"},
		{math.MaxInt64, "USD", "92233720368547758.07"},
		{math.MinInt64, "USD", "-92233720368547758.08"},
		{12, "???", "12"},
	} {
		a := money.Amount{Minor: c.minor, Currency: c.currency}
		if got := a.Decimal(); got != c.want {
			t.Errorf("%d %s: Decimal() = %q, want %q", c.minor, c.currency, got, c.want)
		}
		if got := a.Format(); got != c.want+" "+c.currency {
			t.Errorf("%d %s: Format() = %q", c.minor, c.currency, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"144.00", "12.5", "0", "007", "1e3", "-5", "5.", "92233720368547758.08", "٥", ""} {
		for _, currency := range []string{"USD", "JPY", "KWD", "CLF", "XAU"} {
			f.Add(seed, currency)
		}
	}
	f.Fuzz(func(t *testing.T, text, currency string) {
		a, err := money.Parse(text, currency)
		if err != nil {
			if len(text) > 60 && strings.Contains(err.Error(), text) {
				t.Fatalf("the error repeats the text: %v", err)
			}
			return
		}
		if a.Minor < 0 || a.Currency != currency {
			t.Fatalf("Parse(%q, %q) = %v", text, currency, a)
		}
		again, err := money.Parse(a.Decimal(), currency)
		if err != nil || again != a {
			t.Fatalf("%q became %v, whose text %q became %v, %v", text, a, a.Decimal(), again, err)
		}
	})
}
