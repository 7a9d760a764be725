package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// plainText folds what makes no difference between two writings of the same
// text: compatibility forms, case and blanks.
func plainText(text string) string {
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFKC.String(text))), " ")
}

// keyOf returns a digest that is equal for equal parts only.
func keyOf(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// rfc3339 writes a time as answers have it; the zero time is empty.
func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
