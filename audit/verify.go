package audit

import (
	"context"
	"errors"
	"fmt"
	"math"

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
		err := v.AuditRows(store.AuditFilter{After: math.MinInt64}, func(r store.AuditRow) error {
			switch {
			case r.Seq != head.Seq+1:
				return fmt.Errorf("%w: row %d is missing", ErrAltered, head.Seq+1)
			case r.PrevHash != head.Hash:
				return fmt.Errorf("%w: row %d doesn't follow row %d", ErrAltered, r.Seq, head.Seq)
			case r.Hash != chainHash(r):
				return fmt.Errorf("%w: row %d isn't what was written", ErrAltered, r.Seq)
			case kept != nil && r.Seq == kept.Seq && r.Hash != kept.Hash:
				return fmt.Errorf("%w: row %d isn't the one that was kept", ErrAltered, r.Seq)
			}
			head = Head{Seq: r.Seq, Hash: r.Hash}
			return nil
		})
		if err == nil && kept != nil && kept.Seq > head.Seq {
			err = fmt.Errorf("%w: row %d is gone; the last one is %d", ErrTruncated, kept.Seq, head.Seq)
		}
		return err
	})
	return head, err
}
