package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"countersign/policy/money"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) statsCommand() *cobra.Command {
	var since string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "stats", Short: "Count what was asked of people, and how long they took", Args: cobra.NoArgs,
		Long: `Count what was asked of people since a moment (approvals, requests, tickets), by
category and by tool, and what was refunded with and without a human.

Decided are approvals and requests that somebody said yes or no to, and tickets
that are closed; what expired is neither open nor decided, and nor is what went
stale, approvals of which nothing could be done any more (nothing was left to
refund). The times are those to the decision, for a ticket to its first reply or
else its closing: the shortest time within which half (MEDIAN) or nine in ten
(P90) had theirs.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.look(cmd, "stats", func(_ *settle.Office, v *store.View) error {
				from, err := parseSince(since, v.Now)
				if err != nil {
					return err
				}
				counts, err := countAll(v, from)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.out, counts)
				}
				a.printStats(counts)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only what was asked since this `time`: RFC 3339, a date (UTC), or a while ago such as 2h or 3d")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// statsView is everything that was counted.
type statsView struct {
	Since      string       `json:"since,omitempty"`
	ByCategory []statView   `json:"by_category"`
	ByTool     []statView   `json:"by_tool"`
	Refunded   []refundStat `json:"refunded"`
}

// statView counts what was asked by a tool. What there is none of is null.
type statView struct {
	Category *string  `json:"category,omitempty"` // "" for what isn't told apart
	Tool     string   `json:"tool"`
	Asked    int64    `json:"asked"`
	Open     int64    `json:"open"`
	Decided  int64    `json:"decided"`
	Expired  int64    `json:"expired"`
	Stale    int64    `json:"stale"`
	Approved *int64   `json:"approved"`       // null for tickets: nobody approves those
	Share    *float64 `json:"approved_share"` // of those decided
	Median   *float64 `json:"median_seconds"`
	P90      *float64 `json:"p90_seconds"`
}

// refundStat adds up the refunds of one currency.
type refundStat struct {
	Currency     string    `json:"currency"`
	WithHuman    refundSum `json:"with_human"`
	WithoutHuman refundSum `json:"without_human"`
}

type refundSum struct {
	Count  int64  `json:"count"`
	Amount string `json:"amount"`
}

func countAll(v *store.View, from time.Time) (s statsView, err error) {
	s = statsView{Since: stampText(from)}
	byCategory, err := v.StatsByCategory(from)
	if err != nil {
		return s, err
	}
	byTool, err := v.StatsByTool(from)
	if err != nil {
		return s, err
	}
	sums, err := v.RefundSums(from)
	s.ByCategory, s.ByTool, s.Refunded = viewStats(byCategory, true), viewStats(byTool, false), viewSums(sums)
	return s, err
}

func viewStats(stats []store.Stat, byCategory bool) []statView {
	views := []statView{}
	for _, s := range stats {
		view := statView{Tool: s.Tool, Asked: s.Asked, Open: s.Open, Decided: s.Decided, Expired: s.Expired, Stale: s.Stale}
		if byCategory {
			category := s.Category
			if category == "" {
				category = categoryOf(s.Tool)
			}
			view.Category = &category
		}
		if s.Tool != store.TicketTool {
			view.Approved = &s.Approved
		}
		if s.Tool != store.TicketTool && s.Decided > 0 {
			share := math.Round(float64(s.Approved)/float64(s.Decided)*1000) / 1000
			view.Share = &share
		}
		if s.Timed > 0 {
			median, p90 := s.Median.Seconds(), s.P90.Seconds()
			view.Median, view.P90 = &median, &p90
		}
		views = append(views, view)
	}
	return views
}

// categoryOf is the category of what a tool's approvals are about.
func categoryOf(tool string) string {
	for _, t := range slices.Concat(tools.All, tools.Human) {
		if t.Name == tool {
			return t.Category
		}
	}
	return ""
}

// viewSums puts both sums of a currency, which follow each other, together.
func viewSums(sums []store.RefundSum) []refundStat {
	stats := []refundStat{}
	for _, s := range sums {
		if n := len(stats); n == 0 || stats[n-1].Currency != s.Currency {
			none := refundSum{Amount: money.Amount{Currency: s.Currency}.Decimal()}
			stats = append(stats, refundStat{Currency: s.Currency, WithHuman: none, WithoutHuman: none})
		}
		sum := refundSum{s.Count, money.Amount{Minor: s.Amount, Currency: s.Currency}.Decimal()}
		if last := &stats[len(stats)-1]; s.Human {
			last.WithHuman = sum
		} else {
			last.WithoutHuman = sum
		}
	}
	return stats
}

// printStats prints tables for scripts, and charts on a terminal.
func (a *app) printStats(s statsView) {
	if len(s.ByCategory) == 0 {
		fmt.Fprintln(a.out, "Nothing was asked of anybody.")
	} else if a.width > 0 {
		a.printCharts(s)
	} else {
		printTable(a.out, append([]string{"CATEGORY"}, statHeadings...), statRows(s.ByCategory))
		fmt.Fprintln(a.out)
		printTable(a.out, statHeadings, statRows(s.ByTool))
	}
	fmt.Fprintln(a.out)
	if len(s.Refunded) == 0 {
		fmt.Fprintln(a.out, "Nothing was refunded.")
		return
	}
	a.printRefunded(s.Refunded)
}

// printRefunded prints a table, or sentences on a terminal too narrow for it.
func (a *app) printRefunded(refunded []refundStat) {
	const table = 60 // columns, with amounts of seven digits
	if a.width > 0 && a.width < table {
		for _, r := range refunded {
			fmt.Fprintln(a.out, fold(fmt.Sprintf("refunded %s: %s by a human (%d), %s by the policy (%d)",
				r.Currency, r.WithHuman.Amount, r.WithHuman.Count, r.WithoutHuman.Amount, r.WithoutHuman.Count), a.width))
		}
		return
	}
	var rows [][]string
	for _, r := range refunded {
		rows = append(rows, []string{r.Currency, r.WithHuman.Amount, strconv.FormatInt(r.WithHuman.Count, 10),
			r.WithoutHuman.Amount, strconv.FormatInt(r.WithoutHuman.Count, 10)})
	}
	printTable(a.out, []string{"REFUNDED", "BY A HUMAN", "TIMES", "BY THE POLICY", "TIMES"}, rows)
}

var statHeadings = []string{"TOOL", "ASKED", "OPEN", "DECIDED", "EXPIRED", "STALE", "APPROVED", "MEDIAN", "P90"}

func statRows(stats []statView) (rows [][]string) {
	for _, s := range stats {
		var row []string
		if s.Category != nil {
			row = append(row, s.categoryText())
		}
		for _, n := range []int64{s.Asked, s.Open, s.Decided, s.Expired, s.Stale} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		row = slices.Insert(row, len(row)-5, s.Tool)
		rows = append(rows, append(row, s.shareText(), secondsText(s.Median), secondsText(s.P90)))
	}
	return rows
}

// categoryText is the category for people; a model may have written it.
func (s statView) categoryText() string {
	if text := visibleLine(*s.Category); text != "" {
		return text
	}
	return "(other)"
}

// shareText is the share approved, "-" where nothing was decided.
func (s statView) shareText() string {
	if s.Share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", *s.Share*100)
}

func secondsText(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	return span(time.Duration(*seconds * float64(time.Second)))
}
