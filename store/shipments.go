package store

import (
	"database/sql"
	"time"
)

// A Shipment is one parcel of an order.
type Shipment struct {
	ID             int64          `json:"id"`
	OrderID        string         `json:"-"` // where it is about to be stored
	Carrier        string         `json:"carrier"`
	TrackingNumber string         `json:"tracking_number"`
	Status         string         `json:"status"`
	ETA            string         `json:"eta"`          // a date, YYYY-MM-DD, or ""
	Delivered      time.Time      `json:"delivered_at"` // its first delivered scan; zero: none
	Items          []ShipmentItem `json:"items"`        // none: it carries every line
	Scans          []Scan         `json:"-"`            // oldest first; where it is about to be stored
}

// A ShipmentItem says how many pieces of a line a parcel carries.
type ShipmentItem struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

// A Scan is one event of a parcel's journey, in the carrier's words.
type Scan struct {
	At          time.Time
	Location    string
	Status      string
	Description string
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
