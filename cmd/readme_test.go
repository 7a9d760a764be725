package cmd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/tools"
	"countersign/tools/client"
)

// standInClaude stands in for the `claude` command, which a machine that builds
// this project need not have.
func standInClaude(args []string) error {
	if len(args) == 1 && args[0] == "ask" {
		return askPerson()
	}
	split := slices.Index(args, "--")
	if len(args) < 3 || args[0] != "mcp" || args[1] != "add" || split < 0 {
		return fmt.Errorf("not a `claude mcp add`: %q", args)
	}
	return addServer(args, split)
}

// askPerson asks a person as a user of Claude would have it done, by the server
// that is configured for that, and prints what comes back.
func askPerson() error {
	home := os.Getenv("HOME")
	text, err := os.ReadFile(filepath.Join(home, ".claude.json"))
	if err != nil {
		return err
	}
	server, err := configured(text, "human")
	if err != nil {
		return err
	}
	server.Env = append(server.Env, "HOME="+home)
	session, err := client.Start(context.Background(), server, "claude")
	if err != nil {
		return err
	}
	defer session.Close()
	answer, err := session.Call(context.Background(), "request_human", map[string]any{"title": "Key of the mail service", "instructions": "Enter it.",
		"category": "key", "timeout_seconds": 0, "fields": []any{map[string]any{"name": "MAIL_KEY", "type": "secret", "required": true}}})
	fmt.Printf("%s\n", answer.JSON)
	return err
}

// addServer starts the server that the arguments of a
// `claude mcp add NAME -s SCOPE -e K=V -- COMMAND` name, exactly as named, and
// asks it for its tools.
func addServer(args []string, split int) error {
	server := exec.Command(args[split+1], args[split+2:]...)
	server.Dir = "/"
	server.Env = []string{"HOME=" + os.Getenv("HOME")}
	for i, arg := range args[:split] {
		if arg == "-e" {
			server.Env = append(server.Env, args[i+1])
		}
	}
	session, err := client.Start(context.Background(), server, "claude")
	if err != nil {
		return err
	}
	defer session.Close()
	names, err := session.Tools(context.Background())
	if err != nil || len(names) != len(tools.All) {
		return fmt.Errorf("%d tools: %v", len(names), err)
	}
	for _, order := range []string{"NW-5001", "NW-5003"} { // both wait for a human
		answer, err := session.Call(context.Background(), "issue_refund", map[string]any{"order_id": order, "reason": "doesn't fit"})
		if err != nil || answer.IsError {
			return fmt.Errorf("asking for a refund: %s %v", answer.JSON, err)
		}
	}
	return nil
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	transcript = regexp.MustCompile("(?s)```console\n(.*?)```")
	comment    = regexp.MustCompile(`(?m)  +#.*$`)
	approvalID = regexp.MustCompile(`AP-[0-9A-Z]{10}`)
)

// readmeScript turns the README's commands into one script: without what would
// run this test again, with the ids of requests that really wait, and with the
// "yes" that a terminal would be asked for.
var readmeScript = strings.NewReplacer(
	"make test\n", "",
	"approvals show AP-7VQG9SWMW9", "approvals list --json >requests\n"+
		"set -- $(sed -n 's/.*\"approval_id\": \"\\(.*\\)\".*/\\1/p' requests)\n"+
		"countersign --demo approvals show $1",
	"approvals approve AP-7VQG9SWMW9", "approvals approve $1 --yes --amount 80.00",
	"approvals reject AP-7VQG9SWMW9", "approvals reject $2 --yes",
	"countersign --demo requests list\n", "claude ask\ncountersign --demo requests list\n",
	"requests show RQ-7VQG9SWMW9", "requests list --json >asked\n"+
		"set -- $1 $2 $(sed -n 's/.*\"request_id\": \"\\(.*\\)\".*/\\1/p' asked)\n"+
		"countersign --demo requests show $3",
	"requests answer RQ-7VQG9SWMW9", "requests answer $3 --yes --set MAIL_KEY=made-up-Zq7\n"+
		"claude ask\ngrep '^MAIL_KEY=made-up-Zq7$' ~/app.env",
	"erase C-1003", "erase C-1003 --yes",
	"refunds issue", "refunds issue --yes",
)

// TestReadmeCommands runs every command of the README, in its order, in one
// shell with an empty home.
func TestReadmeCommands(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var commands strings.Builder
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		commands.WriteString(comment.ReplaceAllString(block[1], ""))
	}
	script := readmeScript.Replace(commands.String())
	if strings.Contains(script, "-7VQG9SWMW9") {
		t.Fatal("the README decides a request in a way that this test doesn't know")
	}
	shell := newReadmeShell(t, root)
	out, err := shell.run(script)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	connected, err := os.ReadFile(filepath.Join(shell.folder, ".claude.json"))
	if err != nil {
		t.Fatal(err)
	}
	startConfigured(t, connected, "")
	// What the README opens with is what the demo prints.
	printed := approvalID.ReplaceAllString(out, "AP-")
	for line := range strings.Lines(transcript.FindStringSubmatch(string(text))[1]) {
		if !strings.Contains(printed, approvalID.ReplaceAllString(line, "AP-")) {
			t.Errorf("the demo doesn't print %q", line)
		}
	}
	for _, want := range []string{"approved by demo-manager: 80.00 USD", "rejected by demo-manager", "20.00 USD refunded on NW-5004", "intact", "customers", "window_days: 14", "written to app.env; use ${MAIL_KEY}"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// readmeShell is a place to run the README's commands in.
type readmeShell struct {
	folder string
	env    []string
}

func newReadmeShell(t *testing.T, root string) *readmeShell {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	commands := filepath.Join(folder, "commands")
	if err := os.Mkdir(commands, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"claude": fmt.Sprintf("#!/bin/sh\nREADME_TEST_CLAUDE=1 exec %q \"$@\"\n", self),
		"make":   fmt.Sprintf("#!/bin/sh\nHOME=%q PATH=%q exec make -C %q \"$@\"\n", os.Getenv("HOME"), os.Getenv("PATH"), root),
	} {
		if err := os.WriteFile(filepath.Join(commands, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "bin"), filepath.Join(folder, "bin")); err != nil {
		t.Fatal(err)
	}
	return &readmeShell{folder: folder, env: []string{
		"HOME=" + folder, "PATH=" + commands + ":" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"),
	}}
}

func (s *readmeShell) run(commands string) (string, error) {
	shell := exec.Command("sh", "-euxc", commands)
	shell.Dir, shell.Env = s.folder, s.env
	out, err := shell.CombinedOutput()
	return string(out), err
}

// clientConfig is the JSON that the README shows for Claude Desktop.
var clientConfig = regexp.MustCompile("(?s)```json\n(.*?)```")

func TestReadmeClientConfigStartsTheServer(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := clientConfig.FindSubmatch(text)
	if block == nil {
		t.Fatal("the README shows no configuration")
	}
	folder, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	startConfigured(t, block[1], filepath.Join(folder, "countersign-mcp"))
}

// startConfigured starts the server as a client's configuration says, but for
// the command where another is given, and asks it for its tools.
func startConfigured(t *testing.T, text []byte, command string) {
	t.Helper()
	server, err := configured(text, "countersign")
	if err != nil {
		t.Fatal(err)
	}
	if command != "" {
		server.Path = command
	}
	server.Env = append(server.Env, "HOME="+t.TempDir())
	session, err := client.Start(t.Context(), server, "claude-desktop")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if names, err := session.Tools(t.Context()); err != nil || len(names) != len(tools.All) {
		t.Errorf("tools: %v, %v", names, err)
	}
}

// configured is the command of a server in a client's configuration.
func configured(text []byte, name string) (*exec.Cmd, error) {
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	entry, ok := config.MCPServers[name]
	if !ok {
		return nil, fmt.Errorf("no server is named %s", name)
	}
	server := exec.Command(entry.Command, entry.Args...)
	server.Dir, server.Env = "/", []string{}
	for variable, value := range entry.Env {
		server.Env = append(server.Env, variable+"="+value)
	}
	return server, nil
}

var link = regexp.MustCompile(`\]\(([^)#:]+)\)`)

func TestReadmeLinksLeadSomewhere(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := link.FindAllSubmatch(text, -1)
	if len(links) < 10 {
		t.Fatalf("only %d links found", len(links))
	}
	for _, l := range links {
		if _, err := os.Stat(filepath.Join("..", string(l[1]))); err != nil {
			t.Error(err)
		}
	}
}
