package money_test

import (
	"strings"
	"testing"

	"countersign/policy/money"
)

func TestExponent(t *testing.T) {
	for exp, codes := range map[int]string{
		0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
		2: "USD EUR GBP COP IDR PKR HUF MGA MRU TWD IRR LBP AFN RSD SLE VES XCG ZWG CHE MXV",
		3: "BHD IQD JOD KWD LYD OMR TND",
		4: "CLF UYW",
	} {
		for _, code := range strings.Fields(codes) {
			if got, ok := money.Exponent(code); !ok || got != exp {
				t.Errorf("Exponent(%s) = %d, %t; want %d", code, got, ok, exp)
			}
		}
	}
}

func TestExponentRefuses(t *testing.T) {
	for _, code := range strings.Fields("usd Usd US USDT XAU XAG XPT XPD XDR XSU XUA XBA XBB XBC XBD XTS XXX DEM HRK SLL ZWL BTC") {
		if _, ok := money.Exponent(code); ok {
			t.Errorf("Exponent(%s) is known", code)
		}
	}
	if _, ok := money.Exponent(""); ok {
		t.Error("the empty currency is known")
	}
}
