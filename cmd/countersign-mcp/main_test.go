package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
)

// TestMain makes the test's own binary the server where a test starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv("BE_THE_SERVER") != "" {
		main()
		os.Exit(0)
	}
	os.Unsetenv("COUNTERSIGN_KEY") // each test's database has one of its own
	os.Exit(m.Run())
}

type served struct {
	code           int
	stdout, stderr string
}

// serve runs the server on two calls, of get_order and of issue_refund.
func serve(t *testing.T, env []string, args ...string) served {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append([]string{"BE_THE_SERVER=1"}, env...)
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_order","arguments":{"order_id":"NW-5001"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"issue_refund","arguments":{"order_id":"NW-5002","reason":"a hole in the heel"}}}
`)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return served{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func demo(t *testing.T, now func() time.Time) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.db")
	if err := fixtures.CreateDemo(path, store.Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	return path
}

// Flags beat variables, variables beat defaults.
func TestSettings(t *testing.T) {
	nowhere := "COUNTERSIGN_DB=/nowhere/shop.db"
	for name, test := range map[string]struct {
		env, args []string // $ stands for the path of a demo database
		order     string   // what is in the answer about the order
		refund    string
	}{
		"variables": {[]string{"COUNTERSIGN_DB=$", "COUNTERSIGN_TOKEN=demo-staff-token", "COUNTERSIGN_CUSTOMER=C-1001"}, nil,
			`"refundable":"144.00"`, `"status":"refunded"`},
		"flags": {nil, []string{"--db", "$", "--token", "demo-staff-token", "--customer", "C-1001"},
			`"refundable":"144.00"`, `"status":"refunded"`},
		"flags beat variables": {[]string{nowhere, "COUNTERSIGN_TOKEN=demo-viewer-token", "COUNTERSIGN_CUSTOMER=C-1002"},
			[]string{"--db", "$", "--token", "demo-staff-token", "--customer", "C-1001"}, `"refundable":"144.00"`, `"status":"refunded"`},
		"viewer": {nil, []string{"--db", "$", "--token", "demo-viewer-token", "--customer", "C-1001"},
			`"refundable":"144.00"`, `"error":"permission_denied"`},
		"another customer": {nil, []string{"--db", "$", "--token", "demo-staff-token", "--customer", "C-1002"},
			`"error":"not_found"`, `"error":"not_found"`},
		"no token": {nil, []string{"--db", "$", "--customer", "C-1001"}, `"error":"no_customer"`, `"error":"permission_denied"`},
		"unknown token": {[]string{"COUNTERSIGN_TOKEN=demo-manager-token"}, []string{"--db", "$", "--token", "x", "--customer", "C-1001"},
			`"error":"no_customer"`, `"error":"permission_denied"`},
		"no customer": {nil, []string{"--db", "$", "--token", "demo-staff-token"}, `"error":"no_customer"`, `"error":"no_customer"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := demo(t, nil)
			fill := func(texts []string) (filled []string) {
				for _, text := range texts {
					filled = append(filled, strings.ReplaceAll(text, "$", path))
				}
				return filled
			}
			r := serve(t, fill(test.env), fill(test.args)...)
			if r.code != 0 {
				t.Fatalf("%+v", r)
			}
			answers := map[string]string{}
			for line := range strings.Lines(r.stdout) {
				var answer struct {
					ID     json.Number
					Result struct{ Content []struct{ Text string } }
				}
				if err := json.Unmarshal([]byte(line), &answer); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				if len(answer.Result.Content) > 0 {
					answers[answer.ID.String()] = answer.Result.Content[0].Text
				}
			}
			for id, want := range map[string]string{"2": test.order, "3": test.refund} {
				if !strings.Contains(answers[id], want) {
					t.Errorf("answer %s: %s, want %s", id, answers[id], want)
				}
			}
			for line := range strings.Lines(r.stderr) {
				var row struct{ Seq int }
				if err := json.Unmarshal([]byte(line), &row); err != nil || row.Seq == 0 {
					t.Errorf("on stderr: %q", line)
				}
			}
			if n := strings.Count(r.stderr, "\n"); n != 2 {
				t.Errorf("%d lines on stderr, want one for each call", n)
			}
		})
	}
}

// The toolsets and the .env file come from variables as well as from flags.
func TestToolsetsAreSet(t *testing.T) {
	path, env := demo(t, nil), filepath.Join(t.TempDir(), ".env")
	names := regexp.MustCompile(`"name":"[a-z]+_[a-z_]+"`)
	for want, c := range map[string]struct{ env, args []string }{
		"7 false": {nil, nil},
		"9 true":  {[]string{"COUNTERSIGN_TOOLSETS=support,human", "COUNTERSIGN_ENV_FILE=" + env}, nil},
		"9 false": {[]string{"COUNTERSIGN_TOOLSETS=human,support"}, nil},
		"2 true":  {[]string{"COUNTERSIGN_TOOLSETS=support"}, []string{"--toolsets", "human", "--env-file", env}},
	} {
		cmd := exec.Command(os.Args[0], append([]string{"--db", path}, c.args...)...)
		cmd.Env = append(c.env, "BE_THE_SERVER=1", "COUNTERSIGN_TOKEN=demo-staff-token")
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"request_human","arguments":{"title":"A key","instructions":"Make one.","category":"key","fields":[{"name":"K","type":"secret"}]}}}
`)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(len(names.FindAll(out, -1)), strings.Contains(string(out), `"structuredContent":{"status":"pending","request_id":"RQ-`))
		if got != want {
			t.Errorf("%v %v: %s, want %s\n%s", c.env, c.args, got, want, out)
		}
	}
}

// What is wrong at the start is one line on stderr, and nothing on stdout.
func TestRefusesToStart(t *testing.T) {
	path := demo(t, nil)
	pinned, expired := "pinned-token", "expired-token"
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Tx(context.Background(), func(tx *store.Tx) error {
		c, err := tx.CustomerByID("C-1001")
		if err != nil {
			return err
		}
		p := store.Principal{Name: "ava's", Kind: policy.Agent, Role: policy.Staff, Customer: c.Key}
		if _, err = tx.AddPrincipal(p, pinned); err != nil {
			return err
		}
		p.Name, p.Expires = "ava's old", tx.Now.Add(-time.Hour)
		_, err = tx.AddPrincipal(p, expired)
		return err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"unknown flag: --nope":                            {"--nope"},
		`--toolsets: "admin" is no toolset: the toolsets`: {"--db", path, "--toolsets", "admin"},
		"--env-file: /nowhere/.env: it can't be written":  {"--db", path, "--env-file", "/nowhere/.env"},
		`unexpected argument "serve"; see --help`:         {"serve"},
		"--log-level must be debug, info, warn or":        {"--db", path, "--log-level", "loud"},
		"--customer names a customer that isn't in":       {"--db", path, "--customer", "C-9"},
		"the token is pinned to another customer":         {"--db", path, "--customer", "C-1002", "--token", pinned},
		"policy file: open /nowhere.yaml: no such":        {"--db", path, "--policy", "/nowhere.yaml"},
		"/a b.db: there is no database here; create":      {"--db", "/a b.db"},
		"with: countersign init --db '/a b.db'":           {"--db", "/a b.db"},
		"/shop.db: there is no database here; create":     {"--db", "shop.db"},
		"no home folder is set":                           {},
	} {
		r := serve(t, nil, args...)
		if r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 ||
			!strings.HasPrefix(r.stderr, "countersign-mcp: ") || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %+v, want %s", args, r, want)
		}
	}
	for _, args := range [][]string{
		{"--customer", "C-1001", "--token", pinned},
		{"--token", pinned},
		{"--customer", "C-1002", "--token", expired}, // nobody's token is pinned to nobody
	} {
		if r := serve(t, nil, append(args, "--db", path)...); r.code != 0 {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// Help is for people: not on stdout, which belongs to the protocol.
func TestHelp(t *testing.T) {
	r := serve(t, nil, "--help")
	if r.code != 0 || r.stdout != "" || !strings.Contains(r.stderr, "--customer id") {
		t.Errorf("%+v", r)
	}
}

// A demo shop of more than two weeks says that it is old.
func TestWarnsOfAnOldDemo(t *testing.T) {
	const day = 24 * time.Hour
	for age, old := range map[time.Duration]bool{0: false, 14*day - time.Hour: false, 14*day + time.Hour: true, 90 * day: true} {
		path := demo(t, func() time.Time { return time.Now().Add(-age) })
		r := serve(t, nil, "--db", path, "--log-level", "warn")
		if r.code != 0 || strings.Contains(r.stderr, "countersign demo reset") != old || strings.Count(r.stderr, "\n") > 1 {
			t.Errorf("%v old: %+v", age, r)
		}
	}
}
