package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/store"
)

// listFlags are those of the lists that a shop's own system reads on and on.
type listFlags struct {
	since string
	json  bool
}

func (f *listFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.since, "since", "", "only what has a larger sequence number than this, or since this `seq|time`: RFC 3339, a date (UTC), or a while ago such as 24h or 7d")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
}

// from reads --since.
func (f *listFlags) from(now time.Time) (since store.Since, err error) {
	if f.since != "" && strings.Trim(f.since, "0123456789") == "" {
		if since.Seq, err = strconv.ParseInt(f.since, 10, 64); err != nil {
			return since, usageError{errors.New("--since: this sequence number is too large")}
		}
		return since, nil
	}
	if since.Time, err = parseSince(f.since, now); err != nil {
		err = usageError{errors.New("--since takes a sequence number, a time such as 2026-05-01T12:00:00Z, a date such as 2026-05-01 (UTC), or a while ago such as 24h or 7d")}
	}
	return since, err
}
