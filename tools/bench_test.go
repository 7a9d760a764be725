package tools_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/store/ingest"
	"countersign/tools"
)

// Run these with `make bench`. Compare with the floor of the same run: absolute
// figures are the machine's.

// benchShop is a demo shop with n more orders of another customer, and as many
// more audit rows.
func benchShop(b *testing.B, n int) *store.DB {
	b.Helper()
	db, err := fixtures.OpenDemo(filepath.Join(b.TempDir(), "demo.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if n == 0 {
		return db
	}
	var shop strings.Builder
	shop.WriteString(`{"type":"customer","id":"many","name":"Many","created_at":"-400d"}` + "\n")
	for i := range n {
		fmt.Fprintf(&shop, `{"type":"order","id":"M-%d","customer_id":"many","status":"delivered","currency":"USD","placed_at":"-20d","delivered_at":"-5d",`+
			`"items":[{"sku":"A","title":"A thing","quantity":1,"unit_price":"10.00"}],"total":"10.00"}`+"\n", i)
	}
	batch, err := ingest.Read(strings.NewReader(shop.String()), db.Now())
	if err != nil {
		b.Fatal(err)
	}
	err = db.Tx(b.Context(), func(tx *store.Tx) error {
		_, err := batch.Store(tx, ingest.Options{})
		return err
	})
	for done := 0; done < n && err == nil; done += 10_000 {
		err = db.Tx(b.Context(), func(tx *store.Tx) (err error) {
			for range min(10_000, n-done) {
				if err = audit.Append(tx, audit.Entry{Door: audit.Eval, Action: "get_order", OrderID: "M-1", Outcome: audit.OK}); err != nil {
					break
				}
			}
			return err
		})
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil { // the log of all this goes with it
		b.Fatal(err)
	}
	if db, err = store.Open(db.Path(), store.Options{}); err != nil {
		b.Fatal(err)
	}
	return db
}

func benchDesk(b *testing.B, db *store.DB) (*tools.Desk, tools.Caller) {
	b.Helper()
	rules, err := tools.NewRulebook(b.Context(), db, nil)
	if err != nil {
		b.Fatal(err)
	}
	caller := tools.Caller{Token: fixtures.StaffToken, Customer: "C-1001", Door: audit.Eval, Session: "bench"}
	return tools.NewDesk(db, rules, tools.All), caller
}

func benchCall(b *testing.B, desk *tools.Desk, caller tools.Caller, tool, args string) {
	if res := desk.Call(context.Background(), caller, tool, json.RawMessage(args)); res.IsError {
		b.Error(string(res.JSON))
	}
}

// BenchmarkFloor is the least that a call must do: one order read by its number
// and owner, one audit row committed durably.
func BenchmarkFloor(b *testing.B) {
	path := benchShop(b, 0).Path()
	open := func(options string) *sql.DB {
		db, err := sql.Open("sqlite3", "file:"+path+options)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { db.Close() })
		return db
	}
	reader, writer := open("?_query_only=1"), open("?_busy_timeout=5000&_txlock=immediate&_synchronous=FULL")
	writer.SetMaxOpenConns(1)
	read, err := reader.Prepare(`select o.id, o.status, o.total, o.paid, o.refunded, c.name from orders o
		join customers c on c.key = o.customer where o.number = ? and c.id = ?`)
	if err != nil {
		b.Fatal(err)
	}
	write, err := writer.Prepare(`insert into audit values ((select coalesce(max(seq), 0) from audit) + 1, '', '', '', '', 'eval', '', '', '', 'get_order',
		'NW-5001', '', null, '', 'ok', '', '', '', 0, '', '')`)
	if err != nil {
		b.Fatal(err)
	}
	call := func() {
		var id, status, name string
		var total, paid, refunded int64
		if err := read.QueryRow("NW-5001", "C-1001").Scan(&id, &status, &total, &paid, &refunded, &name); err != nil {
			b.Error(err)
		}
		if _, err := write.Exec(); err != nil {
			b.Error(err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			call()
		}
	})
	b.Run("16 at once", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				call()
			}
		})
	})
}

func BenchmarkGetOrder(b *testing.B) {
	desk, caller := benchDesk(b, benchShop(b, 0))
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			benchCall(b, desk, caller, "get_order", `{"order_id":"NW-5001"}`)
		}
	})
	b.Run("16 at once", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				benchCall(b, desk, caller, "get_order", `{"order_id":"NW-5001"}`)
			}
		})
	})
}

// BenchmarkIssueRefund makes a refund of a cent each time, on a fresh order
// whenever one is used up.
func BenchmarkIssueRefund(b *testing.B) {
	const perOrder = 50 // so that an order's history stays short
	db := benchShop(b, 2000)
	desk, caller := benchDesk(b, db)
	caller.Customer = "many"
	for i := 0; b.Loop(); i++ {
		benchCall(b, desk, caller, "issue_refund", fmt.Sprintf(
			`{"order_id":"M-%d","amount":"0.01","reason":"benchmark %d","another":true}`, i/perOrder%2000, i))
	}
}

// BenchmarkGrowth reads any order of a small shop and of one with
// COUNTERSIGN_GROWTH (10,000) orders and audit rows.
func BenchmarkGrowth(b *testing.B) {
	n := 10_000
	if text := os.Getenv("COUNTERSIGN_GROWTH"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	small, db := benchShop(b, 1000), benchShop(b, n)
	b.Run(fmt.Sprintf("get_order of 1000 and of %d", n), func(b *testing.B) {
		few, many := benchAnyOrder(b, small, 1000), benchAnyOrder(b, db, n)
		var fewTook, manyTook []time.Duration
		for b.Loop() { // by turns, because the disk is slower at one time than at another
			fewTook, manyTook = append(fewTook, few()), append(manyTook, many())
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(median(fewTook).Nanoseconds()), "p50-of-1000-ns")
		b.ReportMetric(float64(median(manyTook).Nanoseconds()), "p50-ns")
		b.ReportMetric(float64(median(manyTook))/float64(median(fewTook)), "ratio")
	})
	b.Run(fmt.Sprintf("verify %d", n), func(b *testing.B) {
		rows := int64(0)
		for b.Loop() {
			head, err := audit.Verify(b.Context(), db, nil)
			if err != nil {
				b.Fatal(err)
			}
			rows += head.Seq
		}
		b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run(fmt.Sprintf("tail of %d", n), func(b *testing.B) {
		for b.Loop() {
			err := audit.Tail(b.Context(), db, store.AuditFilter{Last: 20}, false, func(store.AuditRow) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// benchAnyOrder returns what reads any of n orders and tells how long that took.
// Before, the database's log has reached its size: while that grows each sync
// takes about twice as long.
func benchAnyOrder(b *testing.B, db *store.DB, n int) (call func() time.Duration) {
	_ = exec.Command("sync").Run() // else the shop is still on its way to the disk,
	debug.FreeOSMemory()           // and what made it in the way of the garbage collector
	desk, caller := benchDesk(b, db)
	caller.Customer = "many"
	call = func() time.Duration {
		began := time.Now()
		benchCall(b, desk, caller, "get_order", fmt.Sprintf(`{"order_id":"M-%d"}`, rand.IntN(n)))
		return time.Since(began)
	}
	for range 1500 {
		call()
	}
	return call
}

func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}
