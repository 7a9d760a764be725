package audit

import (
	"context"
	"time"

	"countersign/store"
)

// pollEvery is how often Tail looks for new rows when it follows the log.
const pollEvery = 200 * time.Millisecond

// Tail calls yield for the rows that fit f and, with follow, for each new one
// until ctx is done.
func Tail(ctx context.Context, db *store.DB, f store.AuditFilter, follow bool, yield func(store.AuditRow) error) error {
	for {
		err := db.View(ctx, func(v *store.View) error {
			last, _, err := v.AuditHead()
			if err != nil {
				return err
			}
			if last < f.After {
				f.After = 0 // a demo shop that was made anew
			}
			err = v.AuditRows(f, yield)
			f.After, f.Last = max(f.After, last), 0
			return err
		})
		if err != nil || !follow {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
}
