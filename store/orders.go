package store

import (
	"database/sql"
	"encoding/json"
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
	SKU       string `json:"sku"`
	Title     string `json:"title"`
	Quantity  int64  `json:"quantity"`
	UnitPrice int64  `json:"unit_price"`
}

const orderColumns = `id, customer, status, currency, placed_at, delivered_at, shipping, tax, discount, total, paid,
	refunded, source_refunded_at, note, recipient, line1, line2, city, region, postal_code, country`

// orderDetails are read in the same statement as the order: most of what a
// statement costs is its start.
const orderDetails = `
	(select json_group_array(json_object('sku', sku, 'title', title, 'quantity', quantity, 'unit_price', unit_price)
		order by line) from order_items where order_id = orders.id),
	(select json_group_array(json_object('id', id, 'carrier', carrier, 'tracking_number', tracking_number, 'status', status,
		'eta', coalesce(eta, ''), 'delivered_at', delivered_at, 'items', json((
			select json_group_array(json_object('sku', sku, 'quantity', quantity) order by line)
			from shipment_items where shipment_id = shipments.id))) order by id)
		from shipments where order_id = orders.id),
	exists (select 1 from refunds where order_id = orders.id) or exists (select 1 from approvals where order_id = orders.id),
	(select coalesce(sum(amount), 0) from refunds where customer = orders.customer and currency = orders.currency
		and human = 0 and created_at > ?)`

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

// orderByDigits finds "NW-5001" by "5001" where exactly one own order fits.
func (v *View) orderByDigits(customer, digits string) (Order, error) {
	return v.order(`customer = ?2 and digits = ?3
		and (select count(*) from orders where customer = ?2 and digits = ?3) = 1`, customer, digits)
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
	var items, parcels []byte
	args = append([]any{stamp(v.Now.Add(-24 * time.Hour))}, args...)
	err = v.row("select "+orderColumns+","+orderDetails+" from orders where "+where, args,
		append(orderFields(&o), &items, &parcels, &o.Acted, &o.CustomerAuto24h)...)
	if err != nil {
		return Order{}, err
	}
	if err := errors.Join(json.Unmarshal(items, &o.Items), json.Unmarshal(parcels, &o.Parcels)); err != nil {
		return Order{}, fmt.Errorf("order %s: %w", o.ID, err)
	}
	return o, nil
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
		[]any{customer, limit}, func(rows *sql.Rows) error {
			var o Order
			defer func() { orders = append(orders, o) }()
			return rows.Scan(orderFields(&o)...)
		})
	err = errors.Join(err, v.row("select count(*) from orders where customer = ?", []any{customer}, &count))
	return orders, count, err
}

// SetAddress changes where an order goes. It fails on an order that is no
// longer processing, whatever the caller believed.
func (tx *Tx) SetAddress(orderID string, a policy.Address) error {
	return tx.execOne(`update orders set recipient = ?, line1 = ?, line2 = ?, city = ?, region = ?, postal_code = ?,
		country = ?, address_changed_at = ? where id = ? and status = 'processing'`,
		a.Recipient, a.Line1, a.Line2, a.City, a.Region, a.PostalCode, a.Country, stamp(tx.Now), orderID)
}
