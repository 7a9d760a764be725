package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"countersign/store"
)

// A Head names a row and its hash: kept elsewhere, it proves later that the log
// up to that row is still the same.
type Head struct {
	Seq  int64
	Hash string
}

func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Seq, h.Hash) }

// What verification can find.
var (
	ErrAltered   = errors.New("altered")
	ErrTruncated = errors.New("truncated")
)

// Verify reads the whole log and checks the chain. It returns the log's head,
// whose Seq is also the number of rows. A kept head (nil without one) must still
// be part of the log. The error wraps [ErrAltered], naming the first bad
// sequence number, or [ErrTruncated]; any other means that the check could not
// be made. No key is needed.
func Verify(ctx context.Context, db *store.DB, kept *Head) (head Head, err error) {
	err = db.View(ctx, func(v *store.View) error {
		err := v.AuditLinks(func(l store.AuditLink) error {
			switch {
			case l.Seq != head.Seq+1:
				return fmt.Errorf("%w: row %d is missing", ErrAltered, head.Seq+1)
			case l.PrevHash != head.Hash:
				return fmt.Errorf("%w: row %d doesn't follow row %d", ErrAltered, l.Seq, head.Seq)
			case !isHash(l.Hash, l.Hashed):
				return fmt.Errorf("%w: row %d isn't what was written", ErrAltered, l.Seq)
			case kept != nil && l.Seq == kept.Seq && l.Hash != kept.Hash:
				return fmt.Errorf("%w: row %d isn't the one that was kept", ErrAltered, l.Seq)
			}
			head = Head{Seq: l.Seq, Hash: l.Hash}
			return nil
		})
		if err == nil && kept != nil && kept.Seq > head.Seq {
			err = fmt.Errorf("%w: row %d is gone; the last one is %d", ErrTruncated, kept.Seq, head.Seq)
		}
		return err
	})
	return head, err
}

// isHash reports whether hash is the SHA-256 of data, in hex.
func isHash(hash string, data []byte) bool {
	sum := sha256.Sum256(data)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return hash == string(text[:])
}
