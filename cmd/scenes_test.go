package cmd_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"countersign/audit"
	"countersign/fixtures"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/settle"
)

// A scene is one piece of work on a database that is killed somewhere on its way.
type scene struct {
	before func(path string) error                     // lays out the files; nil: the shop
	work   func(path string, opts store.Options) error // can be done again
	counts map[string]int                              // by query: what it gives once the work is done; 0 before
	shared bool                                        // two processes may do it at the same time, and both succeed
}

const importPrefix = "I-"

var importedLines = shopLines(importPrefix, 12)

var scenes = map[string]scene{
	"refund": {
		work: func(path string, opts store.Options) error {
			return succeed(path, opts, "issue_refund", `{"order_id":"A-1","amount":"12.50","reason":"a hole in the heel"}`)
		},
		counts: map[string]int{
			"select count(*) from refunds":                                                    1,
			"select refunded from orders where id = 'A-1'":                                    1250,
			"select count(*) > 0 from audit where outcome = 'ok' and action = 'issue_refund'": 1,
		},
	},
	"request": {
		work: func(path string, opts store.Options) error {
			return succeed(path, opts, "issue_refund", `{"order_id":"A-1","reason":"a hole in the heel"}`)
		},
		counts: map[string]int{
			"select count(*) from approvals where state = 'pending'":            1,
			"select count(*) > 0 from audit where outcome = 'pending_approval'": 1,
		},
	},
	"approval": {
		before: func(path string) error {
			return errors.Join(shopAt(path), succeed(path, store.Options{}, "issue_refund", `{"order_id":"A-1","reason":"a hole in the heel"}`))
		},
		work: approve,
		counts: map[string]int{
			"select count(*) from refunds where human":                                         1,
			"select refunded from orders where id = 'A-1'":                                     10000,
			"select count(*) from approvals where state = 'approved' and result <> ''":         1,
			"select count(*) from audit where outcome = 'ok' and action = 'approvals approve'": 1,
		},
	},
	"ticket": {
		work: func(path string, opts store.Options) error {
			return succeed(path, opts, "escalate_to_human", `{"summary":"Wants to talk to a person.","category":"other"}`)
		},
		counts: map[string]int{
			"select count(*) from tickets": 1,
			"select count(*) > 0 from audit where outcome = 'ok' and action = 'escalate_to_human'": 1,
		},
	},
	"address": {
		work: func(path string, opts store.Options) error {
			return succeed(path, opts, "update_shipping_address",
				`{"order_id":"P-1","address":{"line1":"2 Birch Lane","city":"Bend","region":"OR","postal_code":"97702","country":"US"}}`)
		},
		counts: map[string]int{
			"select count(*) from orders where line1 = '2 Birch Lane' and postal_code = '97702'":         1,
			"select count(*) > 0 from audit where outcome = 'ok' and action = 'update_shipping_address'": 1,
		},
	},
	"filed": {
		work: func(path string, opts store.Options) error { return succeed(path, opts, "request_human", keyForm(0)) },
		counts: map[string]int{
			"select count(*) from approvals where id like 'RQ-%' and state = 'pending'":                      1,
			"select count(*) > 0 from audit where outcome = 'pending_approval' and action = 'request_human'": 1,
		},
	},
	"answered": {
		before: func(path string) error {
			return errors.Join(shopAt(path), succeed(path, store.Options{}, "request_human", keyForm(0)))
		},
		work: answerKey,
		counts: map[string]int{
			"select count(*) from approvals where state = 'approved' and result like 'sealed1:%'": 1,
			"select count(*) from audit where outcome = 'ok' and action = 'requests answer'":      1,
		},
	},
	"collected": {
		before: keyAnswered, work: collectKey,
		counts: map[string]int{
			"select count(*) from approvals where collected_at is not null":                    1,
			"select count(*) > 1 from audit where outcome = 'ok' and action = 'check_request'": 1, // the first found it waiting
		},
	},
	"rotated": {
		before: func(path string) error { return errors.Join(keyAnswered(path), noteKey(path)) },
		work: func(path string, opts store.Options) error {
			return errors.Join(rotate(path, opts), collectKey(path, store.Options{}))
		},
		counts: map[string]int{
			"select (select value from settings where name = 'key') <> (select value from settings where name = 'first key')": 1,
			"select count(*) > 0 from audit where outcome = 'ok' and action = 'keys rotate'":                                  1,
		},
	},
	"import": {
		work: func(path string, opts store.Options) error { return importLines(path, opts, importedLines) },
		counts: map[string]int{
			"select count(*) from customers where id like 'I-%'":                               1,
			"select count(*) from orders where id like 'I-%'":                                  24,
			"select count(*) from order_items where order_id like 'I-%'":                       24,
			"select count(*) from articles where id like 'I-%'":                                1,
			"select count(*) > 0 from audit where outcome = 'ok' and action = 'import native'": 1,
		},
	},
	"migration": {
		before: firstVersion, work: reopen, shared: true,
		counts: map[string]int{
			"select user_version - 1 from pragma_user_version": 1,
			`select count(*) from sqlite_schema where type = 'table'
				and name in ('principals', 'approvals', 'refunds', 'tickets', 'ticket_replies', 'audit')`: 6,
			"select count(*) from sqlite_schema where name = 'audit_kept'":                                           1,
			"select count(*) * (select user_version > 1 from pragma_user_version) from settings where name = 'mine'": 1,
		},
	},
	"demo": {
		before: func(string) error { return nil }, work: openDemo, shared: true,
		counts: map[string]int{
			"select count(*) from orders":                             9,
			"select count(*) from principals":                         3,
			"select count(*) from settings where name = 'demo'":       1,
			"select count(*) from customers where id = 'C-1003'":      1,
			"select count(*) > 10 from articles":                      1,
			"select count(*) from sqlite_schema where name = 'audit'": 1,
		},
	},
	"reset": {
		before: usedDemo,
		work:   func(path string, opts store.Options) error { return fixtures.ResetDemo(path, opts) },
		counts: map[string]int{
			"select count(*) = 0 from settings where name = 'used'": 1,
			"select count(*) = 0 from refunds":                      1,
			"select count(*) = 0 from audit":                        1,
			"select refunded = 0 from orders where id = 'NW-5002'":  1,
		},
	},
}

// firstVersion makes a database of the oldest version.
func firstVersion(path string) error {
	text, err := os.ReadFile("../store/migrations/0001_shop.sql")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return err
	}
	_, err = db.Exec("pragma journal_mode = wal; pragma application_id = 0x4353676e; pragma user_version = 1;" + string(text) +
		"; insert into settings values ('mine', 'kept')")
	return errors.Join(err, db.Close(), os.WriteFile(store.KeyPath(path), []byte(strings.Repeat("0f", 32)), 0o600))
}

func reopen(path string, opts store.Options) error {
	db, err := store.Open(path, opts)
	if err != nil {
		return err
	}
	return db.Close()
}

func openDemo(path string, opts store.Options) error {
	db, err := fixtures.OpenDemo(path, opts)
	if err != nil {
		return err
	}
	return db.Close()
}

// usedDemo makes a demo database in which something has happened.
func usedDemo(path string) error {
	files, err := demoFiles()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, files[0], 0o600), os.WriteFile(store.KeyPath(path), files[1], 0o600))
}

var demoFiles = sync.OnceValues(func() (files [2][]byte, err error) {
	return filesOf(func(path string) error {
		if err := fixtures.CreateDemo(path, store.Options{}); err != nil {
			return err
		}
		caller := tools.Caller{Token: fixtures.StaffToken, Customer: "C-1001", Door: audit.MCP, Session: "test"}
		res, err := callAs(path, store.Options{}, caller, "issue_refund", `{"order_id":"NW-5002","reason":"a hole in the heel"}`)
		if err != nil || res.IsError {
			return fmt.Errorf("%w %s", err, res.JSON)
		}
		return queries(path, func(db *sql.DB) error {
			_, err := db.Exec("insert into settings values ('used', 'yes')")
			return err
		})
	})
})

// layOut makes the files that the scene starts on, in a folder of their own.
func (s scene) layOut(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if s.before != nil {
		return s.before(path)
	}
	return shopAt(path)
}

// check finds out whether all of the scene happened or nothing, runs it again,
// and expects that it has happened then, once.
func (s scene) check(path string) (happened bool, err error) {
	if happened, err = s.happened(path); err != nil {
		return happened, err
	}
	if err := s.work(path, store.Options{}); err != nil {
		return happened, fmt.Errorf("the next run: %w", err)
	}
	again, err := s.happened(path)
	if err == nil && !again {
		err = errors.New("the next run did nothing")
	}
	return happened, err
}

// happened reports whether the scene's work was done. It returns an error where
// it was half done, or anything is wrong.
func (s scene) happened(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	done, undone := 0, 0
	var states []string
	err := queries(path, func(db *sql.DB) error { // before anything is opened that could mend it
		for query, want := range s.counts {
			var n int
			if err := db.QueryRow(query).Scan(&n); err != nil && !strings.Contains(err.Error(), "no such table") {
				return fmt.Errorf("%w: %s", err, query)
			}
			switch n {
			case want:
				done++
			case 0:
				undone++
			}
			states = append(states, fmt.Sprintf("%d of %d: %s", n, want, query))
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if done != len(s.counts) && undone != len(s.counts) {
		return false, fmt.Errorf("half done:\n%s", strings.Join(states, "\n"))
	}
	return done > 0, balanced(path, twice)
}

// keyForm asks for a secret.
func keyForm(seconds int) string {
	return fmt.Sprintf(`{"title":"API key","instructions":"Make a key for the carrier.","category":"api key","timeout_seconds":%d,`+
		`"fields":[{"name":"CARRIER_KEY","type":"secret","required":true,"pattern":"[ -~]{8,}"},{"name":"NOTE","type":"string"}]}`, seconds)
}

// keyAnswered makes a shop in which a request for a secret was answered.
func keyAnswered(path string) error {
	return errors.Join(shopAt(path), succeed(path, store.Options{}, "request_human", keyForm(0)), answerKey(path, store.Options{}))
}

// noteKey keeps the name of the key that a rotation replaces.
func noteKey(path string) error {
	return queries(path, func(db *sql.DB) error {
		_, err := db.Exec("insert into settings (name, value) select 'first key', value from settings where name = 'key'")
		return err
	})
}

// manage runs an operator's work on the oldest of what asked lists.
func manage(path string, opts store.Options, asked func(*store.View, bool) ([]store.Approval, error), work func(office settle.Office, id string) error) (err error) {
	db, err := store.Open(path, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rules, err := tools.NewRulebook(context.Background(), db, nil)
	if err != nil {
		return err
	}
	var all []store.Approval
	err = db.View(context.Background(), func(v *store.View) (err error) {
		all, err = asked(v, true)
		return err
	})
	if err != nil || len(all) == 0 {
		return errors.Join(err, errors.New("nothing was asked"))
	}
	return work(settle.Office{DB: db, Rules: rules, Caller: tools.Caller{Token: managerToken, Door: audit.CLI, Session: "test"}}, all[0].ID)
}

// answerKey answers the request, or finds it answered.
func answerKey(path string, opts store.Options) error {
	return manage(path, opts, (*store.View).Requests, func(office settle.Office, id string) error {
		_, err := office.Answer(context.Background(), id, map[string]string{"CARRIER_KEY": "key-12345678"}, "")
		if refused := (*settle.Error)(nil); errors.As(err, &refused) && refused.Code == settle.AlreadyDecided {
			err = nil
		}
		return err
	})
}

// collectKey is the agent's check of the request, which must find the secret
// written.
func collectKey(path string, opts store.Options) error {
	var id string
	err := manage(path, store.Options{}, (*store.View).Requests, func(_ settle.Office, oldest string) error {
		id = oldest
		return nil
	})
	if err != nil {
		return err
	}
	if err := succeed(path, opts, "check_request", `{"request_id":"`+id+`"}`); err != nil {
		return err
	}
	text, err := os.ReadFile(envOf(path))
	if err == nil && string(text) != "CARRIER_KEY=key-12345678\n" {
		err = fmt.Errorf("the .env file holds %q", text)
	}
	return err
}

func rotate(path string, opts store.Options) error {
	return manage(path, opts, (*store.View).Requests, func(office settle.Office, _ string) error {
		_, err := office.RotateKey(context.Background())
		return err
	})
}
