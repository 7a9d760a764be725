package policy_test

import (
	"testing"
	"time"

	"countersign/policy"
)

func at(t *testing.T, zone, clock string) time.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	instant, err := time.ParseInLocation("2006-01-02 15:04:05", clock, loc)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name, zone, delivered string
		days                  int
		ends                  string // RFC 3339
	}{
		{"30 days across the end of daylight saving", "America/New_York", "2025-10-05 20:00:00", 30, "2025-11-04T23:59:59-05:00"},
		{"30 days across its beginning", "America/New_York", "2025-02-20 08:00:00", 30, "2025-03-22T23:59:59-04:00"},
		{"last day is the one that has 25 hours", "Europe/Berlin", "2025-10-25 10:00:00", 1, "2025-10-26T23:59:59+01:00"},
		{"same day", "UTC", "2025-10-05 00:00:00", 0, "2025-10-05T23:59:59Z"},
		{"first second of the day", "Asia/Tokyo", "2025-10-05 00:00:00", 7, "2025-10-12T23:59:59+09:00"},
		{"last second of the day", "Asia/Tokyo", "2025-10-05 23:59:59", 7, "2025-10-12T23:59:59+09:00"},
		{"the day after begins at 01:00", "Africa/Cairo", "2025-04-23 12:00:00", 1, "2025-04-24T23:59:59+02:00"},
		{"last day begins at 01:00", "Africa/Cairo", "2025-04-24 12:00:00", 1, "2025-04-25T23:59:59+03:00"},
		{"23:59:59 comes twice", "America/Sao_Paulo", "2018-02-16 12:00:00", 1, "2018-02-17T23:59:59-03:00"},
		{"last day was skipped", "Pacific/Apia", "2011-12-29 12:00:00", 1, "2011-12-29T23:59:59-10:00"},
		{"ten years, over a leap day", "UTC", "2020-01-01 12:00:00", 3650, "2029-12-29T23:59:59Z"},
		{"end of the year", "UTC", "2025-12-31 12:00:00", 1, "2026-01-01T23:59:59Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := policy.Default()
			loc, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			rules.Zone, rules.Refund.WindowDays = loc, c.days
			o := order(10000, func(o *policy.Order) { o.DeliveredAt = at(t, c.zone, c.delivered) })
			ends, err := time.Parse(time.RFC3339, c.ends)
			if err != nil {
				t.Fatal(err)
			}
			s := rules.State(o, ends)
			if !s.WindowEnds.Equal(ends) || s.Refundable != 10000 {
				t.Errorf("window ends %s with %d refundable, want %s with 10000", s.WindowEnds.In(loc), s.Refundable, c.ends)
			}
			if s = rules.State(o, ends.Add(time.Second)); s.Refundable != 0 || s.Code != policy.RefundWindowExpired {
				t.Errorf("a second later: %d refundable, code %q", s.Refundable, s.Code)
			}
		})
	}
}

// Case 26: 30 × 24 hours ended at 19:00, the thirtieth day has not.
func TestWindowCountsDaysNotHours(t *testing.T) {
	rules := parse(t, "timezone: America/New_York")
	o := order(5000, func(o *policy.Order) { o.DeliveredAt = at(t, "America/New_York", "2025-10-05 20:00:00") })
	for clock, want := range map[string]policy.Outcome{
		"2025-11-04 19:30:00": policy.Allow,
		"2025-11-04 23:59:59": policy.Allow,
		"2025-11-05 00:00:00": policy.Refuse,
	} {
		d := rules.DecideRefund(policy.RefundRequest{Order: o, AskedAt: at(t, "America/New_York", clock)})
		if d.Outcome != want {
			t.Errorf("%s: %s (%s), want %s", clock, d.Outcome, d.Message, want)
		}
	}
}

// The window is judged as of the request, also when it is decided later, and a parcel that came meanwhile is open.
func TestWindowAsOfTheRequest(t *testing.T) {
	delivered := at(t, "UTC", "2025-10-05 12:00:00")
	o := order(5000, func(o *policy.Order) { o.DeliveredAt = delivered })
	d := policy.Default().DecideRefund(policy.RefundRequest{Order: o, AskedAt: delivered.AddDate(0, 0, -3), Approved: true})
	if d.Outcome != policy.Allow || d.Amount != 5000 || d.State.Ready != 5000 {
		t.Errorf("%+v", d)
	}
}

func TestNoWindowWithoutDelivery(t *testing.T) {
	o := order(5000, func(o *policy.Order) { o.DeliveredAt = time.Time{} })
	if s := policy.Default().State(o, now); !s.WindowEnds.IsZero() || s.Undelivered != 5000 {
		t.Errorf("%+v", s)
	}
}
