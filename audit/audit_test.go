package audit_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/audit"
	"countersign/policy"
	"countersign/policy/money"
	"countersign/store"
	"countersign/store/storetest"
)

func equal[T any](t testing.TB, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// entry is like a call of get_order on the nth order.
func entry(n int) audit.Entry {
	return audit.Entry{
		Principal: store.Principal{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, Door: audit.MCP, Session: "s1", Client: "test",
		Customer: "cu_1", Action: "get_order", OrderID: fmt.Sprint("A-", n), Outcome: audit.OK, Fingerprint: "f", Policy: "p-1",
		Duration: 1500 * time.Nanosecond,
	}
}

// write appends entries, each in its own transaction, and returns the rows.
func write(t testing.TB, db *store.DB, entries ...audit.Entry) (rows []store.AuditRow) {
	t.Helper()
	db.Audited = func(row store.AuditRow) { rows = append(rows, row) }
	defer func() { db.Audited = nil }()
	for _, e := range entries {
		if err := db.Tx(context.Background(), func(tx *store.Tx) error { return audit.Append(tx, e) }); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func entries(n int) (all []audit.Entry) {
	for i := range n {
		all = append(all, entry(i+1))
	}
	return all
}

func read(t testing.TB, db *store.DB) (rows []store.AuditRow) {
	t.Helper()
	err := db.View(context.Background(), func(v *store.View) error {
		return v.AuditRows(store.AuditFilter{}, func(r store.AuditRow) error {
			rows = append(rows, r)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// tamper runs statements beside the program, with the table's triggers gone.
func tamper(t testing.TB, db *store.DB, statements string) {
	t.Helper()
	raw, err := sql.Open("sqlite3", db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("drop trigger if exists audit_final; drop trigger if exists audit_kept; " + statements); err != nil {
		t.Fatal(err)
	}
}

func TestAppendWritesWhatItReturns(t *testing.T) {
	db := storetest.New(t)
	e := entry(1)
	e.ApprovalID, e.Amount, e.Outcome, e.Code = "AP-1", money.Amount{Minor: 14400, Currency: "USD"}, audit.Denied, policy.RefundRejected
	rows := write(t, db, e, entry(2))
	equal(t, rows, read(t, db))
	equal(t, []string{"", rows[0].Hash}, []string{rows[0].PrevHash, rows[1].PrevHash})
	equal(t, `{"seq":1,"at":"2026-05-01T12:00:00.000000Z","actor":"agent","actor_kind":"agent","role":"staff","door":"mcp","session":"s1",`+
		`"client":"test","customer":"cu_1","action":"get_order","order_id":"A-1","approval_id":"AP-1","amount":"144.00","currency":"USD",`+
		`"outcome":"denied","code":"refund_rejected","fingerprint":"f","policy":"p-1","duration_us":1,"prev_hash":"","hash":"`+rows[0].Hash+`"}`,
		string(audit.JSON(rows[0])))
	if text := string(audit.JSON(rows[1])); !strings.Contains(text, `"amount":null,"currency":""`) || strings.Contains(text, "\n") || !json.Valid([]byte(text)) {
		t.Errorf("%s", text)
	}
	head, err := audit.Verify(t.Context(), db, nil)
	if err != nil {
		t.Error(err)
	}
	equal(t, audit.Head{Seq: 2, Hash: rows[1].Hash}, head)
	equal(t, "2:"+rows[1].Hash, head.String())
}

// The hash is over a text that anybody can put together from a row: a log that
// is kept outlasts the program that wrote it.
func TestHashIsOverTheRowsText(t *testing.T) {
	db := storetest.New(t)
	e := entry(1)
	e.Amount, e.Duration = money.Amount{Minor: 14400, Currency: "USD"}, 1234567*time.Microsecond
	rows := write(t, db, e, entry(12))
	for i, text := range []string{
		"0:" + "1:1" + "27:2026-05-01T12:00:00.000000Z" + "5:agent" + "5:agent" + "5:staff" + "3:mcp" + "2:s1" + "4:test" + "4:cu_1" + "9:get_order" +
			"3:A-1" + "0:" + "5:14400" + "3:USD" + "2:ok" + "0:" + "1:f" + "3:p-1" + "7:1234567",
		"64:" + rows[0].Hash + "1:2" + "27:2026-05-01T12:00:00.000000Z" + "5:agent" + "5:agent" + "5:staff" + "3:mcp" + "2:s1" + "4:test" + "4:cu_1" + "9:get_order" +
			"4:A-12" + "0:" + "0:" + "0:" + "2:ok" + "0:" + "1:f" + "3:p-1" + "1:1",
	} {
		equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(text))), rows[i].Hash)
	}
	if _, err := audit.Verify(t.Context(), db, nil); err != nil {
		t.Error(err)
	}
}

// Every process has another name in the log.
func TestSessionsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seen[audit.NewSession()] = true
	}
	equal(t, 100, len(seen))
}

func TestVerifyEmptyLog(t *testing.T) {
	head, err := audit.Verify(t.Context(), storetest.New(t), nil)
	if err != nil {
		t.Error(err)
	}
	equal(t, audit.Head{}, head)
}

// Rows are final: no statement changes or deletes one.
func TestRowsAreFinal(t *testing.T) {
	db := storetest.New(t)
	write(t, db, entries(2)...)
	raw, err := sql.Open("sqlite3", db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	before := read(t, db)
	for _, statement := range []string{"update audit set code = 'x'", "update audit set seq = 9 where seq = 2", "delete from audit",
		"delete from audit where seq = 2", "update or replace audit set seq = 1 where seq = 2"} {
		if _, err := raw.Exec(statement); err == nil {
			t.Errorf("%s: done", statement)
		}
	}
	equal(t, before, read(t, db))
}

// A failed transaction leaves neither a row nor a gap.
func TestRollbackLeavesNoGap(t *testing.T) {
	db := storetest.New(t)
	write(t, db, entry(1))
	failed := errors.New("failed")
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		err := audit.Append(tx, entry(2))
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	rows := write(t, db, entry(3))
	equal(t, int64(2), rows[0].Seq)
	if _, err := audit.Verify(t.Context(), db, nil); err != nil {
		t.Error(err)
	}
}

// Cases 67 and 68: the order is that of writing, whether the clock stands or
// steps back.
func TestOrderIsNotTheClocks(t *testing.T) {
	clock := new(storetest.Clock)
	db := storetest.New(t, storetest.WithClock(clock))
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		for _, e := range entries(1000) {
			if err := audit.Append(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(-time.Hour)
	write(t, db, entry(1001))
	clock.Advance(2 * time.Hour)
	write(t, db, entry(1002))
	for i, r := range read(t, db) {
		if r.Seq != int64(i+1) || r.OrderID != fmt.Sprint("A-", i+1) {
			t.Fatalf("row %d is %d, about %s", i+1, r.Seq, r.OrderID)
		}
	}
	head, err := audit.Verify(t.Context(), db, nil)
	if err != nil || head.Seq != 1002 {
		t.Errorf("%v, %v", head, err)
	}
	rows := read(t, db)
	if rows[1000].At >= rows[999].At {
		t.Error("the clock didn't step back: the test looks past it")
	}
}

// columns are those of the table that say something, each with another value.
var columns = map[string]string{
	"at": "'2026-05-01T12:00:01.000000Z'", "actor": "'x'", "actor_kind": "'operator'", "role": "'manager'", "door": "'cli'", "session": "'x'",
	"client": "'x'", "customer": "'x'", "action": "'x'", "order_id": "'x'", "approval_id": "'x'", "amount": "1", "currency": "'USD'",
	"outcome": "'denied'", "code": "'x'", "fingerprint": "'x'", "policy": "'x'", "duration_us": "7", "prev_hash": "'x'", "hash": "'x'",
}

func TestVerifyFindsTampering(t *testing.T) {
	const isNot, missing, follow = "altered: row 3 isn't what was written", "altered: row 3 is missing", "altered: row %d doesn't follow row %d"
	cases := map[string][2]string{
		"deleted":               {"delete from audit where seq = 3", missing},
		"first deleted":         {"delete from audit where seq = 1", "altered: row 1 is missing"},
		"deleted and closed up": {"delete from audit where seq = 3; update audit set seq = seq - 1 where seq > 3", fmt.Sprintf(follow, 3, 2)},
		"swapped": {"update audit set seq = -3 where seq = 3; update audit set seq = 3 where seq = 4; update audit set seq = 4 where seq = -3",
			fmt.Sprintf(follow, 3, 2)},
		"inserted": {"update audit set seq = -seq where seq >= 3; update audit set seq = 1 - seq where seq < 0;" +
			"create temp table t as select * from audit where seq = 2; update t set seq = 3; insert into audit select * from t", fmt.Sprintf(follow, 3, 2)},
		"inserted before the first": {"create temp table t as select * from audit where seq = 1; update t set seq = 0; insert into audit select * from t",
			"altered: row 1 is missing"},
		"appended": {"create temp table t as select * from audit where seq = 5; update t set seq = 6; insert into audit select * from t",
			fmt.Sprintf(follow, 6, 5)},
		"amount zero instead of none":     {"update audit set amount = 0 where seq = 3", isNot},
		"text moved to the next column":   {"update audit set session = 's1t', client = 'est' where seq = 3", isNot},
		"hash of another row":             {"update audit set hash = (select hash from audit where seq = 2) where seq = 3", isNot},
		"chain cut: two rows begin a log": {"update audit set prev_hash = '' where seq = 3", fmt.Sprintf(follow, 3, 2)},
	}
	for column, value := range columns {
		want := isNot
		if column == "prev_hash" {
			want = fmt.Sprintf(follow, 3, 2)
		}
		cases["changed "+column] = [2]string{"update audit set " + column + " = " + value + " where seq = 3", want}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			db := storetest.New(t)
			write(t, db, entries(5)...)
			tamper(t, db, c[0])
			_, err := audit.Verify(t.Context(), db, nil)
			if !errors.Is(err, audit.ErrAltered) || err.Error() != c[1] {
				t.Errorf("%v, want %s", err, c[1])
			}
		})
	}
}

// Every column of the table is in the cases above.
func TestEveryColumnIsTried(t *testing.T) {
	db := storetest.New(t)
	raw, err := sql.Open("sqlite3", db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	rows, err := raw.Query("select * from audit")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, len(columns)+1, len(names))
	for _, name := range names {
		if columns[name] == "" && name != "seq" {
			t.Errorf("no case changes %s", name)
		}
	}
}

// A head that was kept elsewhere finds what the chain alone can't: a cut-off
// end, and a log written anew.
func TestVerifyAgainstAKeptHead(t *testing.T) {
	db := storetest.New(t)
	rows := write(t, db, entries(5)...)
	for _, r := range rows {
		head, err := audit.Verify(t.Context(), db, &audit.Head{Seq: r.Seq, Hash: r.Hash})
		if err != nil || head.Seq != 5 {
			t.Errorf("head %d: %v, %v", r.Seq, head, err)
		}
	}
	_, err := audit.Verify(t.Context(), db, &audit.Head{Seq: 3, Hash: rows[1].Hash})
	if !errors.Is(err, audit.ErrAltered) || err.Error() != "altered: row 3 isn't the one that was kept" {
		t.Error(err)
	}
	tamper(t, db, "delete from audit where seq > 3")
	if _, err := audit.Verify(t.Context(), db, nil); err != nil {
		t.Errorf("without a kept head a cut-off end can't be seen: %v", err)
	}
	_, err = audit.Verify(t.Context(), db, &audit.Head{Seq: 5, Hash: rows[4].Hash})
	if !errors.Is(err, audit.ErrTruncated) || err.Error() != "truncated: row 5 is gone; the last one is 3" {
		t.Error(err)
	}
	write(t, db, entries(5)...) // written anew, on the same beginning
	_, err = audit.Verify(t.Context(), db, &audit.Head{Seq: 5, Hash: rows[4].Hash})
	if !errors.Is(err, audit.ErrAltered) {
		t.Error(err)
	}
	tamper(t, db, "delete from audit")
	_, err = audit.Verify(t.Context(), db, &audit.Head{Seq: 5, Hash: rows[4].Hash})
	if !errors.Is(err, audit.ErrTruncated) {
		t.Error(err)
	}
}

// What can't be read is neither altered nor truncated.
func TestVerifyThatCannotBeMade(t *testing.T) {
	db := storetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := audit.Verify(ctx, db, nil)
	if err == nil || errors.Is(err, audit.ErrAltered) || errors.Is(err, audit.ErrTruncated) {
		t.Error(err)
	}
}

// Several handles on one file write one chain.
func TestConcurrentWriters(t *testing.T) {
	db := storetest.New(t)
	var wg sync.WaitGroup
	for range 4 {
		other, err := store.Open(db.Path(), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		for range 2 {
			wg.Go(func() {
				for _, e := range entries(25) {
					err := other.Tx(context.Background(), func(tx *store.Tx) error {
						return audit.Append(tx, e)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	head, err := audit.Verify(t.Context(), db, nil)
	if err != nil || head.Seq != 200 {
		t.Errorf("%v, %v", head, err)
	}
}

func TestClientIsBounded(t *testing.T) {
	db := storetest.New(t)
	for name, want := range map[string]string{
		"claude-code": "claude-code", "AZ_az.09": "AZ_az.09", "@[`{/:": "", "": "", "Claude Desktop/1.2_x": "ClaudeDesktop1.2_x", "ava@example.com": "avaexample.com", "名前": "", "a\x00\n\u202eb": "ab",
		strings.Repeat("y", 1000): strings.Repeat("y", 64), strings.Repeat("é", 100) + "z": "z", "=cmd|'/c calc'!A1": "cmdccalcA1",
	} {
		e := entry(1)
		e.Client = name
		equal(t, want, write(t, db, e)[0].Client)
	}
}

// A fingerprint tells equal arguments from others, and only to who has the key.
func TestFingerprint(t *testing.T) {
	key := []byte(strings.Repeat("k", 32))
	print := func(key []byte, action, arguments string) string {
		return audit.Fingerprint(key, action, []byte(arguments))
	}
	first := print(key, "get_order", `{"order_id":"A-1"}`)
	equal(t, "2e201ee020a2258613b59efcf32016a1", first) // as any HMAC-SHA-256 gives it
	equal(t, first, print(key, "get_order", `{"order_id":"A-1"}`))
	for _, other := range []string{
		print([]byte(strings.Repeat("j", 32)), "get_order", `{"order_id":"A-1"}`), print(key, "get_order", `{"order_id":"A-2"}`),
		print(key, "track_shipment", `{"order_id":"A-1"}`), print(key, "get_order", ``),
	} {
		if other == first {
			t.Error("another call has the same fingerprint")
		}
	}
}

func TestTail(t *testing.T) {
	db := storetest.New(t)
	write(t, db, entries(5)...)
	collect := func(f store.AuditFilter) (seqs []int64) {
		t.Helper()
		err := audit.Tail(t.Context(), db, f, false, func(r store.AuditRow) error {
			seqs = append(seqs, r.Seq)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return seqs
	}
	equal(t, []int64{1, 2, 3, 4, 5}, collect(store.AuditFilter{}))
	equal(t, []int64{4, 5}, collect(store.AuditFilter{Last: 2}))
	equal(t, []int64{3}, collect(store.AuditFilter{OrderID: "A-3"}))
	equal(t, nil, collect(store.AuditFilter{Outcome: "denied"}))
	equal(t, []int64{5}, collect(store.AuditFilter{After: 4}))
	equal(t, nil, collect(store.AuditFilter{After: 5}))
	equal(t, []int64{1, 2, 3, 4, 5}, collect(store.AuditFilter{After: 6})) // another log than the one that had a sixth row

	stop := errors.New("stop")
	for _, follow := range []bool{false, true} {
		shown := 0
		err := audit.Tail(t.Context(), db, store.AuditFilter{}, follow, func(store.AuditRow) error {
			shown++
			return stop
		})
		if !errors.Is(err, stop) || shown != 1 {
			t.Errorf("follow %t: %v after %d rows", follow, err, shown)
		}
	}
}

// Following shows each new row once, those that fit alone, and ends with its context.
func TestFollow(t *testing.T) {
	db := storetest.New(t)
	write(t, db, entries(3)...)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	shown, done := make(chan int64, 20), make(chan error)
	go func() {
		done <- audit.Tail(ctx, db, store.AuditFilter{Last: 1, OrderID: "A-3"}, true, func(r store.AuditRow) error {
			shown <- r.Seq
			return nil
		})
	}()
	got := []int64{<-shown}
	write(t, db, slices.Concat(entries(3), entries(3))...)
	got = append(got, <-shown, <-shown)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(shown)
	for seq := range shown {
		got = append(got, seq)
	}
	equal(t, []int64{3, 6, 9}, got)
}

// Rows that share a commit are each written once, and one that can't be written
// takes no other with it.
func TestRecorder(t *testing.T) {
	db := storetest.New(t)
	recorder := audit.NewRecorder(db)
	var wg sync.WaitGroup
	for i := range 200 {
		e := entry(i + 1)
		if i%20 == 7 {
			e.Door = "window" // the table knows none
		}
		wg.Go(func() {
			err := recorder.Record(func(*store.View) audit.Entry { return e })
			if (err == nil) != (e.Door == audit.MCP) {
				t.Errorf("%s through the %s: %v", e.OrderID, e.Door, err)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, r := range read(t, db) {
		seen[r.OrderID] = true
	}
	head, err := audit.Verify(t.Context(), db, nil)
	if err != nil || head.Seq != 190 || len(seen) != 190 {
		t.Errorf("%v, %v, %d different", head, err, len(seen))
	}
}

// Calls that come one after the other are each answered, and each sees the rows
// of those before it.
func TestRecorderOneByOne(t *testing.T) {
	db := storetest.New(t)
	recorder := audit.NewRecorder(db)
	for i := range 3 {
		var before int64
		err := recorder.Record(func(v *store.View) audit.Entry {
			before, _, _ = v.AuditHead()
			return entry(i + 1)
		})
		equal(t, []any{int64(i), nil}, []any{before, err})
	}
}

// A call that comes while another's row is on its way waits for that, and so
// sees it.
func TestRecorderLetsOneCommitAtATime(t *testing.T) {
	db := storetest.New(t)
	recorder := audit.NewRecorder(db)
	var before int64
	read, done := make(chan bool), make(chan error)
	second := func(v *store.View) audit.Entry {
		before, _, _ = v.AuditHead()
		close(read)
		return entry(2)
	}
	err := recorder.Record(func(*store.View) audit.Entry {
		go func() { done <- recorder.Record(second) }()
		select {
		case <-read:
			t.Error("it didn't wait")
		case <-time.After(50 * time.Millisecond): // enough for one that doesn't
		}
		return entry(1)
	})
	equal(t, []any{nil, nil}, []any{err, <-done})
	equal(t, int64(1), before)
}

// Rows that share a commit are each written once, and told of in their order.
func TestRecorderWritesEachOnce(t *testing.T) {
	const calls = 50
	db := storetest.New(t)
	recorder := audit.NewRecorder(db)
	var told []store.AuditRow
	db.Audited = func(row store.AuditRow) { told = append(told, row) }
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			if err := recorder.Record(func(*store.View) audit.Entry { return entry(i) }); err != nil {
				t.Error(i, err)
			}
		})
	}
	wg.Wait()
	equal(t, calls, len(told))
	equal(t, read(t, db), told)
}

// Of two rows that share a commit, the one that can't be written fails alone.
func TestRecorderFailsOneOfTwo(t *testing.T) {
	db := storetest.New(t)
	recorder := audit.NewRecorder(db)
	good, bad := entry(2), entry(3)
	bad.Door = "window" // the table knows none
	errs := map[string]chan error{good.OrderID: make(chan error), bad.OrderID: make(chan error)}
	err := recorder.Record(func(*store.View) audit.Entry {
		for _, e := range []audit.Entry{good, bad} {
			go func() { errs[e.OrderID] <- recorder.Record(func(*store.View) audit.Entry { return e }) }()
		}
		time.Sleep(20 * time.Millisecond) // so that both wait for one commit, as a rule; the outcome is the same
		return entry(1)
	})
	if err != nil {
		t.Error(err)
	}
	for id, done := range errs {
		if err := <-done; (err == nil) != (id == good.OrderID) {
			t.Errorf("%s: %v", id, err)
		}
	}
	equal(t, 2, len(read(t, db)))
}
