package ingest

import (
	"errors"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// maxAway bounds relative times, in either direction.
const maxAway = 3650 * 24 * time.Hour

var (
	errMoment = errors.New(`send a time as RFC 3339, such as "2026-05-01T12:00:00Z", or relative to the import, such as "-12d", "-3h" or "+30m"`)
	errDate   = errors.New(`send a date, such as "2026-05-01", or relative to the import, such as "+3d"`)
	errAway   = errors.New("is more than 3650 days from the import")
	errYear   = errors.New("is outside the years 1970 to 2999")
)

var (
	relative = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([+-])([0-9]{1,7})([dhm])$`) })
	// absolute refuses what time.Parse lets pass: one-digit hours, decimal commas.
	absolute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^.{10}T.{8}(\.[0-9]+)?(Z|[+-].{5})$`) })
)

// moment reads a time: RFC 3339, or relative to now.
func moment(text string, now time.Time) (time.Time, error) {
	if match := relative().FindStringSubmatch(text); match != nil {
		return away(match, now)
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !absolute().MatchString(text) {
		return time.Time{}, errMoment
	}
	return inRange(t.UTC())
}

// date reads a date, or a relative time as the UTC date it falls on.
func date(text string, now time.Time) (string, error) {
	var t time.Time
	var err error
	if match := relative().FindStringSubmatch(text); match != nil {
		t, err = away(match, now)
	} else if t, err = time.Parse(time.DateOnly, text); err != nil {
		err = errDate
	} else {
		t, err = inRange(t)
	}
	if err != nil {
		return "", err
	}
	return t.Format(time.DateOnly), nil
}

// away returns the moment that a match of relative means.
func away(match []string, now time.Time) (time.Time, error) {
	unit := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute}[match[3]]
	count, err := strconv.Atoi(match[2])
	if err != nil || count > int(maxAway/unit) {
		return time.Time{}, errAway
	}
	distance := time.Duration(count) * unit
	if match[1] == "-" {
		distance = -distance
	}
	return now.UTC().Add(distance), nil
}

func inRange(t time.Time) (time.Time, error) {
	if t.Year() < 1970 || t.Year() > 2999 {
		return time.Time{}, errYear
	}
	return t, nil
}
