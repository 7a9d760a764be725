package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
)

// Waiting counts what of a customer isn't done with yet.
type Waiting struct {
	Approvals  int // and requests, that wait for a human
	Tickets    int // open ones
	Processing int // orders that are still to be sent
}

// WaitingFor counts what waits of the customer of a key.
func (v *View) WaitingFor(customer string) (w Waiting, err error) {
	err = v.row(`select
		(select count(*) from approvals where customer = ?1 and state = 'pending' and expires_at > ?2),
		(select count(*) from tickets where customer = ?1 and state = 'open'),
		(select count(*) from orders where customer = ?1 and status = 'processing')`,
		[]any{customer, stamp(v.Now)}, &w.Approvals, &w.Tickets, &w.Processing)
	return w, err
}

// Erased counts the rows that hold no text of a customer any more.
type Erased struct {
	Orders, Shipments, Refunds, Tickets, Replies int64
	Approvals                                    int64 // and requests to a human
	Principals                                   int64 // whose token was for this customer alone: revoked
}

// EraseCustomer removes what c's rows say about a person, the forms and sealed
// answers of requests among it, and c's id from its key. Money, states, times and the goods stay, and so do the ids of orders,
// which are the shop's. Imports leave the customer out from now on. What was
// overwritten stays readable in the file until [DB.Scrub].
func (tx *Tx) EraseCustomer(c Customer) (done Erased, err error) {
	var on int
	if err := tx.row("pragma secure_delete = on", nil, &on); err != nil { // for as long as this process has the file open
		return done, err
	}
	const orders, shipments = "(select id from orders where customer = ?)",
		"(select s.id from shipments s join orders o on o.id = s.order_id where o.customer = ?)"
	for _, step := range []struct {
		count *int64
		query string
	}{
		{nil, "delete from scans where shipment_id in " + shipments},
		{&done.Shipments, "update shipments set tracking_number = '', parcel = '  ' || id, source = '' where order_id in " + orders},
		{&done.Orders, `update orders set note = '', recipient = '', line1 = '', line2 = '', city = '', region = '', postal_code = '',
			country = '', source = '' where customer = ?`},
		{nil, "update address_changes set old_address = '', new_address = '' where customer = ?"},
		{&done.Approvals, "update approvals set arguments = '{}', note = '', result = '' where customer = ?"},
		{&done.Refunds, "update refunds set reason = '' where customer = ?"},
		{&done.Replies, "update ticket_replies set body = '' where ticket_id in (select id from tickets where customer = ?)"},
		{&done.Tickets, "update tickets set summary = '', summary_key = '' where customer = ?"},
		{nil, "update customers set id = null, name = '', email = '', phone = '', source = '' where key = ?"},
	} {
		n, err := tx.exec(step.query, c.Key)
		if err != nil {
			return done, fmt.Errorf("customer %s: %w", c.Key, err)
		}
		if step.count != nil {
			*step.count = n
		}
	}
	done.Principals, err = tx.exec("update principals set revoked_at = ? where customer = ? and revoked_at is null", stamp(tx.Now), c.Key)
	if err != nil {
		return done, fmt.Errorf("principals of %s: %w", c.Key, err)
	}
	return done, tx.leaveOut("customer", c.ID)
}

// IsErased reports whether the customer of one of the shop's ids was erased.
func (tx *Tx) IsErased(customerID string) (bool, error) { return tx.leftOut("customer", customerID) }

// LeaveOutOrder remembers that an order by its folded number belongs to an
// erased customer: its parcels may come in a later file, without the order.
func (tx *Tx) LeaveOutOrder(number string) error { return tx.leaveOut("order", number) }

// IsOrderErased reports whether an order by its folded number belongs to an
// erased customer. One that isn't stored does where it was left out.
func (tx *Tx) IsOrderErased(number string) (erased bool, err error) {
	err = tx.row("select c.id is null from orders o join customers c on c.key = o.customer where o.number = ?", []any{number}, &erased)
	if errors.Is(err, ErrNotFound) {
		return tx.leftOut("order", number)
	}
	return erased, err
}

func (tx *Tx) leaveOut(kind, id string) error {
	salt, err := tx.Setting(SettingSalt)
	if err != nil {
		return err
	}
	if salt == "" {
		salt = rand.Text()
		if err := tx.SetSetting(SettingSalt, salt); err != nil {
			return err
		}
	}
	_, err = tx.exec("insert into erased (name) values (?) on conflict do nothing", hashedName(salt, kind, id))
	return err
}

func (tx *Tx) leftOut(kind, id string) (found bool, err error) {
	salt, err := tx.Setting(SettingSalt)
	if err != nil || salt == "" { // nobody was ever erased
		return false, err
	}
	err = tx.row("select count(*) > 0 from erased where name = ?", []any{hashedName(salt, kind, id)}, &found)
	return found, err
}

// hashedName is what is kept of an erased id: nobody reads the id off it, no
// table of hashes made elsewhere holds it, and no other database has the same for
// the same id. Whoever has this file has the salt too, and can find out by trying
// whether an id they think of was erased. The salt isn't the installation's key
// because that is rotated: an erased customer would then come back with the next
// import.
func hashedName(salt, kind, id string) string {
	mac := hmac.New(sha256.New, []byte(salt))
	fmt.Fprintf(mac, "erased %s\n%s", kind, id)
	return hex.EncodeToString(mac.Sum(nil))
}

// rewriteUpTo is the largest file, in bytes, that Scrub writes anew: a few
// seconds at most, for which other processes wait.
const rewriteUpTo = 256 << 20

// Scrub removes from the file and its log what was overwritten or deleted since
// it was made. A larger file than can be written anew while others wait keeps
// its free space as it is: of what [Tx.EraseCustomer] removed SQLite leaves
// zeros there, and only copies may remain that are older than that. The error is
// [ErrLocked] where another process reads for so long that the log can't be
// emptied; the last process to close empties it.
func (db *DB) Scrub(ctx context.Context) error {
	return db.onWriter(ctx, func(conn *conn) error {
		defer db.queue.enter()()
		info, err := os.Stat(db.path)
		if err != nil {
			return fileError(err)
		}
		if info.Size() <= rewriteUpTo {
			if err := conn.run("vacuum"); err != nil {
				return err
			}
		}
		var busy, frames, moved int
		view := View{conn: conn}
		if err := view.row("pragma wal_checkpoint(truncate)", nil, &busy, &frames, &moved); err != nil {
			return err
		}
		if busy != 0 {
			return ErrLocked
		}
		return nil
	})
}
