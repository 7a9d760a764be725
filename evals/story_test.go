package evals_test

import (
	"bufio"
	"bytes"
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
	"time"

	"countersign/fixtures"
	"countersign/tools/client"
)

// storyStep is a step of the story that clients of others are told as well: a
// call of the agent's, or a command of the operator's.
type storyStep struct {
	Call      string
	Arguments json.RawMessage
	Meanwhile []string // the operator's command on the next request, while the call waits
	Refused   bool
	Shows     []string
	Operator  []string
}

// teller tells the story on a demo shop of its own.
type teller struct {
	t                *testing.T
	server, operator string
	db               string
}

// caller calls a tool and returns the text of the answer.
type caller func(name string, arguments json.RawMessage, waits bool) (text string, isError bool)

// TestStoryInEveryProtocol has a human decide in a process of their own while a
// client's session goes on, which sees it: in the SDK's client, and in one that
// writes its lines by hand, at every version of the protocol.
func TestStoryInEveryProtocol(t *testing.T) {
	t.Run("SDK", func(t *testing.T) { newTeller(t).bySDK() })
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) { newTeller(t).byLines(version) })
	}
}

func newTeller(t *testing.T) teller {
	p, err := programs()
	check(t, err)
	return teller{t, p.server, p.operator, filepath.Join(t.TempDir(), "demo.db")}
}

// command is the server's, with a limit of a minute on its life.
func (s teller) command() *exec.Cmd {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, s.server, "--demo", "--db", s.db, "--customer", "C-1001", "--toolsets", "support,human", "--log-level", "error")
	cmd.Env = []string{"COUNTERSIGN_TOKEN=" + fixtures.StaffToken}
	cmd.Stderr = s.t.Output()
	return cmd
}

func (s teller) bySDK() {
	c, err := client.Start(s.t.Context(), s.command(), "story")
	check(s.t, err)
	names, err := c.Tools(s.t.Context())
	check(s.t, err)
	checkStoryTools(s.t, names)
	s.tell(func(name string, arguments json.RawMessage, _ bool) (string, bool) {
		s.t.Helper()
		answer, err := c.Call(s.t.Context(), name, arguments)
		check(s.t, err)
		return string(answer.JSON), answer.IsError
	})
	check(s.t, c.Close())
}

// byLines speaks a version of the protocol without any library.
func (s teller) byLines(version string) {
	server := s.command()
	stdin, err := server.StdinPipe()
	check(s.t, err)
	stdout, err := server.StdoutPipe()
	check(s.t, err)
	check(s.t, server.Start())
	l := &lineClient{t: s.t, in: stdin, out: bufio.NewReader(stdout)}
	l.begin(version)
	var list struct{ Tools []struct{ Name string } }
	check(s.t, json.Unmarshal(l.ask("tools/list", "", ""), &list))
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	checkStoryTools(s.t, names)
	s.tell(func(name string, arguments json.RawMessage, waits bool) (string, bool) {
		s.t.Helper()
		token := ""
		if waits {
			token = `"progressToken":"p"`
		}
		result := l.ask("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments), token)
		var answer toolResult
		check(s.t, json.Unmarshal(result, &answer))
		if len(answer.Content) != 1 {
			s.t.Fatalf("%s: content is not one text block: %s", name, result)
		}
		return answer.Content[0].Text, answer.IsError
	})
	if l.progress == 0 {
		s.t.Error("no progress was told of the call that waited")
	}
	check(s.t, stdin.Close())
	check(s.t, server.Wait())
}

func checkStoryTools(t *testing.T, names []string) {
	t.Helper()
	if len(names) != 9 || !slices.Contains(names, "request_human") || !slices.Contains(names, "issue_refund") {
		t.Errorf("the tools are %q", names)
	}
}

var filedID = regexp.MustCompile(`(AP|RQ)-[0-9A-Z]+`)

// tell tells all of the story by call.
func (s teller) tell(call caller) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("clients", "story.json"))
	check(s.t, err)
	var steps []storyStep
	check(s.t, json.Unmarshal(text, &steps))
	id := ""
	for _, step := range steps {
		if step.Operator != nil {
			_, err := s.operate(s.t.Context(), fillIn(step.Operator, id)...)
			check(s.t, err)
			continue
		}
		decided := make(chan error, 1)
		if step.Meanwhile != nil {
			go func() { decided <- s.answerNext(s.t.Context(), step.Meanwhile) }()
		} else {
			decided <- nil
		}
		answer, isError := call(step.Call, bytes.ReplaceAll(step.Arguments, []byte("{id}"), []byte(id)), step.Meanwhile != nil)
		check(s.t, <-decided)
		for _, part := range step.Shows {
			if !strings.Contains(answer, part) {
				s.t.Fatalf("%s doesn't show %s: %s", step.Call, part, answer)
			}
		}
		if isError != step.Refused {
			s.t.Fatalf("%s: isError is %v: %s", step.Call, isError, answer)
		}
		if found := filedID.FindString(answer); found != "" {
			id = found
		}
	}
}

// operate runs a command of the operators' program on the story's shop.
func (s teller) operate(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.operator, args...)
	cmd.Env = []string{"HOME=" + filepath.Dir(s.db), "COUNTERSIGN_DB=" + s.db, "COUNTERSIGN_TOKEN=" + fixtures.ManagerToken}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("countersign %q: %w: %s", args, err, stderr.Bytes())
	}
	return out, err
}

// answerNext runs a command on the next request that waits for an answer.
func (s teller) answerNext(ctx context.Context, command []string) error {
	for {
		text, err := s.operate(ctx, "requests", "list", "--json")
		if err != nil {
			return err
		}
		var waiting []struct {
			ID string `json:"request_id"`
		}
		if err := json.Unmarshal(text, &waiting); err != nil {
			return err
		}
		if len(waiting) > 0 {
			_, err := s.operate(ctx, fillIn(command, waiting[0].ID)...)
			return err
		}
	}
}

func fillIn(command []string, id string) []string {
	args := append(slices.Clone(command), "--yes")
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{id}", id)
	}
	return args
}
