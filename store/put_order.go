package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign/policy"
)

// PutOrder stores an order as the shop's data has it, by its ID. o.Customer is
// the key of one that exists, o.Refunded the shop's own figure, and
// o.SourceRefunded is ignored. Source is the digest of the text it comes from.
//
// It never undoes what was done here: refunded never falls, an address that was
// changed here stays, and so does the earliest delivery ever seen. What would
// contradict what is kept gives a [Refused], and then nothing was written.
func (tx *Tx) PutOrder(o Order, source string) (Change, error) {
	number, ok := FoldNumber(o.ID)
	if !ok {
		return "", Refused{"id: needs a letter or a digit, and at most 64 bytes"}
	}
	old, err := tx.keptOrder(number)
	isNew := errors.Is(err, ErrNotFound)
	if err != nil && !isNew {
		return "", fmt.Errorf("order %s: %w", o.ID, err)
	}
	if !isNew && old.id == o.ID && old.source == source {
		return Unchanged, nil
	}
	figure := o.Refunded
	o.Delivered = earliest(old.delivered, o.Delivered)
	o.SourceRefunded = old.sourceRefundedAt
	if figure > old.sourceRefunded {
		o.SourceRefunded = tx.Now
	}
	// The old sum counts the shop's figure at our first refund and all of ours, so
	// the larger of the two is never less than those.
	o.Refunded = max(old.refunded, figure)
	if reasons := old.contradictions(o, isNew); reasons != nil {
		return "", Refused{strings.Join(reasons, "; ")}
	}
	change, write := Changed, tx.updateOrder
	if isNew {
		change, write = Added, tx.insertOrder
	}
	if err := errors.Join(write(o, number, figure, source), tx.putItems(o)); err != nil {
		return "", fmt.Errorf("order %s: %w", o.ID, err)
	}
	return change, nil
}

// keptOrder is what an order's next import is held against; zero for a new one.
type keptOrder struct {
	id, customer, status, currency string
	delivered                      time.Time
	refunded, sourceRefunded       int64
	sourceRefundedAt               time.Time
	source                         string
}

func (v *View) keptOrder(number string) (k keptOrder, err error) {
	err = v.row(`select id, customer, status, currency, delivered_at, refunded, source_refunded, source_refunded_at, source
		from orders where number = ?`, []any{number}, &k.id, &k.customer, &k.status, &k.currency, into(&k.delivered),
		&k.refunded, &k.sourceRefunded, into(&k.sourceRefundedAt), &k.source)
	return k, err
}

// contradictions says what of o, its refunded sum settled, can't follow k.
func (k keptOrder) contradictions(o Order, isNew bool) (reasons []string) {
	if o.Paid < o.Refunded {
		reasons = append(reasons, "paid: is less than what was refunded, by the shop or here")
	}
	if isNew {
		return reasons
	}
	if o.ID != k.id {
		return []string{"id: an order is stored whose number reads the same; case, blanks, kinds of hyphen and # make no difference"}
	}
	if o.Customer != k.customer {
		reasons = append(reasons, "customer_id: the order belongs to another customer; an order's owner can't change")
	}
	if o.Currency != k.currency {
		reasons = append(reasons, "currency: the order is stored in another one; an order's currency can't change")
	}
	if k.status == policy.Cancelled && o.Status != k.status {
		reasons = append(reasons, "status: the order is cancelled; that can't be taken back")
	}
	return reasons
}

func (tx *Tx) insertOrder(o Order, number string, figure int64, source string) error {
	a := o.Address
	return tx.execOne(`insert into orders (id, number, digits, customer, status, currency, placed_at, delivered_at,
		shipping, tax, discount, total, paid, refunded, source_refunded, source_refunded_at, note,
		recipient, line1, line2, city, region, postal_code, country, source)
		values (?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.ID, number, numberDigits(number), o.Customer, o.Status, o.Currency, stamp(o.Placed), stamp(o.Delivered),
		o.Shipping, o.Tax, o.Discount, o.Total, o.Paid, o.Refunded, figure, stamp(o.SourceRefunded), o.Note,
		a.Recipient, a.Line1, a.Line2, a.City, a.Region, a.PostalCode, a.Country, source)
}

func (tx *Tx) updateOrder(o Order, number string, figure int64, source string) error {
	err := tx.execOne(`update orders set status = ?, placed_at = ?, delivered_at = ?, shipping = ?, tax = ?, discount = ?,
		total = ?, paid = ?, refunded = ?, source_refunded = ?, source_refunded_at = ?, note = ?, source = ?
		where number = ?`,
		o.Status, stamp(o.Placed), stamp(o.Delivered), o.Shipping, o.Tax, o.Discount,
		o.Total, o.Paid, o.Refunded, figure, stamp(o.SourceRefunded), o.Note, source, number)
	if err != nil {
		return err
	}
	a := o.Address
	_, err = tx.exec(`update orders set recipient = ?, line1 = ?, line2 = ?, city = ?, region = ?, postal_code = ?,
		country = ? where number = ? and address_changed_at is null`,
		a.Recipient, a.Line1, a.Line2, a.City, a.Region, a.PostalCode, a.Country, number)
	return err
}

func (tx *Tx) putItems(o Order) error {
	if _, err := tx.exec("delete from order_items where order_id = ?", o.ID); err != nil {
		return err
	}
	for line, i := range o.Items {
		err := tx.execOne(`insert into order_items (order_id, line, sku, title, quantity, unit_price)
			values (?, ?, ?, ?, ?, ?)`, o.ID, line, i.SKU, i.Title, i.Quantity, i.UnitPrice)
		if err != nil {
			return fmt.Errorf("item %d: %w", line, err)
		}
	}
	return nil
}
