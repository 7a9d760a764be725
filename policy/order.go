package policy

import (
	"math"
	"time"

	"countersign/policy/money"
)

// The states of an order.
const (
	Processing = "processing"
	Shipped    = "shipped"
	Delivered  = "delivered"
	Cancelled  = "cancelled"
)

// Order is what the refund rules have to know about an order. All money is in minor units of Currency.
type Order struct {
	Status   string
	Currency string
	// Paid is what was captured. Refunded is everything given back, here and by the shop itself.
	Paid, Refunded int64
	Lines          []Line
	Parcels        []Parcel
	// DeliveredAt is the order's own date of delivery, for parcels without one; zero when not known.
	DeliveredAt time.Time
	// Charges are every refund made and every request that still waits. What Refunded has beyond them counts as made
	// by the shop when every window was open.
	Charges []Charge
	// HumanSaidNo tells that a human rejected a refund on this order, or approved less than was asked.
	HumanSaidNo bool
	// CustomerAuto24h is what this customer was refunded without a human in this currency over the last 24 hours.
	CustomerAuto24h int64
}

// Line is a line of an order. Lines without a quantity are worth nothing.
type Line struct {
	SKU                 string
	Quantity, UnitPrice int64
}

// Parcel is one shipment of an order. Delivered is its first delivery, zero when there was none: then the order's own
// date counts. A parcel without items carries every line.
type Parcel struct {
	Delivered time.Time
	Items     []ParcelItem
}

// ParcelItem says how many units of an article a parcel carries.
type ParcelItem struct {
	SKU      string
	Quantity int64
}

// Charge is a refund made, or a request that still waits. JudgedAt is the moment its window was judged: when it was
// asked for.
type Charge struct {
	Minor    int64
	JudgedAt time.Time
	Pending  bool // a request that waits for a human
	Human    bool // decided by a human
	Imported bool // made by the shop itself
}

// automatic returns what was refunded on the order here without a human.
func (o Order) automatic() int64 {
	return o.sum(func(c Charge) bool { return !c.Pending && !c.Human && !c.Imported })
}

func (o Order) awaiting() int64 {
	return o.sum(func(c Charge) bool { return c.Pending })
}

func (o Order) sum(counts func(Charge) bool) int64 {
	var total int64
	for _, c := range o.Charges {
		if counts(c) {
			total = plus(total, max(c.Minor, 0))
		}
	}
	return total
}

func (o Order) format(minor int64) string {
	return money.Amount{Minor: minor, Currency: o.Currency}.Format()
}

// plus adds two amounts that are not negative and stops at the largest int64.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// times multiplies two numbers, of which negative ones count as zero, and stops at the largest int64.
func times(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
