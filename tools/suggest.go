package tools

import (
	"fmt"
	"strings"

	"countersign/store/strictjson"
)

// suggestion names the field that was probably meant.
func suggestion(name string, known []string) string {
	best, least := "", 3 // more than two edits are another word
	for _, candidate := range known {
		if d := distance(plain(name), plain(candidate)); d < least {
			best, least = candidate, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	if len(known) == 0 {
		return "; this takes no fields"
	}
	return "; the fields are " + strings.Join(known, ", ")
}

// plain folds orderId, order-id and ORDER_ID together.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	const long = 40
	if len(a) > long || len(b) > long {
		return long
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func quoteKey(key string) string { return fmt.Sprintf("%q", strictjson.SafeKey(key)) }
