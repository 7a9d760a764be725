package leaks_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"countersign/evals/leaks"
)

// The search finds what it is for, and isn't alarmed by what the log holds.
func TestLeaksAreFound(t *testing.T) {
	for _, secret := range []string{"anna@example.com", "4242 4242 4242 4242", "+49 30 1234567", "Zoë O’Brien-Łuczak", "山田太郎", "215 River Road", "서울특 Ñandú ﷼"} {
		upper, quoted := strings.ToUpper(secret), strconv.QuoteToASCII(secret)
		for name, written := range map[string]string{
			"plain": secret, "upper": upper, "NFKC": norm.NFKC.String(secret), "NFD": norm.NFD.String(secret),
			"without blanks": strings.ReplaceAll(secret, " ", ""), "dots": strings.ReplaceAll(secret, " ", "."),
			"query": url.QueryEscape(secret), "path": url.PathEscape(upper), "JSON": quoted, "JSON in JSON": strconv.QuoteToASCII(quoted),
			"hex":  hex.EncodeToString([]byte(secret)),
			"b64":  base64.StdEncoding.EncodeToString([]byte(secret)),
			"b64+": base64.RawURLEncoding.EncodeToString([]byte("x" + secret)), "b64++": base64.StdEncoding.EncodeToString([]byte("xy" + secret + "z")),
			"b64+++": base64.StdEncoding.EncodeToString([]byte("xyz" + strings.ToLower(secret) + " yes")),
		} {
			if !leaks.New(`{"at":"2026-05-01T12:00:00Z","client":"` + written + `","hash":"0f"}`).Holds(secret) {
				t.Errorf("%q isn't found as %s: %q", secret, name, written)
			}
		}
		if leaks.New(`{"at":"2026-05-01T12:00:00Z","order_id":"#W2611340","customer":"CK-x1","hash":"0f3a"}`).Holds(secret) {
			t.Errorf("%q is found where it isn't", secret)
		}
		if len(leaks.Telling(secret)) != 1 {
			t.Errorf("%q isn't searched for", secret)
		}
	}
}
