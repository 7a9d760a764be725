package policy

import (
	"math"
	"time"
)

// day is a calendar day, counted from 1970-01-01. Windows are compared in days rather than in instants, so that no
// change of the clock can move them.
type day int64

// never is the last day of a window that has not begun to close: nothing was delivered.
const never day = math.MaxInt64

// dayOf returns the calendar day of an instant in a zone.
func dayOf(t time.Time, zone *time.Location) day {
	y, m, d := t.In(zone).Date()
	return day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// String returns the day as 2006-01-02.
func (d day) String() string {
	return d.midnightUTC().Format(time.DateOnly)
}

func (d day) midnightUTC() time.Time {
	return time.Unix(int64(d)*86400, 0).UTC()
}

// lastInstant returns the last whole second of a day in a zone. It walks back through the zone's stretches of constant
// offset, because on the days the clock changes 23:59:59 may come twice or not at all.
func (d day) lastInstant(zone *time.Location) time.Time {
	clock := d.midnightUTC().AddDate(0, 0, 1).Add(-time.Second) // 23:59:59, as a clock shows it
	at := clock.AddDate(0, 0, 2).In(zone)
	for {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		last := clock.Add(-time.Duration(offset) * time.Second)
		if !end.IsZero() && !last.Before(end) {
			last = end.Add(-time.Second)
		}
		if start.IsZero() || !last.Before(start) {
			return last.UTC()
		}
		at = start.Add(-time.Second)
	}
}

// windowEnd returns the last day of the window of something delivered then.
func (r Rules) windowEnd(delivered time.Time) day {
	if delivered.IsZero() {
		return never
	}
	return dayOf(delivered, r.zone()) + day(r.Refund.WindowDays)
}
