package store

import (
	"errors"
	"fmt"
)

// PutCustomer stores a customer as the shop's data has it, by its ID. A new one
// gets a key, which stays; c.Key is ignored. Source is the digest of the text it
// comes from. Several customers may share an e-mail. One that was erased is left out.
func (tx *Tx) PutCustomer(c Customer, source string) (Change, error) {
	if erased, err := tx.IsErased(c.ID); err != nil || erased {
		return LeftOut, err
	}
	var key, last string
	err := tx.row("select key, source from customers where id = ?", []any{c.ID}, &key, &last)
	switch {
	case errors.Is(err, ErrNotFound):
		return Added, tx.insertCustomer(c, source)
	case err != nil:
		return "", fmt.Errorf("customer: %w", err)
	case last == source:
		return Unchanged, nil
	}
	err = tx.execOne("update customers set name = ?, email = ?, phone = ?, created_at = ?, source = ? where key = ?",
		c.Name, c.Email, c.Phone, stamp(c.Created), source, key)
	if err != nil {
		return "", fmt.Errorf("customer %s: %w", key, err)
	}
	return Changed, nil
}

func (tx *Tx) insertCustomer(c Customer, source string) error {
	key := tx.NewID("cu_")
	err := tx.execOne(`insert into customers (key, id, name, email, phone, created_at, source)
		values (?, ?, ?, ?, ?, ?, ?)`, key, c.ID, c.Name, c.Email, c.Phone, stamp(c.Created), source)
	if err != nil {
		return fmt.Errorf("customer %s: %w", key, err)
	}
	return nil
}
