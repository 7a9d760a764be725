package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/store"
	"countersign/store/ingest"
	"countersign/store/storetest"
)

// Lines that are right; a test spoils them by replacing a part.
const (
	customerLine = `{"type":"customer","id":"C-1","name":"Ada","email":"ada@example.com","created_at":"-9d"}`
	orderLine    = `{"type":"order","id":"A-1","customer_id":"C-1","status":"shipped","currency":"USD","placed_at":"-9d","items":[{"sku":"S","title":"T","quantity":2,"unit_price":"5.00"}],"total":"10.00","address":{"line1":"1 Elm St"}}`
	parcelLine   = `{"type":"shipment","order_id":"A-1","tracking_number":"T-1","status":"in_transit","items":[{"sku":"S","quantity":1}],"scans":[{"at":"-3d","status":"in_transit"}]}`
	articleLine  = `{"type":"article","id":"H-1","title":"Returns","body":"Thirty days.","source":"official","visibility":"public","updated_at":"-9d"}`
)

// goodLines are a shop that others' lines can be added to.
var goodLines = fileOf(customerLine, orderLine, parcelLine, articleLine)

func fileOf(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func spoil(line string, oldnew ...string) string {
	spoiled := strings.NewReplacer(oldnew...).Replace(line)
	if spoiled == line {
		panic("nothing to replace in " + line)
	}
	return spoiled
}

// Every bad line has its own id, so that none is only a repetition.
func badLines() (rows []badLine) {
	add := func(line, want string) { rows = append(rows, badLine{line, want}) }
	n := 0
	fresh := func(line string, oldnew ...string) string {
		n++
		line = strings.NewReplacer(`"id":"C-1"`, fmt.Sprintf(`"id":"C-x%d"`, n), `"A-1"`, fmt.Sprintf(`"A-x%d"`, n),
			`"H-1"`, fmt.Sprintf(`"H-x%d"`, n)).Replace(line)
		return spoil(line, oldnew...)
	}
	parcel := func(oldnew ...string) string {
		n++
		return spoil(strings.Replace(parcelLine, "T-1", fmt.Sprintf("T-x%d", n), 1), oldnew...)
	}

	add(`nonsense`, "is not a JSON object on one line")
	add(`["type"]`, "is not a JSON object on one line")
	add(`{"type":"customer",}`, "is not a JSON object on one line")
	add(orderLine+orderLine, "is not a JSON object on one line")
	add("{\"type\":\"\xff\"}", "is not valid UTF-8")
	add(`{"type":"\u0000"}`, "type: holds a NUL character")
	add(`{"type":"\ud800"}`, "holds half of a surrogate pair")
	add(`{"type":[[[[[[[[1]]]]]]]]}`, "type.0.0.0.0.0.0.0: is nested too deep")
	add(`{"type":"article","body":"`+strings.Repeat("a", 1<<20)+`"}`, "is longer than 1 MiB")
	add(`{}`, "type: is missing")
	add(`{"type":"refund"}`, "type: must be one of customer, order, shipment, article")
	add(`{"type":7}`, "type: must be a string")

	add(fresh(customerLine, `"name"`, `"email":"x","name"`), "email: is given twice")
	add(fresh(customerLine, `"name"`, `"ada@example.com":1,"name"`), "there is no such field as a field")
	add(fresh(customerLine, `"created_at"`, `"createdAt"`),
		"created_at: is missing; there is no such field as createdAt; did you mean created_at?")
	add(fresh(customerLine, `"name":"Ada",`, ``), "name: is missing")
	add(fresh(customerLine, `"Ada"`, `null`), "name: is missing")
	add(fresh(customerLine, `"Ada"`, `["Ada"]`), "name: must be a string")
	add(fresh(customerLine, `Ada`, strings.Repeat("é", 201)), "name: is longer than 200 characters")
	add(spoil(customerLine, `C-1`, ` `), "id: must not be empty")
	add(spoil(customerLine, `"id":"C-1",`, ``), "id: is missing")
	add(spoil(customerLine, `C-1`, strings.Repeat("C", 65)), "id: is longer than 64 characters")
	add(spoil(customerLine, `C-1`, `C\n1`), "id: must be plain text without line breaks and invisible characters")
	add(spoil(customerLine, `Ada`, `Eve`), "id: line 1 holds customer C-1 already, with other content")

	const badTime = `send a time as RFC 3339, such as "2026-05-01T12:00:00Z", or relative to the import, such as "-12d", "-3h" or "+30m"`
	for _, text := range []string{"", "yesterday", "12d", "-12 d", "-1w", "-d", "2026-05-01", "2026-05-01 12:00:00Z",
		"2026-05-01T12:00:00", "2026-05-01T1:00:00Z", "2026-02-30T00:00:00Z", "2026-05-01T24:00:00Z"} {
		add(fresh(customerLine, "-9d", text), "created_at: "+badTime)
	}
	for _, text := range []string{"-3651d", "+87601h", "-5256001m", "-9999999d"} {
		add(fresh(customerLine, "-9d", text), "created_at: is more than 3650 days from the import")
	}
	for _, text := range []string{"1969-12-31T23:59:59Z", "3000-01-01T00:00:00Z", "2999-12-31T23:30:00-01:00"} {
		add(fresh(customerLine, "-9d", text), "created_at: is outside the years 1970 to 2999")
	}

	add(spoil(orderLine, `A-1`, `A-bad`, `"placed_at":"-9d",`, ``), "placed_at: is missing")
	add(spoil(orderLine, `A-1`, `#--`), "id: is no order number: it needs a letter or a digit, and at most 64 bytes")
	add(spoil(orderLine, `A-1`, `#a‑1`), "id: line 2 holds an order whose number reads the same; "+
		"case, blanks, kinds of hyphen and # make no difference")
	add(fresh(orderLine, `"C-1"`, `"C-9"`), "customer_id: customer C-9 is neither in this file nor in the database")
	add(fresh(orderLine, `"C-1"`, `"Ada L"`), "customer_id: this customer is neither in this file nor in the database")
	add(fresh(orderLine, `shipped`, `Shipped`), "status: must be one of processing, shipped, delivered, cancelled")
	add(fresh(orderLine, `USD`, `usd`), "currency: unknown currency: use an ISO 4217 code in capitals, such as USD")
	add(fresh(orderLine, `USD`, `XXX`), "currency: unknown currency: use an ISO 4217 code in capitals, such as USD")
	add(fresh(orderLine, `USD`, ``), "currency: unknown currency: use an ISO 4217 code in capitals, such as USD")
	add(fresh(orderLine, `"USD"`, `840`), "currency: must be a string")
	add(fresh(orderLine, `"10.00"`, `10.5`), `total: must be a string: send "10.50"`)
	add(fresh(orderLine, `"10.00"`, `1e1`), "total: must be a string of plain decimal digits, with no more decimals than the currency has")
	add(fresh(orderLine, `"10.00"`, `true`), "total: must be a string of plain decimal digits, with no more decimals than the currency has")
	for _, text := range []string{"", "-10.00", "+1", "1,234.50", "4,20", "1e3", "NaN", " 10.00", "10.", "١٠"} {
		add(fresh(orderLine, `"10.00"`, `"`+text+`"`), `total: not an amount: send plain decimal digits such as "12.50" for USD`)
	}
	add(fresh(orderLine, `"10.00"`, `"10.005"`), `total: too many decimals: send at most 2 for USD, such as "12.50"`)
	add(fresh(orderLine, `"10.00"`, `"99999999999999999999"`), "total: amount too large: send at most 92233720368547758.07 for USD")
	add(fresh(orderLine, `USD`, `JPY`, `"5.00"`, `"5"`), `total: too many decimals: JPY has none, send whole units such as "1250"`)
	add(fresh(orderLine, `"total":"10.00"`, `"total":"10.00","refunded":"10.01"`), "refunded: is more than what was paid")
	add(fresh(orderLine, `"total":"10.00"`, `"total":"10.00","paid":"4.00","refunded":"5.00"`), "refunded: is more than what was paid")
	add(fresh(orderLine, `"quantity":2`, `"quantity":-1`), "items.0.quantity: must be a whole number from 0 to 1000000")
	add(fresh(orderLine, `"quantity":2`, `"quantity":1.5`), "items.0.quantity: must be a whole number from 0 to 1000000")
	add(fresh(orderLine, `"quantity":2`, `"quantity":"2"`), "items.0.quantity: must be a number")
	add(fresh(orderLine, `"quantity":2`, `"quantity":9007199254740993`), "items.0.quantity: must be a whole number from 0 to 1000000")
	add(fresh(orderLine, `"title":"T",`, `"colour":"T",`), "items.0.title: is missing; items.0: there is no such field as colour")
	add(fresh(orderLine, `[{`, `[7,{`), "items.0: must be an object")
	add(fresh(orderLine, `[{"sku":"S","title":"T","quantity":2,"unit_price":"5.00"}]`, `{}`), "items: must be an array of objects")
	add(fresh(orderLine, `[{"sku":"S","title":"T","quantity":2,"unit_price":"5.00"}]`,
		"["+strings.Repeat(`{},`, 500)+"{}]"), "items: holds more than 500")
	add(fresh(orderLine, `"1 Elm St"`, `"`+strings.Repeat("x", 201)+`"`), "address.line1: is longer than 200 characters")
	add(fresh(orderLine, `"line1"`, `"street":"x","line1"`), "address: there is no such field as street")
	add(fresh(orderLine, `"total"`, `"note":"`+strings.Repeat("x", 4001)+`","total"`), "note: is longer than 4000 characters")

	add(parcel(`A-1`, `A-404`), "order_id: order A-404 is neither in this file nor in the database")
	add(parcel(`A-1`, `#A-BAD`), "order_id: line 48, which holds order #A-BAD, has a problem")
	add(parcel(`"in_transit","items"`, `"lost","items"`),
		"status: must be one of label_created, in_transit, out_for_delivery, delivered, returned, exception")
	add(parcel(`"quantity":1`, `"quantity":0`), "items.0.quantity: must be a whole number from 1 to 1000000")
	add(parcel(`"items"`, `"eta":"2026-05-01T00:00:00Z","items"`),
		`eta: send a date, such as "2026-05-01", or relative to the import, such as "+3d"`)
	add(parcel(`"items"`, `"eta":"3000-01-01","items"`), "eta: is outside the years 1970 to 2999")
	add(parcel(`"at":"-3d",`, ``), "scans.0.at: is missing")
	add(spoil(parcelLine, `"quantity":1`, `"quantity":2`), "tracking_number: line 3 holds this parcel of the order already")

	add(fresh(articleLine, `official`, `press`), "source: must be one of official, community")
	add(fresh(articleLine, `public`, `secret`), "visibility: must be one of public, internal")
	add(fresh(articleLine, `"title"`, `"outdated":"no","title"`), "outdated: must be true or false")
	add(fresh(articleLine, `Returns`, strings.Repeat("x", 301)), "title: is longer than 300 characters")
	add(fresh(articleLine, `Thirty`, strings.Repeat("x", 200_001)), "body: is longer than 200000 characters")
	return rows
}

type badLine struct{ line, want string }

func TestEveryProblemIsListedByLineAndNothingStored(t *testing.T) {
	text, want := goodLines, ""
	for i, row := range badLines() {
		text += row.line + "\n"
		for _, problem := range strings.Split(row.want, "; ") {
			if strings.HasPrefix(problem, "did you mean") || strings.HasPrefix(problem, "case,") {
				want = strings.TrimSuffix(want, "\n") + "; " + problem + "\n"
			} else {
				want += fmt.Sprintf("line %d: %s\n", i+5, problem)
			}
		}
	}
	db := storetest.New(t)
	same(t, want, refused(t, db, text))
	view(t, db, func(v *store.View) {
		if _, err := v.CustomerByID("C-1"); err == nil {
			t.Error("a line of a file with problems was stored")
		}
	})
}

func TestSkipBadStoresTheRest(t *testing.T) {
	db := storetest.New(t)
	report, err := run(t, db, fileOf(
		spoil(customerLine, `"ada@example.com"`, `7`), // bad by itself
		spoil(customerLine, "C-1", "C-2"),             // fine
		orderLine,                                     // of the bad customer
		spoil(orderLine, "A-1", "A-2", "C-1", "C-2"),  // fine
		parcelLine,                      // of the order that falls out
		spoil(parcelLine, "A-1", "A-2"), // fine
		`{"type":"article"`,             // of no type
		articleLine,                     // fine
		spoil(articleLine, "H-1", "H-2", "Thirty", "\x80"), // can't be read either
	), ingest.Options{SkipBad: true})
	check(t, err)
	same(t, `line 1: email: must be a string
line 3: customer_id: line 1, which holds customer C-1, has a problem
line 5: order_id: line 3, which holds order A-1, has a problem
line 7: is not a JSON object on one line
line 9: is not valid UTF-8
`, listed(report))
	report.Problems = nil
	one := ingest.Count{New: 1, Skipped: 1}
	same(t, ingest.Report{Customers: one, Orders: one, Shipments: one, Articles: ingest.Count{New: 1},
		Unknown: ingest.Count{Skipped: 2}}, report)
	view(t, db, func(v *store.View) { order(t, v, "A-2") })
}

func TestSkippedLineOfAKnownCustomerTakesNobodyAlong(t *testing.T) {
	db := storetest.New(t)
	imported(t, db, goodLines)
	report, err := run(t, db, fileOf(spoil(customerLine, `"Ada"`, `7`), spoil(orderLine, "shipped", "delivered")),
		ingest.Options{SkipBad: true})
	check(t, err)
	same(t, "line 1: name: must be a string\n", listed(report))
	same(t, ingest.Count{Changed: 1}, report.Orders)
}

func TestDryRunStoresNothing(t *testing.T) {
	db := storetest.New(t)
	for range 2 {
		report, err := run(t, db, goodLines, ingest.Options{DryRun: true})
		check(t, err)
		same(t, ingest.Count{New: 4}, report.Total())
	}
}

func TestFileWithoutRowsIsAnError(t *testing.T) {
	db := storetest.New(t)
	for _, text := range []string{"", "\n \r\n\t\n", "\ufeff"} {
		if _, err := run(t, db, text, ingest.Options{}); err != ingest.ErrNoRows {
			t.Errorf("%q: err = %v, want ErrNoRows", text, err)
		}
	}
	if _, err := run(t, db, "Name;Email\nAda;x\n", ingest.Options{SkipBad: true}); err != ingest.ErrNoRows {
		t.Errorf("only bad lines: err = %v, want ErrNoRows", err)
	}
}
