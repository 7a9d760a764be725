package policy

import (
	"cmp"
	"slices"
	"time"

	"countersign/policy/money"
)

// share is the part of what was paid for an order that belongs to one parcel: what is left of it, and the last day of
// its window.
type share struct {
	left    int64
	lastDay day
	carries bool // at least one unit
}

func (s share) openOn(d day) bool   { return d <= s.lastDay }
func (s share) delivered() bool     { return s.lastDay != never }
func byLastDay(a, b *share) int     { return cmp.Compare(a.lastDay, b.lastDay) }
func byLastDayDesc(a, b *share) int { return cmp.Compare(b.lastDay, a.lastDay) }

// shares spreads what was paid over the order's lines by value, every line over the parcels by units, and takes off
// what was refunded and what waits. The last share is that of units in no parcel; they count as delivered with the
// order.
func (r Rules) shares(o Order) []share {
	shares := make([]share, len(o.Parcels)+1)
	for i, p := range o.Parcels {
		if p.Delivered.IsZero() {
			p.Delivered = o.DeliveredAt
		}
		shares[i].lastDay = r.windowEnd(p.Delivered)
	}
	shares[len(o.Parcels)].lastDay = r.windowEnd(o.DeliveredAt)

	lines, values := valued(o)
	units := carried(o, lines, shares)
	for i, paid := range money.Allocate(max(o.Paid, 0), values) {
		for j, part := range money.Allocate(paid, units[i]) {
			shares[j].left += part
			shares[j].carries = shares[j].carries || units[i][j] > 0
		}
	}
	r.charge(o, shares)
	return shares
}

// valued returns the lines that have units and what each is worth. An order without any is one line that every parcel
// carries.
func valued(o Order) (lines []Line, values []int64) {
	for _, l := range o.Lines {
		if l.Quantity > 0 {
			lines, values = append(lines, l), append(values, times(l.Quantity, l.UnitPrice))
		}
	}
	if len(lines) == 0 {
		return []Line{{Quantity: 1}}, []int64{1}
	}
	return lines, values
}

// carried returns how many units of each line every share holds. A unit that several parcels could carry belongs to the
// one whose window closes last.
func carried(o Order, lines []Line, shares []share) [][]int64 {
	order := make([]int, len(o.Parcels))
	room := make([]map[string]int64, len(o.Parcels)) // nil: carries everything
	for i, p := range o.Parcels {
		order[i] = i
		if len(p.Items) == 0 || len(o.Lines) == 0 {
			continue
		}
		room[i] = make(map[string]int64)
		for _, item := range p.Items {
			room[i][item.SKU] = plus(room[i][item.SKU], max(item.Quantity, 0))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return byLastDayDesc(&shares[a], &shares[b]) })

	units := make([][]int64, len(lines))
	for i, l := range lines {
		units[i] = make([]int64, len(shares))
		left := l.Quantity
		for _, j := range order {
			n := left
			if room[j] != nil {
				n = min(left, room[j][l.SKU])
				room[j][l.SKU] -= n
			}
			units[i][j], left = n, left-n
		}
		units[i][len(o.Parcels)] = left
	}
	return units
}

// charge takes every refund and every waiting request, oldest first, off the shares.
func (r Rules) charge(o Order, shares []share) {
	charges := slices.SortedStableFunc(slices.Values(o.Charges), func(a, b Charge) int {
		return a.JudgedAt.Compare(b.JudgedAt)
	})
	known := o.sum(func(c Charge) bool { return !c.Pending })
	if o.Refunded > known {
		charges = slices.Insert(charges, 0, Charge{Minor: o.Refunded - known, Imported: true})
	}
	for _, c := range charges {
		left := max(c.Minor, 0)
		for _, s := range chargeOrder(shares, c.JudgedAt, r.zone()) {
			n := min(left, s.left)
			s.left, left = s.left-n, left-n
		}
	}
}

// chargeOrder returns the shares in the order in which a refund judged then uses them up: those open at the time,
// earliest-closing first and undelivered last, then the closed ones, latest-closed first.
func chargeOrder(shares []share, judged time.Time, zone *time.Location) []*share {
	var open, closed []*share
	for i := range shares {
		if s := &shares[i]; s.openOn(dayOf(judged, zone)) {
			open = append(open, s)
		} else {
			closed = append(closed, s)
		}
	}
	slices.SortStableFunc(open, byLastDay)
	slices.SortStableFunc(closed, byLastDayDesc)
	return append(open, closed...)
}
