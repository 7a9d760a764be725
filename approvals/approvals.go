// Package approvals parks actions that a human has to decide and says how they
// stand. It decides none: that is for the operator's side alone.
package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"countersign/store"
)

// ErrAltered means that a parked request isn't what was asked for any more.
var ErrAltered = errors.New("the stored request differs from what was asked")

// Park stores a as a request that waits for a human until a.Expires.
func Park(tx *store.Tx, a store.Approval) (store.Approval, error) {
	a.Digest = digest(a)
	return tx.AddApproval(a)
}

// Check returns [ErrAltered] if the request's own fields are not the ones that
// were parked.
func Check(a store.Approval) error {
	if digest(a) != a.Digest {
		return fmt.Errorf("%s: %w", a.ID, ErrAltered)
	}
	return nil
}

// digest is a SHA-256 in hex over what would be done: each field by its length
// and text.
func digest(a store.Approval) string {
	sum := sha256.New()
	for _, field := range []string{
		a.Tool, string(a.Arguments), a.Customer, a.OrderID, fmt.Sprint(a.Amount), a.Currency, a.AskedBy,
		a.RequestKey, a.Policy, a.Expires.UTC().Format(time.RFC3339Nano),
	} {
		fmt.Fprintf(sum, "%d:%s", len(field), field)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
