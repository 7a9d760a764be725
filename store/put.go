package store

import "time"

// A Change says what storing a row of the shop's data did.
type Change string

// What an upsert can do. A row that comes from the same source text as its last
// import is unchanged: nothing is written, and its times keep their meaning.
const (
	Added     Change = "new"
	Changed   Change = "changed"
	Unchanged Change = "unchanged"
	LeftOut   Change = "left out" // of a customer that was erased
)

// earliest returns the earlier of two times, of which the zero time is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
