package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// PutShipment stores a parcel as the shop's data has it. Within its order, which
// exists, it is known by its tracking number; without one by place, its place
// (from 1) among the order's parcels that have none. Source is the digest of the
// text it comes from.
//
// Scans may come in any order, and more than once. s.ID and s.Delivered are
// ignored: the delivery is the first scan that says so, and the earliest ever
// seen stays.
func (tx *Tx) PutShipment(s Shipment, place int, source string) (Change, error) {
	change, err := tx.putShipment(s, place, source)
	if err != nil {
		return "", fmt.Errorf("shipment of %s: %w", s.OrderID, err)
	}
	return change, nil
}

func (tx *Tx) putShipment(s Shipment, place int, source string) (change Change, err error) {
	parcel := s.TrackingNumber
	if parcel == "" {
		parcel = fmt.Sprintf(" %d", place) // no tracking number begins with a blank
	}
	s.Scans = journey(s.Scans)
	s.Delivered = firstDelivery(s.Scans)

	var last string
	var delivered time.Time
	err = tx.row("select id, delivered_at, source from shipments where order_id = ? and parcel = ?",
		[]any{s.OrderID, parcel}, &s.ID, into(&delivered), &last)
	switch {
	case errors.Is(err, ErrNotFound):
		change = Added
		err = tx.row(`insert into shipments (order_id, parcel, carrier, tracking_number, status, eta, delivered_at, source)
			values (?, ?, ?, ?, ?, nullif(?, ''), ?, ?) returning id`, []any{s.OrderID, parcel, s.Carrier,
			s.TrackingNumber, s.Status, s.ETA, stamp(s.Delivered), source}, &s.ID)
	case err == nil && last == source:
		return Unchanged, nil
	case err == nil:
		change = Changed
		err = tx.execOne(`update shipments set carrier = ?, status = ?, eta = nullif(?, ''), delivered_at = ?, source = ?
			where id = ?`, s.Carrier, s.Status, s.ETA, stamp(earliest(delivered, s.Delivered)), source, s.ID)
	}
	if err != nil {
		return "", err
	}
	return change, errors.Join(tx.putShipmentItems(s), tx.putScans(s))
}

// OrderIDByNumber returns the id of the order whose number reads the same, as
// [FoldNumber] gives it, whoever it belongs to. It is for imports.
func (v *View) OrderIDByNumber(folded string) (id string, err error) {
	err = v.row("select id from orders where number = ?", []any{folded}, &id)
	return id, err
}

// journey returns scans oldest first, each one once.
func journey(scans []Scan) []Scan {
	sorted := slices.SortedStableFunc(slices.Values(scans), func(a, b Scan) int { return a.At.Compare(b.At) })
	var once []Scan
	for _, scan := range sorted {
		if !slices.ContainsFunc(once, scan.equal) {
			once = append(once, scan)
		}
	}
	return once
}

func (s Scan) equal(other Scan) bool {
	return s.At.Equal(other.At) && s.Location == other.Location && s.Status == other.Status &&
		s.Description == other.Description
}

func firstDelivery(scans []Scan) time.Time {
	for _, scan := range scans {
		if strings.EqualFold(scan.Status, "delivered") {
			return scan.At
		}
	}
	return time.Time{}
}

func (tx *Tx) putShipmentItems(s Shipment) error {
	if _, err := tx.exec("delete from shipment_items where shipment_id = ?", s.ID); err != nil {
		return err
	}
	for line, i := range s.Items {
		err := tx.execOne("insert into shipment_items (shipment_id, line, sku, quantity) values (?, ?, ?, ?)",
			s.ID, line, i.SKU, i.Quantity)
		if err != nil {
			return fmt.Errorf("item %d: %w", line, err)
		}
	}
	return nil
}

func (tx *Tx) putScans(s Shipment) error {
	if _, err := tx.exec("delete from scans where shipment_id = ?", s.ID); err != nil {
		return err
	}
	for place, scan := range s.Scans {
		err := tx.execOne(`insert into scans (shipment_id, place, at, location, status, description)
			values (?, ?, ?, ?, ?, ?)`, s.ID, place, stamp(scan.At), scan.Location, scan.Status, scan.Description)
		if err != nil {
			return fmt.Errorf("scan %d: %w", place, err)
		}
	}
	return nil
}
