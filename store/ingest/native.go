package ingest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
)

// Bounds on what the native format may hold: characters of a text, elements of a
// list, pieces of an article.
const (
	maxID       = 64
	maxName     = 200
	maxEmail    = 320
	maxTitle    = 300
	maxNote     = 4000
	maxBody     = 200_000
	maxSKU      = 100
	maxLabel    = 100 // carriers, categories, phone numbers, short parts of an address
	maxLine200  = 200 // lines of an address, locations
	maxScanText = 1000
	maxItems    = 500
	maxScans    = 500
	maxCount    = 1_000_000
)

// Read reads a file in the native format, JSON Lines, as of the moment
// that relative times count from. What is wrong with a line is kept
// for [Batch.Store]; the error is r's own.
func Read(r io.Reader, now time.Time) (*Batch, error) {
	b := newBatch()
	in := newLines(r)
	for {
		text, err := in.next()
		switch {
		case err == io.EOF:
			return b, nil
		case err == errLong:
			b.refuse(in.number, "", []Problem{{Message: err.Error()}})
		case err != nil:
			return nil, fmt.Errorf("reading line %d: %w", in.number, err)
		case len(text) > 0:
			b.readLine(ref{line: in.number, source: sha256.Sum256(text)}, text, now)
		}
	}
}

func (b *Batch) readLine(at ref, text []byte, now time.Time) {
	fields, fault := decode(text)
	if fault != nil {
		b.refuse(at.line, "", []Problem{*fault})
		return
	}
	o := &object{fields: fields, reading: &reading{now: now, shared: b.shared}}
	switch kind := o.oneOf("type", customers, orders, shipments, articles); kind {
	case customers:
		c := readCustomer(o)
		add(b, o, at, &b.customers, c, identity{kind, c.ID, ""})
	case orders:
		order := readOrder(o)
		add(b, o, at, &b.orders, order, orderIdentity(order.ID))
	case shipments:
		s := b.readShipment(o)
		add(b, o, at, &b.shipments, s, identity{kind, orderIdentity(s.OrderID).id, s.parcel()})
	case articles:
		a := readArticle(o)
		add(b, o, at, &b.articles, a, identity{kind, a.ID, ""})
	default:
		b.refuse(at.line, "", o.faults) // the other fields depend on the type
	}
}

func readCustomer(o *object) store.Customer {
	return store.Customer{
		ID:      o.id("id"),
		Name:    o.text("name", required, maxName),
		Email:   o.word("email", optional, maxEmail),
		Phone:   o.text("phone", optional, maxLabel),
		Created: o.time("created_at", required),
	}
}

// readOrder returns an order with the shop's customer id where the key will be.
func readOrder(o *object) store.Order {
	order := store.Order{ID: o.id("id"), Customer: o.id("customer_id")}
	if _, ok := store.FoldNumber(order.ID); order.ID != "" && !ok {
		o.fault("id", "is no order number: it needs a letter or a digit, and at most 64 bytes")
	}
	order.Status = o.oneOf("status", policy.Processing, policy.Shipped, policy.Delivered, policy.Cancelled)
	currency := o.currency()
	order.Currency = currency
	order.Placed = o.time("placed_at", required)
	order.Delivered = o.time("delivered_at", optional)
	o.each("items", required, maxItems, func(o *object) {
		order.Items = append(order.Items, store.Item{
			SKU:       o.common("sku", required, maxSKU),
			Title:     o.common("title", required, maxTitle),
			Quantity:  o.count("quantity", 0),
			UnitPrice: o.money("unit_price", required, currency, 0),
		})
	})
	order.Shipping = o.money("shipping", optional, currency, 0)
	order.Tax = o.money("tax", optional, currency, 0)
	order.Discount = o.money("discount", optional, currency, 0)
	faults := len(o.faults)
	order.Total = o.money("total", required, currency, 0)
	order.Paid = o.money("paid", optional, currency, order.Total)
	order.Refunded = o.money("refunded", optional, currency, 0)
	if order.Refunded > order.Paid && len(o.faults) == faults {
		o.fault("refunded", "is more than what was paid")
	}
	o.object("address", func(o *object) { order.Address = readAddress(o) })
	order.Note = o.text("note", optional, maxNote)
	return order
}

// currency takes the order's currency and returns "" where there is no such one.
func (o *object) currency() string {
	code, ok := takeAs[string](o, "currency", required, "a string")
	if _, known := money.Exponent(code); known {
		return code
	}
	if ok {
		o.fault("currency", money.ErrCurrency.Error())
	}
	return ""
}

// readAddress takes an address as the shop has it: orders that went somewhere
// are history, so no country's rules are asked.
func readAddress(o *object) policy.Address {
	return policy.Address{
		Recipient:  o.text("recipient", optional, maxLabel),
		Line1:      o.text("line1", optional, maxLine200),
		Line2:      o.text("line2", optional, maxLine200),
		City:       o.common("city", optional, maxLabel),
		Region:     o.common("region", optional, maxLabel),
		PostalCode: o.text("postal_code", optional, maxLabel),
		Country:    o.common("country", optional, maxLabel),
	}
}

// readShipment also counts the parcel among those of its order that have no
// tracking number.
func (b *Batch) readShipment(o *object) shipment {
	s := shipment{Shipment: store.Shipment{
		OrderID:        o.id("order_id"),
		Carrier:        o.common("carrier", optional, maxLabel),
		TrackingNumber: o.word("tracking_number", optional, maxLabel),
		Status: o.oneOf("status", "label_created", "in_transit", "out_for_delivery", "delivered", "returned",
			"exception"),
		ETA: o.date("eta"),
	}}
	o.each("items", optional, maxItems, func(o *object) {
		s.Items = append(s.Items, store.ShipmentItem{
			SKU:      o.common("sku", required, maxSKU),
			Quantity: o.count("quantity", 1),
		})
	})
	o.each("scans", optional, maxScans, func(o *object) {
		s.Scans = append(s.Scans, store.Scan{
			At:          o.time("at", required),
			Location:    o.common("location", optional, maxLine200),
			Status:      o.common("status", required, maxLabel),
			Description: o.common("description", optional, maxScanText),
		})
	})
	if s.TrackingNumber == "" {
		order := orderIdentity(s.OrderID).id
		b.places[order]++
		s.place = b.places[order]
	}
	return s
}

func readArticle(o *object) store.Article {
	return store.Article{
		ID:        o.id("id"),
		Title:     o.text("title", required, maxTitle),
		Body:      o.text("body", required, maxBody),
		Category:  o.word("category", optional, maxLabel),
		WrittenBy: o.oneOf("source", "official", "community"),
		Internal:  o.oneOf("visibility", "public", "internal") == "internal",
		Outdated:  o.flag("outdated"),
		Updated:   o.time("updated_at", required),
	}
}
