package store

import "time"

// Since is where a list of what was done here goes on; the zero Since is its
// start. Sequence numbers grow, whatever the clock does.
type Since struct {
	Seq  int64     // only rows after this sequence number
	Time time.Time // only rows of this moment or later
}

// from is the Time as rows hold it, "" for the start: less than every one.
func (s Since) from() string {
	if s.Time.IsZero() {
		return ""
	}
	return FormatTime(s.Time)
}
