package main

import (
	"errors"

	"github.com/spf13/cobra"

	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

func (a *app) ordersCommand() *cobra.Command {
	noun := &cobra.Command{Use: "orders", Short: "See an order"}
	noun.AddCommand(a.ordersShow())
	return noun
}

func (a *app) ordersShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one order with its parcels, refunds, requests and tickets", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.look(cmd, "orders show", func(office *settle.Office, v *store.View) error {
				o, err := v.AnyOrder(args[0])
				if errors.Is(err, store.ErrNotFound) {
					return notFound("no order has this number, or digits alone fit several; see countersign customers find")
				}
				if err != nil {
					return err
				}
				return a.showOrder(office, v, o, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// orderView is an order as an operator sees it. Money is decimal text in Currency.
type orderView struct {
	OrderID          string         `json:"order_id"`
	Status           string         `json:"status"`
	CustomerID       string         `json:"customer_id"`
	CustomerName     string         `json:"customer_name"`
	PlacedAt         string         `json:"placed_at"`
	DeliveredAt      string         `json:"delivered_at,omitempty"`
	Currency         string         `json:"currency"`
	Items            []itemView     `json:"items"`
	Shipping         string         `json:"shipping"`
	Tax              string         `json:"tax"`
	Discount         string         `json:"discount"`
	Total            string         `json:"total"`
	Paid             string         `json:"paid"`
	Refunded         string         `json:"refunded"`
	AwaitingApproval string         `json:"awaiting_approval"`
	Refundable       string         `json:"refundable"` // now, by the policy
	RefundableReason string         `json:"refundable_reason"`
	RefundWindowEnds string         `json:"refund_window_ends,omitempty"`
	Address          policy.Address `json:"address"`
	Note             string         `json:"note,omitempty"` // the customer's
	Parcels          []parcelView   `json:"parcels"`
	Refunds          []refundView   `json:"refunds"`
	Approvals        []approvalView `json:"approvals"`
	Tickets          []ticketView   `json:"tickets"`
}

type itemView struct {
	SKU       string `json:"sku"`
	Title     string `json:"title"`
	Quantity  int64  `json:"quantity"`
	UnitPrice string `json:"unit_price"`
}

type parcelView struct {
	Carrier        string           `json:"carrier"`
	TrackingNumber string           `json:"tracking_number"`
	Status         string           `json:"status"`
	ETA            string           `json:"eta,omitempty"`
	DeliveredAt    string           `json:"delivered_at,omitempty"`
	Items          []parcelItemView `json:"items"` // none: it carries every line
	Scans          []scanView       `json:"scans"` // oldest first
	ScansOmitted   int              `json:"scans_omitted,omitempty"`
}

type parcelItemView struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

type scanView struct {
	At          string `json:"at"`
	Location    string `json:"location"`
	Status      string `json:"status"`
	Description string `json:"description"`
}

// showOrder prints an order, for people or for scripts.
func (a *app) showOrder(office *settle.Office, v *store.View, o store.Order, asJSON bool) error {
	rules, err := office.Rules.InForce(v)
	if err != nil {
		return err
	}
	state, err := tools.RefundState(v, rules, o)
	if err != nil {
		return err
	}
	view, err := viewOrder(v, o, state)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.out, view)
	}
	a.printOrder(view)
	return nil
}

func viewOrder(v *store.View, o store.Order, state policy.State) (view orderView, err error) {
	customer, err := v.Customer(o.Customer)
	if err != nil {
		return view, err
	}
	decimal := func(minor int64) string { return money.Amount{Minor: minor, Currency: o.Currency}.Decimal() }
	view = orderView{
		OrderID: o.ID, Status: o.Status, CustomerID: customer.ID, CustomerName: customer.Name,
		PlacedAt: stampText(o.Placed), DeliveredAt: stampText(o.Delivered), Currency: o.Currency, Items: []itemView{},
		Shipping: decimal(o.Shipping), Tax: decimal(o.Tax), Discount: decimal(o.Discount), Total: decimal(o.Total),
		Paid: decimal(state.Paid), Refunded: decimal(state.Refunded), AwaitingApproval: decimal(state.Awaiting),
		Refundable: decimal(state.Refundable), RefundableReason: state.Reason, RefundWindowEnds: stampText(state.WindowEnds),
		Address: o.Address, Note: o.Note,
	}
	for _, i := range o.Items {
		view.Items = append(view.Items, itemView{i.SKU, i.Title, i.Quantity, decimal(i.UnitPrice)})
	}
	if view.Parcels, err = viewParcels(v, o.Parcels); err != nil {
		return view, err
	}
	if view.Refunds, err = viewAll(v, o.ID, v.Refunds, viewRefund); err != nil {
		return view, err
	}
	if view.Approvals, err = viewAll(v, o.ID, v.ApprovalsOfOrder, viewApproval); err != nil {
		return view, err
	}
	view.Tickets, err = viewAll(v, o.ID, v.TicketsOfOrder, viewTicket)
	return view, err
}

// viewAll shows all rows about an order.
func viewAll[Row, View any](v *store.View, orderID string, read func(string) ([]Row, error), view func(*store.View, Row) (View, error)) ([]View, error) {
	rows, err := read(orderID)
	views := []View{}
	for _, row := range rows {
		one, wrong := view(v, row)
		if wrong != nil {
			return nil, wrong
		}
		views = append(views, one)
	}
	return views, err
}

func viewParcels(v *store.View, parcels []store.Shipment) ([]parcelView, error) {
	const most = 100 // scans
	views := []parcelView{}
	for _, p := range parcels {
		view := parcelView{
			Carrier: p.Carrier, TrackingNumber: p.TrackingNumber, Status: p.Status, ETA: p.ETA,
			DeliveredAt: stampText(p.Delivered), Items: []parcelItemView{}, Scans: []scanView{},
		}
		for _, i := range p.Items {
			view.Items = append(view.Items, parcelItemView(i))
		}
		scans, count, err := v.Scans(p.ID, most)
		if err != nil {
			return nil, err
		}
		for _, s := range scans {
			view.Scans = append(view.Scans, scanView{stampText(s.At), s.Location, s.Status, s.Description})
		}
		view.ScansOmitted = count - len(scans)
		views = append(views, view)
	}
	return views, nil
}
