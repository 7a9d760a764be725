package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"countersign/policy"
)

// An AddressChange was made here; the shop's own system has yet to learn of it.
type AddressChange struct {
	Seq      int64
	OrderID  string
	Customer string         // key
	Old, New policy.Address // empty once erased
	By       string         // the principal's name
	Created  time.Time
}

// SetAddress changes where an order goes, for a principal, and records the
// change. It fails on an order that is no longer processing, whatever the caller
// believed. To set the address again that was set here before is no change.
func (tx *Tx) SetAddress(orderID string, a policy.Address, principalID string) error {
	var o Order
	var changed time.Time
	err := tx.row("select "+orderColumns+", address_changed_at from orders where id = ?", []any{orderID},
		append(orderFields(&o), into(&changed))...)
	if err != nil {
		return fmt.Errorf("order %s: %w", orderID, err)
	}
	err = tx.execOne(`update orders set recipient = ?, line1 = ?, line2 = ?, city = ?, region = ?, postal_code = ?,
		country = ?, address_changed_at = ? where id = ? and status = 'processing'`,
		a.Recipient, a.Line1, a.Line2, a.City, a.Region, a.PostalCode, a.Country, stamp(tx.Now), orderID)
	if err != nil || !changed.IsZero() && a == o.Address {
		return err
	}
	before, err := json.Marshal(o.Address)
	if err != nil {
		return err
	}
	after, err := json.Marshal(a)
	if err != nil {
		return err
	}
	err = tx.execOne(`insert into address_changes (order_id, customer, old_address, new_address, changed_by, created_at)
		values (?, ?, ?, ?, ?, ?)`, orderID, o.Customer, string(before), string(after), principalID, stamp(tx.Now))
	if err != nil {
		return fmt.Errorf("address of %s: %w", orderID, err)
	}
	return nil
}

// AddressChangesSince returns address changes in the order they were made.
func (v *View) AddressChangesSince(s Since) (changes []AddressChange, err error) {
	err = v.rows(`select c.seq, c.order_id, c.customer, c.old_address, c.new_address, p.name, c.created_at
		from address_changes c join principals p on p.id = c.changed_by
		where c.seq > ? and c.created_at >= ? order by c.seq`, []any{s.Seq, s.from()}, func(rows scanner) error {
		var c AddressChange
		var before, after string
		if err := rows.Scan(&c.Seq, &c.OrderID, &c.Customer, &before, &after, &c.By, into(&c.Created)); err != nil {
			return err
		}
		changes = append(changes, c)
		last := &changes[len(changes)-1]
		return errors.Join(readAddress(before, &last.Old), readAddress(after, &last.New))
	})
	return changes, err
}

// readAddress reads an address as a change keeps it, "" once erased.
func readAddress(text string, a *policy.Address) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), a)
}
