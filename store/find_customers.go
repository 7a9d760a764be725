package store

import (
	"fmt"
	"strings"

	"countersign/store/lexis"
)

// leastPhone is how many digits look for a phone number.
const leastPhone = 3

// FindCustomers returns the customers that a text may mean, at most limit, and
// how many more there are: by the shop's id, e-mail or order number first, then
// by part of a name or the digits of a phone. Case and accents make no difference;
// no character has a meaning of its own. Erased customers aren't found.
//
// It reads every customer: SQL would fold ASCII alone, and 100,000 take well
// under a second.
func (v *View) FindCustomers(text string, limit int) (found []Customer, more int, err error) {
	search, err := v.newSearch(text)
	if err != nil || search.text == "" {
		return nil, 0, err
	}
	var exact, partly []Customer
	count := 0
	err = v.rows(selectCustomer+"id is not null order by rowid", nil, func(rows scanner) error {
		var c Customer
		if err := rows.Scan(customerFields(&c)...); err != nil {
			return err
		}
		list := &partly
		switch {
		case search.names(c):
			list = &exact
		case !search.partOf(c):
			return nil
		}
		count++
		if len(*list) < limit {
			*list = append(*list, c)
		}
		return nil
	})
	found = append(exact, partly...)
	found = found[:min(len(found), limit)]
	return found, count - len(found), err
}

// search is what a text is compared by.
type search struct {
	text   string          // folded
	digits string          // of a phone number, "" where the text can't be one
	owners map[string]bool // keys of customers with an order of this number
}

func (v *View) newSearch(text string) (s search, err error) {
	s = search{text: strings.Join(strings.Fields(lexis.Fold(text)), " "), owners: map[string]bool{}}
	if strings.Trim(s.text, "0123456789+-()/. ") == "" {
		s.digits = strings.TrimLeft(digitsOf(s.text), "0") // of "00" or a trunk prefix
		if len(s.digits) < leastPhone {
			s.digits = ""
		}
	}
	number, ok := FoldNumber(text)
	if !ok {
		return s, nil
	}
	err = v.rows("select customer from orders where number = ?1 or digits = ?1", []any{number}, func(rows scanner) error {
		var key string
		defer func() { s.owners[key] = true }()
		return rows.Scan(&key)
	})
	if err != nil {
		return s, fmt.Errorf("orders: %w", err)
	}
	return s, nil
}

// names reports whether the text names exactly this customer.
func (s search) names(c Customer) bool {
	return lexis.Fold(c.ID) == s.text || c.Email != "" && strings.TrimSpace(lexis.Fold(c.Email)) == s.text || s.owners[c.Key]
}

// partOf reports whether the text is in the customer's name or phone number.
func (s search) partOf(c Customer) bool {
	return strings.Contains(strings.Join(strings.Fields(lexis.Fold(c.Name)), " "), s.text) ||
		s.digits != "" && strings.Contains(digitsOf(c.Phone), s.digits)
}

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
