package ingest_test

import (
	"strings"
	"testing"
	"time"

	"countersign/store"
	"countersign/store/ingest"
	"countersign/store/storetest"
)

// FuzzRead looks for panics and for problems that repeat personal data. None of
// our own words hold an @ or anything beyond ASCII, so neither may a problem.
func FuzzRead(f *testing.F) {
	f.Add(goodLines)
	f.Add("\ufeff" + spoil(goodLines, "\n", "\r\n"))
	for _, row := range badLines() {
		if len(row.line) < 10_000 {
			f.Add(spoil(row.line+" ", " ", "", "Ada", "Zoë@home", "C-1", "zoë@home", "S", "Zoë@home"))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		batch, err := ingest.Read(strings.NewReader(text), storetest.Start)
		check(t, err)
		for _, p := range batch.Problems() {
			if strings.ContainsFunc(p.String(), func(r rune) bool { return r == '@' || r < ' ' || r > '~' }) {
				t.Errorf("a problem repeats the file: %q", p.String())
			}
			if p.Line < 1 || p.Line > strings.Count(text, "\n")+1 {
				t.Errorf("no such line: %v", p)
			}
		}
	})
}

// FuzzMoment looks for times that are accepted and come back from a row as
// another one, and for those that no calendar with four digits can write.
func FuzzMoment(f *testing.F) {
	for _, text := range []string{
		"2026-05-01T12:00:00Z", "2026-05-01T12:00:00.123456789+05:30", "2024-02-29T23:59:59-12:00", "2026-05-01", "-12d", "-3h", "+30m", "+0d",
		"-3650d", "-3651d", "+9999999m", "1970-01-01T00:00:00+23:59", "2999-12-31T23:59:59-23:59", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
		"2026-05-01T24:00:00Z", "2026-05-01T23:59:60Z", "2026-05-01t12:00:00z", "2026-5-1T12:00:00Z", "2026-05-01T12:00:00,5Z", "-\u0661d", "", "now", "-9223372036854775808d",
	} {
		f.Add(text, int64(0))
	}
	f.Fuzz(func(t *testing.T, text string, offset int64) {
		const away = 30 * 365 * 24 * 3600 // far enough from the first and the last year that are taken
		now := storetest.Start.Add(time.Duration(offset%away) * time.Second)
		if at, err := ingest.Moment(text, now); err == nil {
			again, err := time.Parse(time.RFC3339, store.FormatTime(at))
			if err != nil || !again.Equal(at.Truncate(time.Microsecond)) || at.Year() < 1 || at.Year() > 9999 || at.Location() != time.UTC {
				t.Errorf("%q is %v and comes back as %v: %v", text, at, again, err)
			}
			if read, err := ingest.Moment(store.FormatTime(at), now); err != nil || !read.Equal(again) {
				t.Errorf("%q is %v and is read again as %v: %v", text, at, read, err)
			}
		}
		if day, err := ingest.Date(text, now); err == nil {
			if at, err := time.Parse(time.DateOnly, day); err != nil || at.Year() < 1 || at.Year() > 9999 {
				t.Errorf("%q is the date %q: %v", text, day, err)
			}
			if again, err := ingest.Date(day, now); err != nil || again != day {
				t.Errorf("%q is the date %q and is read again as %q: %v", text, day, again, err)
			}
		}
	})
}
