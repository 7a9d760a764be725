package tools

import (
	"slices"

	"countersign/policy"
)

// TrackShipmentArgs are the arguments of track_shipment.
type TrackShipmentArgs struct {
	OrderID string `json:"order_id" jsonschema:"minLength=1,maxLength=100,example=NW-5001"`
}

// ShipmentAnswer is the answer of track_shipment.
type ShipmentAnswer struct {
	OrderID        string   `json:"order_id"`
	OrderStatus    string   `json:"order_status"`
	Parcels        []Parcel `json:"parcels"`
	ParcelsOmitted int      `json:"parcels_omitted,omitempty"`
	More           string   `json:"how_to_see_more,omitempty"` // where something is left out
}

// moreOfShipment is for what no argument can show.
const moreOfShipment = "These are the newest scans and parcels. The carrier shows all of them by the tracking number."

// shorter leaves out the oldest scan of the parcel that shows most.
func (a ShipmentAnswer) shorter() (shortener, bool) {
	a.More = moreOfShipment
	a.Parcels = slices.Clone(a.Parcels)
	most := 0
	for i, p := range a.Parcels {
		if len(p.Scans.Value) > len(a.Parcels[most].Scans.Value) {
			most = i
		}
	}
	if len(a.Parcels) == 0 || len(a.Parcels[most].Scans.Value) == 0 {
		return a, false
	}
	p := &a.Parcels[most]
	p.Scans.Value = p.Scans.Value[1:]
	p.ScansOmitted++
	return a, true
}

// Parcel is one parcel and its journey.
type Parcel struct {
	Carrier        string            `json:"carrier"`
	TrackingNumber string            `json:"tracking_number,omitempty"`
	Status         string            `json:"status"`
	ETA            string            `json:"eta,omitempty"` // a date
	DeliveredAt    string            `json:"delivered_at,omitempty"`
	Scans          Untrusted[[]Scan] `json:"scans"` // oldest to newest
	ScansOmitted   int               `json:"earlier_scans_omitted,omitempty"`
}

// Scan is one event of a parcel's journey, in the carrier's words.
type Scan struct {
	At          string `json:"at"`
	Location    string `json:"location,omitempty"`
	Status      string `json:"status"`
	Description string `json:"description,omitempty"`
}

// What a tracking answer shows of long lists.
const (
	mostParcels  = 10
	mostScans    = 24  // over all parcels
	mostScanText = 200 // bytes
)

var trackShipment = define(spec[TrackShipmentArgs, ShipmentAnswer]{
	Name:  "track_shipment",
	Title: "Track a parcel",
	Description: "Shows where an order's parcels are (parcel, package, shipment, delivery; late or lost): carrier, tracking number, status, expected date and " +
		"scans. Use it for \"where is my order?\". Changes nothing.",
	Hint:          "where is my parcel, where is my order, late delivery",
	Role:          policy.Viewer,
	NeedsCustomer: true,
	Answer:        answerShipment,
})

func answerShipment(s *Scope, in TrackShipmentArgs) (a ShipmentAnswer, err error) {
	order, err := s.Order(in.OrderID)
	if err != nil {
		return a, err
	}
	a = ShipmentAnswer{OrderID: order.ID, OrderStatus: order.Status, Parcels: []Parcel{}}
	shipments, omitted := newest(order.Parcels, mostParcels)
	a.ParcelsOmitted = omitted
	for _, sh := range shipments {
		scans, count, err := s.Scans(sh.ID, mostScans/len(shipments))
		if err != nil {
			return a, err
		}
		shown := []Scan{}
		for _, sc := range scans {
			shown = append(shown, Scan{rfc3339(sc.At), scanText(sc.Location), scanText(sc.Status), scanText(sc.Description)})
		}
		if a.ParcelsOmitted > 0 || count > len(shown) {
			a.More = moreOfShipment
		}
		a.Parcels = append(a.Parcels, Parcel{
			Carrier: scanText(sh.Carrier), TrackingNumber: scanText(sh.TrackingNumber), Status: sh.Status, ETA: sh.ETA,
			DeliveredAt: rfc3339(sh.Delivered), Scans: untrusted(shown), ScansOmitted: count - len(shown),
		})
	}
	return a, nil
}

func scanText(text string) string { return short(text, mostScanText) }
