package cmd_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/policy"
	"countersign/store"
	"countersign/store/ingest"
	"countersign/tools"
	"countersign/tools/settle"
)

// The shop of these tests: one customer with many orders of 100.00 USD, and an
// agent who may refund 30.00 of each without a human.
const (
	agentToken   = "agent-token"
	managerToken = "manager-token"
	shopCustomer = "C-1"
	shopOrders   = 60 // A-1 … delivered, P-1 … processing

	shopPolicy = "refund:\n  auto_limit: {USD: \"30.00\"}\n  customer_limit_24h: {USD: \"1000000.00\"}\n"
)

// shopLines are customers and orders in the native format, of ids with a prefix.
func shopLines(prefix string, orders int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"customer","id":"%sC-1","name":"Ava","email":"%sava@example.com","created_at":"-400d"}`+"\n", prefix, prefix)
	for i := range orders {
		for kind, status := range map[string]string{"A": "delivered", "P": "processing"} {
			fmt.Fprintf(&b, `{"type":"order","id":"%s%s-%d","customer_id":"%sC-1","status":%q,"currency":"USD","placed_at":"-9d",`+
				`"delivered_at":%s,"items":[{"sku":"S-1","title":"Socks","quantity":2,"unit_price":"50.00"}],"total":"100.00",`+
				`"address":{"recipient":"Ava","line1":"1 Birch Lane","city":"Bend","region":"OR","postal_code":"97701","country":"US"}}`+"\n",
				prefix, kind, i+1, prefix, status, map[string]string{"A": `"-5d"`, "P": "null"}[kind])
		}
	}
	fmt.Fprintf(&b, `{"type":"article","id":"%sH-1","title":"Returns","body":"Within 30 days of delivery.","category":"returns","source":"official","visibility":"public","updated_at":"-60d"}`+"\n", prefix)
	return b.String()
}

// filesOf returns the bytes of a database that is made by create, and of its key.
func filesOf(create func(path string) error) (files [2][]byte, err error) {
	folder, err := os.MkdirTemp("", "countersign-files-")
	if err != nil {
		return files, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "shop.db")
	if err := create(path); err != nil {
		return files, err
	}
	if files[0], err = os.ReadFile(path); err != nil {
		return files, err
	}
	files[1], err = os.ReadFile(store.KeyPath(path))
	return files, err
}

var shopFiles = sync.OnceValues(func() (files [2][]byte, err error) {
	return filesOf(func(path string) error { return store.Create(path, store.Options{}, seedShop) })
})

func seedShop(tx *store.Tx) error {
	batch, err := ingest.Read(strings.NewReader(shopLines("", shopOrders)), tx.Now)
	if err != nil {
		return err
	}
	if report, err := batch.Store(tx, ingest.Options{}); err != nil {
		return fmt.Errorf("%w: %v", err, report.Problems)
	}
	if _, err := tx.AddPrincipal(store.Principal{Name: "agent", Kind: policy.Agent, Role: policy.Staff}, agentToken); err != nil {
		return err
	}
	if _, err := tx.AddPrincipal(store.Principal{Name: "manager", Kind: policy.Operator, Role: policy.Manager}, managerToken); err != nil {
		return err
	}
	return tx.SetSetting(store.SettingPolicy, shopPolicy)
}

// shopAt puts the shop's database at path.
func shopAt(path string) error {
	files, err := shopFiles()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, files[0], 0o600), os.WriteFile(store.KeyPath(path), files[1], 0o600))
}

// shop returns the path of a database of its own.
func shop(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := shopAt(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// agent is who calls in these tests.
var agent = tools.Caller{Token: agentToken, Customer: shopCustomer, Door: audit.MCP, Session: "test"}

// call is a call of the agent in this process, by a store with the given options.
func call(path string, opts store.Options, tool, arguments string) (tools.Result, error) {
	return callAs(path, opts, agent, tool, arguments)
}

func callAs(path string, opts store.Options, caller tools.Caller, tool, arguments string) (res tools.Result, err error) {
	err = atDeskAs(path, opts, caller, func(ask func(tool, arguments string) tools.Result) error {
		res = ask(tool, arguments)
		return nil
	})
	return res, err
}

// atDesk opens a database for calls of the agent.
func atDesk(path string, opts store.Options, work func(ask func(tool, arguments string) tools.Result) error) error {
	return atDeskAs(path, opts, agent, work)
}

func atDeskAs(path string, opts store.Options, caller tools.Caller, work func(ask func(tool, arguments string) tools.Result) error) error {
	db, err := store.Open(path, opts)
	if err != nil {
		return err
	}
	rules, err := tools.NewRulebook(context.Background(), db, nil)
	if err == nil {
		desk := tools.NewDesk(db, rules, slices.Concat(tools.All, tools.Human))
		desk.EnvFile = &envfile.File{Path: envOf(path)}
		err = work(func(tool, arguments string) tools.Result {
			return desk.Call(context.Background(), caller, tool, json.RawMessage(arguments))
		})
	}
	return errors.Join(err, db.Close())
}

// envOf is where secrets go that a database's agent asks for.
func envOf(path string) string { return filepath.Join(filepath.Dir(path), ".env") }

// succeed is call for one that must not be refused.
func succeed(path string, opts store.Options, tool, arguments string) error {
	res, err := call(path, opts, tool, arguments)
	if err == nil && res.IsError {
		err = fmt.Errorf("%s: %s", tool, res.JSON)
	}
	return err
}

// approve is the manager's yes to the oldest request that waits, or that was
// decided already.
func approve(path string, opts store.Options) error {
	return manage(path, opts, (*store.View).Approvals, func(office settle.Office, id string) error {
		_, err := office.Approve(context.Background(), id, "", "")
		if refused := (*settle.Error)(nil); errors.As(err, &refused) && refused.Code == settle.AlreadyDecided {
			err = nil
		}
		return err
	})
}

// importLines imports lines in the native format as the manager.
func importLines(path string, opts store.Options, lines string) (err error) {
	db, err := store.Open(path, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rules, err := tools.NewRulebook(context.Background(), db, nil)
	if err != nil {
		return err
	}
	batch, err := ingest.Read(strings.NewReader(lines), db.Now())
	if err != nil {
		return err
	}
	office := settle.Office{DB: db, Rules: rules, Caller: tools.Caller{Token: managerToken, Door: audit.CLI, Session: "test"}}
	return office.Do(context.Background(), "import native", policy.Manager, func(s *settle.Session) error {
		_, err := batch.Store(s.Tx, ingest.Options{})
		return err
	})
}

// queries run on a database without the store.
func queries(path string, work func(*sql.DB) error) error {
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_busy_timeout=5000")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	return errors.Join(work(db), db.Close())
}

// wrongs find, by name, what must never be in a database whose orders were
// imported once: each query gives the ids of what is wrong.
var wrongs = map[string]string{
	"damaged file": `select integrity_check from pragma_integrity_check where integrity_check <> 'ok'`,
	"dangling row": `select "table" || ' ' || coalesce(rowid, '') from pragma_foreign_key_check`,
	"money that doesn't add up": `select id from orders o where refunded > paid or refunded <> source_refunded +
		(select coalesce(sum(amount), 0) from refunds where order_id = o.id)`,
	"approval without its one refund": `select id from approvals a where (state = 'approved' and tool = 'issue_refund') <>
		(select count(*) from refunds where approval_id = a.id and order_id = a.order_id and amount = a.approved_amount and currency = a.currency)`,
	"approval without its result": `select id from approvals where (state = 'approved') <> (result <> '')`,
	"decision without its one row": `select id from approvals a where (state in ('approved', 'rejected')) <>
		(select count(*) from audit where approval_id = a.id and outcome = 'ok' and order_id = coalesce(a.order_id, '') and currency = a.currency
		and action = case a.tool || ' ' || a.state when 'issue_refund approved' then 'approvals approve' when 'issue_refund rejected' then 'approvals reject'
			when 'request_human approved' then 'requests answer' else 'requests decline' end
		and amount is coalesce(a.approved_amount, a.amount))`,
	"request without its row": `select id from approvals a where not exists (select 1 from audit where approval_id = a.id
		and action = a.tool and outcome = 'pending_approval' and order_id = coalesce(a.order_id, '') and amount is a.amount)`,
	"row of no request": `select seq from audit u where approval_id <> '' and not exists
		(select 1 from approvals where id = u.approval_id and coalesce(order_id, '') = u.order_id)`,
	"row of no decision": `select seq from audit u where action in ('approvals approve', 'approvals reject', 'requests answer', 'requests decline') and outcome = 'ok' and not exists
		(select 1 from approvals where id = u.approval_id and state in ('approved', 'rejected'))`,
	"refund without its row": `select id from refunds r where approval_id is null and not exists (select 1 from audit
		where action = case r.human when 1 then 'refunds issue' else 'issue_refund' end
		and outcome = 'ok' and approval_id = '' and order_id = r.order_id and amount = r.amount)`,
	"row of no refund": `select seq from audit u where action = 'issue_refund' and outcome = 'ok' and not exists (select 1 from refunds
		where coalesce(approval_id, '') = u.approval_id and order_id = u.order_id and amount = u.amount)`,
	"address without its row": `select id from orders o where (address_changed_at is not null) <> exists (select 1 from audit
		where action = 'update_shipping_address' and outcome = 'ok' and order_id = o.id)`,
	"address without its change": `select id from orders o where (address_changed_at is not null) <>
		exists (select 1 from address_changes where order_id = o.id)`,
	"more tickets than rows": `select count(*) from tickets having count(*) >
		(select count(*) from audit where action = 'escalate_to_human' and outcome = 'ok')`,
}

// twice finds what was done twice in a shop where no two calls ask for the same.
var twice = map[string]string{
	"refunded twice": `select order_id || ' ' || amount from refunds group by order_id, amount having count(*) > 1`,
	"asked twice":    `select coalesce(order_id || ' ' || amount, request_key) as asked from approvals group by asked having count(*) > 1`,
	"filed twice":    `select summary_key from tickets group by summary_key having count(*) > 1`,
}

// balanced opens a database as the next program would, and returns an error for
// everything that is wrong with it.
func balanced(path string, checks ...map[string]string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	_, err = audit.Verify(context.Background(), db, nil)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return queries(path, func(db *sql.DB) (err error) {
		for _, check := range append(checks, wrongs) {
			for name, query := range check {
				ids, fault := texts(db, query)
				if err = errors.Join(err, fault); len(ids) > 0 {
					err = errors.Join(err, fmt.Errorf("%s: %v", name, ids))
				}
			}
		}
		return err
	})
}

// texts returns the first column of a query's rows.
func texts(db *sql.DB, query string) (found []string, err error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, query)
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text.String)
	}
	return found, rows.Err()
}

// count returns the one number that a query gives.
func count(path, query string) (n int, err error) {
	err = queries(path, func(db *sql.DB) error { return db.QueryRow(query).Scan(&n) })
	if err != nil {
		err = fmt.Errorf("%w: %s", err, query)
	}
	return n, err
}
