package main

import (
	"fmt"
	"strings"

	"countersign/tools"
)

// printOrder shows an order to a person. What the customer, a carrier or a model
// wrote is quoted or stands behind who it is from.
func (a *app) printOrder(o orderView) {
	money := func(decimal string) string { return decimal + " " + o.Currency }
	note := ""
	if o.Note != "" {
		note = inQuotes(o.Note) + " (written by the customer)"
	}
	fmt.Fprintf(a.out, "%s  %s\n", bold.Render(visibleLine(o.OrderID)), o.Status)
	fields := [][2]string{
		{"customer", tools.Visible(o.CustomerName) + " (" + o.CustomerID + ")"},
		{"placed", o.PlacedAt}, {"delivered", o.DeliveredAt}, {"address", addressText(o.Address)}, {"note", note},
	}
	for i, item := range o.Items {
		fields = append(fields, [2]string{once("items", i), fmt.Sprintf("%d × %s (%s), %s each",
			item.Quantity, tools.Visible(item.Title), tools.Visible(item.SKU), money(item.UnitPrice))})
	}
	fields = append(fields,
		[2]string{"total", fmt.Sprintf("%s; %s shipping, %s tax, %s discount", money(o.Total), o.Shipping, o.Tax, o.Discount)},
		[2]string{"paid", money(o.Paid)},
		[2]string{"refunded", strings.TrimSuffix(money(o.Refunded)+"; "+awaiting(o), "; ")},
		[2]string{"refundable", money(o.Refundable) + " by the policy: " + o.RefundableReason},
		[2]string{"window ends", o.RefundWindowEnds},
	)
	printFields(a.out, a.columns(), fields)
	a.printParcels(o.Parcels)
	a.printActs(o)
}

func awaiting(o orderView) string {
	if len(o.Approvals) == 0 {
		return ""
	}
	return o.AwaitingApproval + " " + o.Currency + " waits for approval"
}

// once is a label for the first of several rows alone.
func once(label string, row int) string {
	if row > 0 {
		return " "
	}
	return label
}

func (a *app) printParcels(parcels []parcelView) {
	for _, p := range parcels {
		about := strings.Join(nonEmpty(visibleLine(p.Carrier), visibleLine(p.TrackingNumber)), " ") + ": " + strings.ReplaceAll(p.Status, "_", " ")
		if p.ETA != "" {
			about += ", expected " + p.ETA
		}
		fields := [][2]string{{"parcel", about}}
		if p.ScansOmitted > 0 {
			fields = append(fields, [2]string{" ", counted(int64(p.ScansOmitted), "older scan") + " left out"})
		}
		for _, s := range p.Scans {
			fields = append(fields, [2]string{" ", strings.Join(nonEmpty(s.At, visibleLine(s.Location), visibleLine(s.Description)), "  ")})
		}
		fmt.Fprintln(a.out)
		printFields(a.out, a.columns(), fields)
	}
}

// printActs shows what was done here about an order.
func (a *app) printActs(o orderView) {
	var fields [][2]string
	for _, r := range o.Refunds {
		how := "by the policy, asked by " + r.MadeBy
		switch {
		case r.ApprovalID != "":
			how = "approved by " + r.DecidedBy + " (" + r.ApprovalID + "), asked by " + r.MadeBy
		case r.DecidedBy != "":
			how = "issued by " + r.DecidedBy
		}
		fields = append(fields, [2]string{"refund", fmt.Sprintf("%s  %s %s, %s, %s: %s", r.RefundID, r.Amount, r.Currency, r.CreatedAt, how, inQuotes(r.Reason))})
	}
	for _, ap := range o.Approvals {
		text := fmt.Sprintf("%s  %s %s, %s, asked by %s", ap.ApprovalID, ap.Amount, ap.Currency, ap.State, ap.AskedBy)
		if ap.ApprovedAmount != "" && ap.ApprovedAmount != ap.Amount {
			text += ", " + ap.ApprovedAmount + " of it approved"
		}
		if ap.DecidedBy != "" {
			text += fmt.Sprintf(", decided by %s: %s", ap.DecidedBy, inQuotes(ap.Note))
		}
		fields = append(fields, [2]string{"request", text})
	}
	for _, t := range o.Tickets {
		fields = append(fields, [2]string{"ticket", fmt.Sprintf("%s  %s, %s, %s: %s", t.TicketID, t.State, t.Priority, t.Category, inQuotes(t.Summary))})
	}
	if len(fields) > 0 {
		fmt.Fprintln(a.out)
		printFields(a.out, a.columns(), fields)
	}
}
