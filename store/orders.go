package store

import (
	"errors"
	"fmt"
	"time"

	"countersign/policy"
)

// An Order with its lines and parcels. Money is in minor units of Currency.
type Order struct {
	ID             string
	Customer       string // key
	Status         string
	Currency       string
	Placed         time.Time
	Delivered      time.Time // zero: not known
	Shipping       int64
	Tax            int64
	Discount       int64
	Total          int64
	Paid           int64
	Refunded       int64     // by the shop and here
	SourceRefunded time.Time // when the shop's own refunded figure last rose; zero: never
	Note           string
	Address        policy.Address
	Items          []Item
	Parcels        []Shipment // in the order the shop named them
	Acted          bool       // there are refunds or approvals of it
	// CustomerAuto24h is what its customer got back in its currency without a
	// human's decision in the last 24 hours.
	CustomerAuto24h int64
}

// An Item is one line of an order.
type Item struct {
	SKU       string
	Title     string
	Quantity  int64
	UnitPrice int64
}

const orderColumns = `id, customer, status, currency, placed_at, delivered_at, shipping, tax, discount, total, paid,
	refunded, source_refunded_at, note, recipient, line1, line2, city, region, postal_code, country`

// ErrForeignID is [ErrNotFound] for an id that exists and belongs to somebody
// else. Only the audit log may tell the two apart.
var ErrForeignID = fmt.Errorf("%w: another customer's", ErrNotFound)

// Order returns customer's own order by number as people write it. An unknown
// number gives [ErrNotFound], another customer's [ErrForeignID].
func (v *View) Order(customer, number string) (Order, error) {
	folded, ok := FoldNumber(number)
	if !ok {
		return Order{}, ErrNotFound
	}
	o, err := v.order("number = ? and customer = ?", folded, customer)
	if errors.Is(err, ErrNotFound) && onlyDigits(folded) {
		o, err = v.orderByDigits(customer, folded)
	}
	if errors.Is(err, ErrNotFound) {
		return Order{}, v.foreign("select 1 from orders where number = ?", folded)
	}
	return o, err
}

// OrderByID returns the order of an exact id, whoever it belongs to. It is for
// operators and for what has passed the ownership check already.
func (v *View) OrderByID(id string) (Order, error) { return v.order("id = ?", id) }

// AnyOrder returns the order of a number as people write it, whoever it belongs
// to; digits alone must fit one order only. It is for operators.
func (v *View) AnyOrder(number string) (Order, error) {
	folded, ok := FoldNumber(number)
	if !ok {
		return Order{}, ErrNotFound
	}
	o, err := v.order("number = ?", folded)
	if errors.Is(err, ErrNotFound) && onlyDigits(folded) {
		o, err = v.order("digits = ?1 and (select count(*) from orders where digits = ?1) = 1", folded)
	}
	return o, err
}

// orderByDigits finds "NW-5001" by "5001" where exactly one own order fits.
func (v *View) orderByDigits(customer, digits string) (Order, error) {
	return v.order(`customer = ?1 and digits = ?2
		and (select count(*) from orders where customer = ?1 and digits = ?2) = 1`, customer, digits)
}

// foreign tells an unknown id from one that its query finds at another customer.
func (v *View) foreign(query string, id string) error {
	var one int
	if err := v.row(query, []any{id}, &one); err != nil {
		return err
	}
	return ErrForeignID
}

func (v *View) order(where string, args ...any) (o Order, err error) {
	if err := v.row("select "+orderColumns+" from orders where "+where, args, orderFields(&o)...); err != nil {
		return Order{}, err
	}
	if err := errors.Join(v.lines(&o), v.parcels(&o), v.acts(&o)); err != nil {
		return Order{}, fmt.Errorf("order %s: %w", o.ID, err)
	}
	return o, nil
}

func (v *View) lines(o *Order) error {
	return v.rows("select sku, title, quantity, unit_price from order_items where order_id = ? order by line",
		[]any{o.ID}, func(rows scanner) error {
			var item Item
			defer func() { o.Items = append(o.Items, item) }()
			return rows.Scan(&item.SKU, &item.Title, &item.Quantity, &item.UnitPrice)
		})
}

// acts reads what was done here about an order.
func (v *View) acts(o *Order) error {
	return v.row(`select exists (select 1 from refunds where order_id = ?1) or exists (select 1 from approvals where order_id = ?1),
		(select coalesce(sum(amount), 0) from refunds where customer = ?2 and currency = ?3 and human = 0 and created_at > ?4)`,
		[]any{o.ID, o.Customer, o.Currency, stamp(v.Now.Add(-24 * time.Hour))}, &o.Acted, &o.CustomerAuto24h)
}

func orderFields(o *Order) []any {
	a := &o.Address
	return []any{&o.ID, &o.Customer, &o.Status, &o.Currency, into(&o.Placed), into(&o.Delivered), &o.Shipping, &o.Tax,
		&o.Discount, &o.Total, &o.Paid, &o.Refunded, into(&o.SourceRefunded), &o.Note,
		&a.Recipient, &a.Line1, &a.Line2, &a.City, &a.Region, &a.PostalCode, &a.Country}
}

// Orders returns the customer's newest orders, at most limit, without their
// details, and how many there are in all.
func (v *View) Orders(customer string, limit int) (orders []Order, count int, err error) {
	err = v.rows("select "+orderColumns+` from orders where customer = ? order by placed_at desc, id limit ?`,
		[]any{customer, limit}, func(rows scanner) error {
			var o Order
			defer func() { orders = append(orders, o) }()
			return rows.Scan(orderFields(&o)...)
		})
	err = errors.Join(err, v.row("select count(*) from orders where customer = ?", []any{customer}, &count))
	return orders, count, err
}

// OrderIDs returns the ids of all orders, sorted. It is for who compares a small
// shop with what it was.
func (v *View) OrderIDs() (ids []string, err error) {
	err = v.rows("select id from orders order by id", nil, func(rows scanner) error {
		var id string
		defer func() { ids = append(ids, id) }()
		return rows.Scan(&id)
	})
	return ids, err
}
