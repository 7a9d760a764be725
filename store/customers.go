package store

import (
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
	err = v.row(selectCustomer+where, []any{value}, &c.Key, &c.ID, &c.Name, &c.Email, &c.Phone, into(&c.Created))
	return c, err
}

// Customer returns the customer of a key.
func (v *View) Customer(key string) (Customer, error) { return v.customer("key = ?", key) }

// CustomerByID returns the customer of one of the shop's ids.
func (v *View) CustomerByID(id string) (Customer, error) { return v.customer("id = ?", id) }
