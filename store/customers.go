package store

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
)

// A Customer is one of the shop's. Its key is the only name by which logs know it.
type Customer struct {
	Key     string
	ID      string // the shop's; "" once erased
	Name    string
	Email   string
	Phone   string
	Created time.Time
}

const selectCustomer = "select key, coalesce(id, ''), name, email, phone, created_at from customers where "

func (v *View) customer(where, value string) (c Customer, err error) {
	err = v.row(selectCustomer+where, []any{value}, customerFields(&c)...)
	return c, err
}

func customerFields(c *Customer) []any {
	return []any{&c.Key, &c.ID, &c.Name, &c.Email, &c.Phone, into(&c.Created)}
}

// Customer returns the customer of a key.
func (v *View) Customer(key string) (Customer, error) { return v.customer("key = ?", key) }

// CustomerByID returns the customer of one of the shop's ids.
func (v *View) CustomerByID(id string) (Customer, error) { return v.customer("id = ?", id) }

// CustomersMeant returns the customers whom a text may mean, by id: the one whose
// id it is, those whose e-mail it is, trimmed and whatever its case, and the one
// of the order whose number it is, as people write it. Digits alone may mean the
// orders that end in them where nothing else fits. Erased customers can't be
// meant any more.
func (v *View) CustomersMeant(text string) ([]Customer, error) {
	text = strings.TrimSpace(text)
	number, _ := FoldNumber(text)
	byID, idErr := v.customers("id = ?", text)
	byEmail, emailErr := v.customersByEmail(text)
	byOrder, orderErr := v.customers("key in (select customer from orders where number = ?)", number)
	meant, err := slices.Concat(byID, byEmail, byOrder), errors.Join(idErr, emailErr, orderErr)
	if err == nil && len(meant) == 0 && onlyDigits(number) {
		meant, err = v.customers("key in (select customer from orders where digits = ?)", number)
	}
	slices.SortFunc(meant, func(a, b Customer) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(meant, func(a, b Customer) bool { return a.Key == b.Key }), err
}

// customersByEmail reads every e-mail: SQLite folds the case of ASCII alone.
func (v *View) customersByEmail(email string) ([]Customer, error) {
	if !strings.Contains(email, "@") {
		return nil, nil
	}
	all, err := v.customers("email <> ''")
	return slices.DeleteFunc(all, func(c Customer) bool { return !strings.EqualFold(strings.TrimSpace(c.Email), email) }), err
}

func (v *View) customers(where string, args ...any) (found []Customer, err error) {
	err = v.rows(selectCustomer+"id is not null and "+where, args, func(rows scanner) error {
		var c Customer
		defer func() { found = append(found, c) }()
		return rows.Scan(customerFields(&c)...)
	})
	return found, err
}
