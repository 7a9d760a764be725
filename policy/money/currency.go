package money

import (
	"strings"
	"sync"
)

// The active codes of ISO 4217, list one (funds included), by the number of decimals the standard gives their minor
// unit. Codes without a minor unit (XAU, XDR, XTS, XXX and their like) are no money one could refund.
const (
	decimals0 = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
	decimals2 = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE " +
		"CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL " +
		"HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR " +
		"MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK " +
		"SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD " +
		"XCD XCG YER ZAR ZMW ZWG"
	decimals3 = "BHD IQD JOD KWD LYD OMR TND"
	decimals4 = "CLF UYW"
)

var exponents = sync.OnceValue(func() map[string]int { // a start needn't wait for it
	table := make(map[string]int)
	for exp, codes := range map[int]string{0: decimals0, 2: decimals2, 3: decimals3, 4: decimals4} {
		for _, code := range strings.Fields(codes) {
			table[code] = exp
		}
	}
	return table
})

// Exponent returns the number of decimals (0 to 4) of a currency, and false if the code is not an active one of
// ISO 4217 in capitals or has no minor unit.
func Exponent(currency string) (int, bool) {
	exp, ok := exponents()[currency]
	return exp, ok
}
