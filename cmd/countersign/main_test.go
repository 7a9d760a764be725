package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"countersign/audit"
	"countersign/store"
	"countersign/tools"
)

// The scripts run the real programs: this one is the test's own binary, the
// server is built beside it.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"countersign": main,
		"call":        callMain,
	})
}

// tests are all of this package's; then the programs that they built go.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	if folder, err := programs(); err == nil {
		_ = os.RemoveAll(folder)
	}
	return code
}

func TestScripts(t *testing.T) {
	built, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(t.TempDir(), "server") // alone, so that "countersign" stays the test's own
	if err := os.Mkdir(server, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(built, "countersign-mcp"), filepath.Join(server, "countersign-mcp")); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("NOSERVER", env.Getenv("PATH"))
			env.Setenv("PATH", server+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("FORM", `{"title":"Carrier login","instructions":"Open the app and read the code.","category":"login","timeout_seconds":0,"fields":[`+
				`{"name":"CODE","label":"Code in the app","type":"string","required":true,"pattern":"[0-9]{6}"},`+
				`{"name":"SPEED","type":"choice","options":["slow","fast"]}]}`)
			env.Setenv("COUNTERSIGN_DB", filepath.Join(env.WorkDir, "shop.db"))
			return os.Mkdir(env.Getenv("HOME"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "fails": fails, "let": let, "mode": mode, "widest": widest, "json": isJSON, "jsonl": isJSONLines,
			"holds": holds, "bad": bad, "golden": golden,
		},
		RequireExplicitExec: true,
	})
}

// callMain is the command "call TOKEN CUSTOMER TOOL ARGUMENTS": an agent's call
// on $COUNTERSIGN_DB. It prints the answer.
func callMain() {
	err := func() error {
		db, err := store.Open(os.Getenv("COUNTERSIGN_DB"), store.Options{})
		if err != nil {
			return err
		}
		rules, err := tools.NewRulebook(context.Background(), db, nil)
		if err != nil {
			return errors.Join(err, db.Close())
		}
		caller := tools.Caller{Token: os.Args[1], Customer: os.Args[2], Door: audit.MCP, Session: "test"}
		res := tools.NewDesk(db, rules, slices.Concat(tools.All, tools.Human)).Call(context.Background(), caller, os.Args[3], json.RawMessage(os.Args[4]))
		fmt.Printf("%s\n", res.JSON)
		return db.Close()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// exits runs a command that must end with an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s\n%s%s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// errorLine is what a failure looks like: one line, lower case unless it starts
// with a name.
var errorLine = regexp.MustCompile(`^countersign(-mcp)?: ([a-z/"\-]|AP-|TK-|RQ-|CODE |/)[^\n]*\n$`)

// fails is exits for a failure that prints one line on stderr and nothing on
// stdout.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	exits(ts, neg, args)
	if text := ts.ReadFile("stderr"); !errorLine.MatchString(text) {
		ts.Fatalf("stderr isn't one line of ours: %q", text)
	}
	if text := ts.ReadFile("stdout"); text != "" {
		ts.Fatalf("stdout isn't empty: %q", text)
	}
}

// let sets a variable to what the first group of a pattern finds in stdout.
func let(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: let NAME PATTERN")
	}
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("no match for %q in stdout", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// mode checks a file's permissions.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// widest checks that no line of stdout has more characters.
func widest(ts *testscript.TestScript, neg bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.SplitSeq(ts.ReadFile("stdout"), "\n") {
		if n := len([]rune(line)); n > most {
			ts.Fatalf("%d characters: %s", n, line)
		}
	}
}

// isJSON checks that a file, or what a pattern's first group finds in it, is one
// JSON document.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	if len(args) == 2 {
		found := regexp.MustCompile(args[1]).FindStringSubmatch(text)
		if found == nil {
			ts.Fatalf("no match for %q in %s", args[1], args[0])
		}
		text = found[1]
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
}

// isJSONLines checks that stdout is a number of JSON objects, one a line.
func isJSONLines(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
	if strconv.Itoa(len(lines)) != args[0] {
		ts.Fatalf("%d lines, want %s", len(lines), args[0])
	}
	for _, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("%v: %s", err, line)
		}
	}
}

// holds waits until a file holds a pattern: what a background command prints.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	pattern := regexp.MustCompile(args[1])
	waitFor(ts, func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return (err == nil || errors.Is(err, fs.ErrNotExist)) && pattern.Match(text)
	}, args[0]+" never held "+args[1])
}

// varying is what differs from run to run or policy to policy: ids, moments, how
// long ago they were, and versions.
var varying = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b(AP|RF|TK)-[0-9A-Z]{10}\b`), "$1-0000000000"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?`), "DATE"},
	{regexp.MustCompile(`\b\d+s ago`), "0s ago"},
	{regexp.MustCompile(`\bp-[0-9a-f]{12}\b`), "p-000000000000"},
}

// golden compares stdout with a file, whatever varies aside.
func golden(ts *testscript.TestScript, neg bool, args []string) {
	got := ts.ReadFile("stdout")
	for _, v := range varying {
		got = v.pattern.ReplaceAllString(got, v.instead)
	}
	if diff := cmp.Diff(ts.ReadFile(args[0]), got); diff != "" {
		ts.Fatalf("stdout: -want +got:\n%s", diff)
	}
}

// bad runs SQL on a database behind the program's back.
func bad(ts *testscript.TestScript, neg bool, args []string) {
	if err := runSQL(ts.MkAbs(args[0]), args[1]); err != nil {
		ts.Fatalf("%v", err)
	}
}
