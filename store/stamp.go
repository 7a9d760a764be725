package store

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"
)

// stampLayout is RFC 3339 in UTC with microseconds, always of one width: texts
// compare as the times do.
const stampLayout = "2006-01-02T15:04:05.000000Z"

// stamp stores and scans a time; the zero time is null.
type stamp time.Time

func (s stamp) Value() (driver.Value, error) {
	if time.Time(s).IsZero() {
		return nil, nil
	}
	return time.Time(s).UTC().Format(stampLayout), nil
}

// into scans a column into t.
func into(t *time.Time) sql.Scanner { return (*stamp)(t) }

func (s *stamp) Scan(value any) error {
	switch text := value.(type) {
	case nil:
		*s = stamp{}
		return nil
	case string:
		t, err := time.Parse(stampLayout, text)
		*s = stamp(t)
		return err
	}
	return fmt.Errorf("a time stored as %T", value)
}

// FormatTime returns t as rows keep it: RFC 3339, UTC, microseconds, always of
// one width.
func FormatTime(t time.Time) string { return t.UTC().Format(stampLayout) }
