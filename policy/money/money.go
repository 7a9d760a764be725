// Package money holds amounts of money as whole minor units with their currency. It reads and writes them as decimal
// text, knows the exponents of ISO 4217, and splits an amount so that nothing is lost. No float is involved anywhere.
package money

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Errors of Parse, for errors.Is. Their texts say what to send instead and never repeat the text that was refused.
var (
	// ErrCurrency means that the currency is not an active code of ISO 4217 in capitals with a minor unit.
	ErrCurrency = errors.New("unknown currency: use an ISO 4217 code in capitals, such as USD")
	// ErrFormat means that the text is not plain decimal digits.
	ErrFormat = errors.New("not an amount")
	// ErrDecimals means that the text has more decimals than the currency.
	ErrDecimals = errors.New("too many decimals")
	// ErrRange means that the amount is larger than an int64 of minor units holds.
	ErrRange = errors.New("amount too large")
)

// Amount is a sum of money: Minor counts the smallest units of Currency (cents for USD, whole yen for JPY) and may be
// negative. Currency is an ISO 4217 code in capitals.
type Amount struct {
	Minor    int64
	Currency string
}

// Parse reads a decimal such as "12.50": ASCII digits and, if the currency has decimals, an optional point followed by
// one to that many digits. Signs, blanks, exponents, commas and other digits are refused; zero is an amount. The error
// wraps ErrCurrency, ErrFormat, ErrDecimals or ErrRange.
func Parse(text, currency string) (Amount, error) {
	exp, ok := Exponent(currency)
	if !ok {
		return Amount{}, ErrCurrency
	}
	whole, decimals, point := strings.Cut(text, ".")
	if !digits(whole) || point && !digits(decimals) {
		return Amount{}, fmt.Errorf("%w: send plain decimal digits such as %q for %s", ErrFormat, example(exp), currency)
	}
	if point && exp == 0 {
		return Amount{}, fmt.Errorf("%w: %s has none, send whole units such as %q", ErrDecimals, currency, example(exp))
	}
	if len(decimals) > exp {
		return Amount{}, fmt.Errorf("%w: send at most %d for %s, such as %q", ErrDecimals, exp, currency, example(exp))
	}
	minor, err := strconv.ParseInt(whole+decimals+strings.Repeat("0", exp-len(decimals)), 10, 64)
	if err != nil {
		return Amount{}, fmt.Errorf("%w: send at most %s for %s", ErrRange, decimal(math.MaxInt64, exp), currency)
	}
	return Amount{Minor: minor, Currency: currency}, nil
}

// Decimal writes the amount with all decimals of its currency: "144.00", "5400" for JPY, "-0.05". An unknown currency
// has none. Parse reads the text of every amount that is not negative back.
func (a Amount) Decimal() string {
	exp, _ := Exponent(a.Currency)
	return decimal(a.Minor, exp)
}

// Format writes the amount for people: "144.00 USD".
func (a Amount) Format() string {
	return a.Decimal() + " " + a.Currency
}

func decimal(minor int64, exp int) string {
	sign, size := "", uint64(minor)
	if minor < 0 {
		sign, size = "-", -size
	}
	text := strconv.FormatUint(size, 10)
	if exp == 0 {
		return sign + text
	}
	if missing := exp + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	point := len(text) - exp
	return sign + text[:point] + "." + text[point:]
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func example(exp int) string {
	if exp == 0 {
		return "1250"
	}
	return "12.5" + strings.Repeat("0", exp-1)
}
