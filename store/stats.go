package store

import (
	"time"
)

// TicketTool is the tool that files tickets.
const TicketTool = "escalate_to_human"

// A Stat counts what was asked of people by one tool in one category. What was
// asked is open, decided, expired or stale.
type Stat struct {
	Tool     string
	Category string // of a ticket or a request; "" for approvals, and where categories are added up
	Asked    int64
	Open     int64
	Decided  int64 // approved, rejected, answered, declined; of tickets, the closed ones
	Approved int64 // of those decided; also for less than was asked, and a request that was answered
	Expired  int64
	Stale    int64

	// Timed is how many have come to a first answer: a decision, and for a ticket
	// its first reply, else its closing. Median and P90 are how long those took, by
	// nearest rank: the shortest time within which half of them, or nine in ten,
	// had theirs. Both are 0 where Timed is.
	Timed       int64
	Median, P90 time.Duration
}

// mostCategories is how many categories are told apart: those of requests are
// a model's free text, and may be any number. The rest are added up as "".
const mostCategories = 50

// selectStats counts what was asked from ?1 on, as of ?2, by tool and, unless ?3
// is true, by category.
const selectStats = `with asked as (
	select tool, iif(tool = ?4, trim(coalesce(json_extract(arguments, '$.category'), '')), '') as category, created_at,
		iif(state = 'pending' and expires_at <= ?2, 'expired', state) as state, iif(state = 'stale', null, decided_at) as answered_at
	from approvals where created_at >= ?1
	union all
	select ?5, category, created_at, state,
		coalesce((select min(r.created_at) from ticket_replies r where r.ticket_id = t.id), closed_at)
	from tickets t where created_at >= ?1
), told_apart as (
	select tool, category from asked group by tool, category order by count(*) desc, tool, category limit ?6
), things as (
	select tool, iif(?3 or (tool, category) not in (select tool, category from told_apart), '', category) as category, state,
		max(0, cast(round((julianday(answered_at) - julianday(created_at)) * 86400000) as integer)) as took
	from asked
), ranked as (
	select *, row_number() over alike as rank, count(took) over (partition by tool, category) as timed
	from things window alike as (partition by tool, category order by took nulls last)
)
select tool, category, count(*), sum(state in ('pending', 'open')), sum(state in ('approved', 'rejected', 'closed')),
	sum(state = 'approved'), sum(state = 'expired'), sum(state = 'stale'), count(took),
	coalesce(min(took) filter (where rank * 100 >= timed * 50), 0), coalesce(min(took) filter (where rank * 100 >= timed * 90), 0)
from ranked group by tool, category order by tool, category = '', count(*) desc, category`

// StatsByCategory counts what was asked since a moment, for each tool the most
// frequent category first and what isn't told apart last.
func (v *View) StatsByCategory(since time.Time) ([]Stat, error) { return v.stats(since, false) }

// StatsByTool counts what was asked since a moment, all categories of a tool together.
func (v *View) StatsByTool(since time.Time) ([]Stat, error) { return v.stats(since, true) }

func (v *View) stats(since time.Time, byTool bool) (stats []Stat, err error) {
	args := []any{Since{Time: since}.from(), stamp(v.Now), byTool, RequestTool, TicketTool, mostCategories}
	err = v.rows(selectStats, args, func(rows scanner) error {
		var s Stat
		var median, p90 int64
		err := rows.Scan(&s.Tool, &s.Category, &s.Asked, &s.Open, &s.Decided, &s.Approved, &s.Expired, &s.Stale, &s.Timed, &median, &p90)
		s.Median, s.P90 = time.Duration(median)*time.Millisecond, time.Duration(p90)*time.Millisecond
		stats = append(stats, s)
		return err
	})
	return stats, err
}

// A RefundSum adds up refunds of one currency.
type RefundSum struct {
	Currency string
	Human    bool // a human decided them
	Count    int64
	Amount   int64 // minor units
}

// RefundSums adds up the refunds made since a moment, by currency and by whether
// a human decided them.
func (v *View) RefundSums(since time.Time) (sums []RefundSum, err error) {
	err = v.rows(`select currency, human, count(*), sum(amount) from refunds where created_at >= ?
		group by currency, human order by currency, human`, []any{Since{Time: since}.from()}, func(rows scanner) error {
		var s RefundSum
		defer func() { sums = append(sums, s) }()
		return rows.Scan(&s.Currency, &s.Human, &s.Count, &s.Amount)
	})
	return sums, err
}
