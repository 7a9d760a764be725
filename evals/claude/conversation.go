package claude

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"countersign/evals"
)

// What Claude Code can fail with.
var (
	ErrNotConnected = errors.New("claude didn't connect to the server")
	ErrLogin        = errors.New("claude's login or key isn't accepted: start claude and log in, or check ANTHROPIC_API_KEY")
	ErrFailed       = errors.New("claude failed")
)

// loginTries is how often Claude Code may be turned away: a login may be renewed
// once, and it would go on for minutes.
const loginTries = 3

// conversation is one session of Claude Code; each message is a process.
type conversation struct {
	agent   *Agent
	setting string
	folder  string
	session string // "" before the first reply
	usage   evals.Usage
}

// event is what is read of a line of stream-json.
type event struct {
	Type       string                          `json:"type"`
	Subtype    string                          `json:"subtype"`
	Session    string                          `json:"session_id"`
	MCPServers []struct{ Name, Status string } `json:"mcp_servers"`
	// Of a line about a request that is repeated:
	Attempt int    `json:"attempt"`
	Error   string `json:"error"`
	// Of the last line:
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Turns   int64    `json:"num_turns"`
	Cost    *float64 `json:"total_cost_usd"`
	Usage   struct {
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
	} `json:"usage"`
}

// Reply puts a message and waits for the end of Claude's turn.
func (c *conversation) Reply(ctx context.Context, message string) (string, error) {
	process, stop := context.WithCancel(ctx)
	defer stop()
	cmd := c.command(process)
	cmd.Stdin = strings.NewReader(message)
	cmd.WaitDelay = 5 * time.Second // for the server that it started
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	last, readErr := c.read(stdout)
	if readErr != nil {
		stop() // nobody wants what it would still say, and pay for it
	}
	waitErr := cmd.Wait()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if readErr != nil {
		return "", readErr
	}
	return c.conclude(last, waitErr, stderr.String())
}

// read goes through the lines and returns the last one that says what came of it.
func (c *conversation) read(stdout io.Reader) (last *event, err error) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				return last, fmt.Errorf("%w: it wrote a line that isn't JSON", ErrFailed)
			}
			switch {
			case e.Type == "system" && e.Subtype == "init":
				if err := connected(e); err != nil {
					return last, err
				}
			case e.Subtype == "api_retry" && e.Error == "authentication_failed" && e.Attempt >= loginTries:
				return last, ErrLogin
			case e.Type == "result":
				last = &e
			}
		}
		if err != nil {
			return last, nil // the end, or the process's own end says why
		}
	}
}

// connected checks the server's state. Some versions begin before it is known.
func connected(e event) error {
	for _, s := range e.MCPServers {
		if s.Name == serverName && (s.Status == "connected" || s.Status == "pending") {
			return nil
		}
	}
	return ErrNotConnected
}

// conclude is the reply, or what kept it from coming.
func (c *conversation) conclude(last *event, ended error, stderr string) (string, error) {
	if last == nil {
		return "", failed(fmt.Sprint(ended), stderr)
	}
	c.session = last.Session
	c.usage = c.usage.Add(evals.Usage{Requests: last.Turns, Input: last.Usage.Input, Output: last.Usage.Output,
		CacheWrite: last.Usage.CacheWrite, CacheRead: last.Usage.CacheRead, CostUSD: last.Cost})
	var exit *exec.ExitError
	switch {
	case last.IsError || last.Subtype != "success":
		return "", failed(last.Subtype, last.Result)
	case ended != nil && !errors.As(ended, &exit):
		return "", ended
	case ended != nil:
		return "", failed(ended.Error(), stderr)
	case strings.TrimSpace(last.Result) == "":
		return "", fmt.Errorf("%w: it ended without a word", ErrFailed)
	}
	return strings.TrimSpace(last.Result), nil
}

// failed is the error, with the first line of what Claude Code said about it: that
// is about keys, limits and logins.
func failed(how, said string) error {
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	const most = 200
	if runes := []rune(first); len(runes) > most {
		first = string(runes[:most]) + "…"
	}
	if first == "" {
		return fmt.Errorf("%w: %s", ErrFailed, how)
	}
	return fmt.Errorf("%w: %s: %s", ErrFailed, how, first)
}

// Usage is what Claude Code counted, and its own estimate of the cost.
func (c *conversation) Usage() evals.Usage { return c.usage }
