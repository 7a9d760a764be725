package store

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// A Shipment is one parcel of an order.
type Shipment struct {
	ID             int64
	OrderID        string // where it is about to be stored
	Carrier        string
	TrackingNumber string
	Status         string
	ETA            string         // a date, YYYY-MM-DD, or ""
	Delivered      time.Time      // its first delivered scan; zero: none
	Items          []ShipmentItem // none: it carries every line
	Scans          []Scan         // oldest first; where it is about to be stored
}

// A ShipmentItem says how many pieces of a line a parcel carries.
type ShipmentItem struct {
	SKU      string
	Quantity int64
}

// A Scan is one event of a parcel's journey, in the carrier's words.
type Scan struct {
	At          time.Time
	Location    string
	Status      string
	Description string
}

// parcels reads the parcels of an order in the order the shop named them.
func (v *View) parcels(o *Order) error {
	err := v.rows("select id, carrier, tracking_number, status, coalesce(eta, ''), delivered_at from shipments where order_id = ?",
		[]any{o.ID}, func(rows scanner) error {
			var s Shipment
			defer func() { o.Parcels = append(o.Parcels, s) }()
			return rows.Scan(&s.ID, &s.Carrier, &s.TrackingNumber, &s.Status, &s.ETA, into(&s.Delivered))
		})
	// Sorted here: a sorter in SQL costs more than all the rest of the statement.
	slices.SortFunc(o.Parcels, func(a, b Shipment) int { return cmp.Compare(a.ID, b.ID) })
	for i := range o.Parcels {
		err = errors.Join(err, v.parcelItems(&o.Parcels[i]))
	}
	return err
}

func (v *View) parcelItems(s *Shipment) error {
	return v.rows("select sku, quantity from shipment_items where shipment_id = ? order by line", []any{s.ID},
		func(rows scanner) error {
			var item ShipmentItem
			defer func() { s.Items = append(s.Items, item) }()
			return rows.Scan(&item.SKU, &item.Quantity)
		})
}

// Scans returns a parcel's newest scans, at most limit, oldest first, and how
// many there are in all.
func (v *View) Scans(shipmentID int64, limit int) (scans []Scan, count int, err error) {
	err = v.rows(`select at, location, status, description, count(*) over () from scans
		where shipment_id = ? order by place desc limit ?`, []any{shipmentID, limit}, func(rows scanner) error {
		var s Scan
		defer func() { scans = append([]Scan{s}, scans...) }()
		return rows.Scan(into(&s.At), &s.Location, &s.Status, &s.Description, &count)
	})
	return scans, count, err
}
