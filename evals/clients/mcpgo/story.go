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
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// step is a call of the agent's, or a command of the operator's.
type step struct {
	Call      string
	Arguments json.RawMessage
	Meanwhile []string // the operator's command on the next request, while the call waits
	Refused   bool
	Shows     []string
	Operator  []string
}

// answer is a tool's.
type answer struct {
	text    string
	isError bool
}

// story is one telling on a fresh demo shop.
type story struct {
	steps            []step
	programs, folder string
	texts            []string // of the answers, as the client handed them on
}

func (s *story) file(name string) string { return filepath.Join(s.folder, name) }

// server is how to start the server, with a copy kept of all that it says.
func (s *story) server() (command string, args []string) {
	return "sh", []string{"-c", `"$@" | tee -a "$0"`, s.file("wire"), filepath.Join(s.programs, "countersign-mcp"),
		"--demo", "--db", s.file("demo.db"), "--customer", "C-1001", "--toolsets", "support,human"}
}

func (s *story) operator(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, "countersign"), args...)
	cmd.Env = append(os.Environ(), "COUNTERSIGN_DB="+s.file("demo.db"), "COUNTERSIGN_TOKEN=demo-manager-token")
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

// decide runs a command on what has the id.
func (s *story) decide(ctx context.Context, command []string, id string) error {
	args := append(slices.Clone(command), "--yes")
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{id}", id)
	}
	_, err := s.operator(ctx, args...)
	return err
}

// answerNext runs a command on the next request that waits for an answer.
func (s *story) answerNext(ctx context.Context, command []string) error {
	for ctx.Err() == nil {
		text, err := s.operator(ctx, "requests", "list", "--json")
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
			return s.decide(ctx, command, waiting[0].ID)
		}
	}
	return ctx.Err()
}

var filed = regexp.MustCompile(`(AP|RQ)-[0-9A-Z]+`)

// tell tells all of it by call.
func (s *story) tell(ctx context.Context, call func(name string, given any, waits bool) (answer, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	id := ""
	for _, step := range s.steps {
		if step.Operator != nil {
			if err := s.decide(ctx, step.Operator, id); err != nil {
				return err
			}
			continue
		}
		decided := make(chan error, 1)
		if step.Meanwhile != nil {
			go func() { decided <- s.answerNext(ctx, step.Meanwhile) }()
		} else {
			decided <- nil
		}
		given := json.RawMessage(bytes.ReplaceAll(step.Arguments, []byte("{id}"), []byte(id)))
		a, err := call(step.Call, given, step.Meanwhile != nil)
		if err = errors.Join(err, <-decided); err != nil {
			return fmt.Errorf("%s: %w", step.Call, err)
		}
		for _, part := range step.Shows {
			if !strings.Contains(a.text, part) {
				return fmt.Errorf("%s doesn't show %s: %s", step.Call, part, a.text)
			}
		}
		if a.isError != step.Refused {
			return fmt.Errorf("%s: isError is %v", step.Call, a.isError)
		}
		s.texts = append(s.texts, a.text)
		if found := filed.FindString(a.text); found != "" {
			id = found
		}
	}
	return nil
}

// compare compares what the client handed on with what the server said.
func (s *story) compare(tools []mcp.Tool, instructions string) error {
	wire, err := os.ReadFile(s.file("wire"))
	if err != nil {
		return err
	}
	var texts []string
	var said struct{ Instructions string }
	var listed []mcp.Tool
	for line := range bytes.Lines(wire) {
		var m struct {
			Result struct {
				Instructions string
				Tools        []mcp.Tool
				Content      []struct{ Text string }
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("the server said %q: %w", line, err)
		}
		if m.Result.Instructions != "" {
			said.Instructions = m.Result.Instructions
		}
		if m.Result.Tools != nil {
			listed = m.Result.Tools
		}
		for _, block := range m.Result.Content {
			texts = append(texts, block.Text)
		}
	}
	switch {
	case len(tools) != 9 || !reflect.DeepEqual(tools, listed):
		return fmt.Errorf("tools: %v, the server said %v", tools, listed)
	case instructions != said.Instructions:
		return fmt.Errorf("instructions: %q, the server said %q", instructions, said.Instructions)
	case !slices.Equal(s.texts, texts):
		return fmt.Errorf("answers: %q, the server said %q", s.texts, texts)
	}
	return nil
}
