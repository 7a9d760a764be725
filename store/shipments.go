package store

import (
	"database/sql"
	"time"
)

// A Shipment is one parcel of an order.
type Shipment struct {
	ID             int64
	OrderID        string
	Carrier        string
	TrackingNumber string
	Status         string
	ETA            string         // a date, YYYY-MM-DD, or ""
	Delivered      time.Time      // its first delivered scan; zero: none
	Items          []ShipmentItem // none: it carries every line
	Scans          []Scan         // oldest first
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

// Shipments returns an order's parcels with what they carry, without their
// scans, in the order the shop named them. The caller has checked the owner.
func (v *View) Shipments(orderID string) (parcels []Shipment, err error) {
	err = v.rows(`select id, order_id, carrier, tracking_number, status, coalesce(eta, ''), delivered_at
		from shipments where order_id = ? order by id`, []any{orderID}, func(rows *sql.Rows) error {
		var s Shipment
		defer func() { parcels = append(parcels, s) }()
		return rows.Scan(&s.ID, &s.OrderID, &s.Carrier, &s.TrackingNumber, &s.Status, &s.ETA, into(&s.Delivered))
	})
	if err != nil {
		return nil, err
	}
	for i := range parcels {
		if parcels[i].Items, err = v.shipmentItems(parcels[i].ID); err != nil {
			return nil, err
		}
	}
	return parcels, nil
}

func (v *View) shipmentItems(id int64) (items []ShipmentItem, err error) {
	err = v.rows("select sku, quantity from shipment_items where shipment_id = ? order by line", []any{id},
		func(rows *sql.Rows) error {
			var i ShipmentItem
			defer func() { items = append(items, i) }()
			return rows.Scan(&i.SKU, &i.Quantity)
		})
	return items, err
}

// Scans returns a parcel's newest scans, at most limit, oldest first, and how
// many there are in all.
func (v *View) Scans(shipmentID int64, limit int) (scans []Scan, count int, err error) {
	err = v.rows(`select at, location, status, description, count(*) over () from scans
		where shipment_id = ? order by place desc limit ?`, []any{shipmentID, limit}, func(rows *sql.Rows) error {
		var s Scan
		defer func() { scans = append([]Scan{s}, scans...) }()
		return rows.Scan(into(&s.At), &s.Location, &s.Status, &s.Description, &count)
	})
	return scans, count, err
}
