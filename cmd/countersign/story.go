package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"charm.land/lipgloss/v2"

	"countersign/fixtures"
	"countersign/tools/client"
)

// story is the demo: one customer's conversation, as an agent and an operator
// live it, on the real server and the real commands.
type story struct {
	app         *app
	server      string
	db          string
	interactive bool

	agent    *client.Client
	keys     *bufio.Reader
	approval string
}

func (s *story) tell(ctx context.Context) (err error) {
	s.keys = bufio.NewReader(s.app.in)
	s.say("A customer writes: \"My trail runners from NW-5001 don't fit. Please refund the whole order. And where is my newest order?\"")
	s.say("An agent answers. It speaks MCP to countersign-mcp, for customer C-1001, with the role staff.")
	server := exec.CommandContext(ctx, s.server, "--demo", "--db", s.db, "--customer", "C-1001", "--log-level", "error")
	server.Env = append(operatorShell(s.app.environ), "COUNTERSIGN_TOKEN="+fixtures.StaffToken)
	server.Stderr = s.app.err
	if s.agent, err = client.Start(ctx, server, "countersign-demo"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.agent.Close()) }()
	for _, step := range []func(context.Context) error{
		s.lookUp, s.askForRefund, s.operatorDecides, s.agentHears, s.refusals, s.auditLog,
	} {
		if err := s.pause(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) lookUp(ctx context.Context) error {
	s.heading("1  The agent looks around")
	if _, err := s.call(ctx, "track_shipment", map[string]any{"order_id": "NW-5006"}, "order_status", "parcels"); err != nil {
		return err
	}
	_, err := s.call(ctx, "get_order", map[string]any{"order_id": "nw-5001 "},
		"order_id", "status", "total", "refundable", "refundable_reason", "refund_window_ends")
	return err
}

func (s *story) askForRefund(ctx context.Context) error {
	s.heading("2  It asks for the refund: above the limit, so a human decides")
	answer, err := s.call(ctx, "issue_refund", map[string]any{"order_id": "NW-5001", "reason": "don't fit, sent back unworn"},
		"status", "approval_id", "amount", "currency", "what_this_means", "tell_customer")
	if err != nil {
		return err
	}
	s.approval, _ = answer["approval_id"].(string)
	s.say("A small refund needs nobody:")
	_, err = s.call(ctx, "issue_refund", map[string]any{"order_id": "NW-5002", "reason": "strap was torn"},
		"status", "refund_id", "amount", "currency", "what_this_means")
	return err
}

func (s *story) operatorDecides(ctx context.Context) error {
	s.heading("3  An operator decides, in a terminal")
	if err := s.command(ctx, "approvals", "list"); err != nil {
		return err
	}
	if err := s.command(ctx, "approvals", "show", s.approval); err != nil {
		return err
	}
	if !s.interactive {
		return s.command(ctx, "approvals", "approve", s.approval, "--yes", "--note", "enjoy the next pair")
	}
	s.say("Approve it? [y/N]")
	if answer, err := s.keys.ReadString('\n'); err == nil && strings.EqualFold(strings.TrimSpace(answer), "y") {
		return s.command(ctx, "approvals", "approve", s.approval, "--yes")
	}
	return s.command(ctx, "approvals", "reject", s.approval, "--yes", "--note", "please offer an exchange first")
}

func (s *story) agentHears(ctx context.Context) error {
	s.heading("4  The agent asks again, as after a lost answer, and hears the decision")
	_, err := s.call(ctx, "issue_refund", map[string]any{"order_id": "NW-5001", "reason": "don't fit, sent back unworn"},
		"status", "error", "refund_id", "amount", "currency", "operator", "replayed", "tell_customer", "message")
	return err
}

func (s *story) refusals(ctx context.Context) error {
	s.heading("5  What it was talked into doesn't work")
	s.say("Another customer's order, and an order past its window:")
	if _, err := s.call(ctx, "get_order", map[string]any{"order_id": "NW-5101"}, "error", "message"); err != nil {
		return err
	}
	_, err := s.call(ctx, "issue_refund", map[string]any{"order_id": "NW-5004", "reason": "the manager said it's fine, skip approval"},
		"error", "message", "refundable")
	return err
}

func (s *story) auditLog(ctx context.Context) error {
	s.heading("6  All of it is in the audit log, and nobody can change it unseen")
	if err := s.command(ctx, "audit", "tail"); err != nil {
		return err
	}
	return s.command(ctx, "audit", "verify")
}

// call calls a tool and prints the call and the named fields of its answer.
func (s *story) call(ctx context.Context, tool string, args map[string]any, fields ...string) (map[string]any, error) {
	shown, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.app.out, "%s %s\n", bold.Render("→ "+tool), shown)
	res, err := s.agent.Call(ctx, tool, args)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(res.JSON, &answer); err != nil {
		return nil, err
	}
	mark := green.Render("←")
	if res.IsError {
		mark = red.Render("←")
	}
	for _, name := range fields {
		if value, ok := answer[name]; ok {
			s.field(mark, name, value)
			mark = " "
		}
	}
	fmt.Fprintln(s.app.out)
	return answer, nil
}

// field prints one field of an answer, wrapped in its column.
func (s *story) field(mark, name string, value any) {
	const indent, names = 2, 19
	text, ok := value.(string)
	if !ok {
		text = compact(value)
	}
	wrapped := lipgloss.NewStyle().Width(s.columns() - indent - names).Render(text)
	line := lipgloss.JoinHorizontal(lipgloss.Top, mark+" ", faint.Width(names).Render(name), wrapped)
	fmt.Fprintln(s.app.out, trimLines(line))
}

func compact(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(b.String())
}

// command runs one of this program's own commands, as an operator would.
func (s *story) command(ctx context.Context, args ...string) error {
	shown := make([]string, len(args))
	for i, arg := range args {
		if shown[i] = arg; strings.Contains(arg, " ") {
			shown[i] = "'" + arg + "'"
		}
	}
	fmt.Fprintln(s.app.out, bold.Render("$ countersign "+strings.Join(shown, " ")))
	operator := *s.app
	operator.environ = append(operatorShell(s.app.environ), "COUNTERSIGN_DB="+s.db)
	operator.settings.DB, operator.settings.Token, operator.settings.Policy, operator.settings.Demo = "", "", "", false
	if code := operator.run(ctx, args); code != exitDone {
		return fmt.Errorf("countersign %s: exit code %d", args[0], code)
	}
	fmt.Fprintln(s.app.out)
	return nil
}

func (s *story) columns() int { return min(s.app.width, 100) }

func (s *story) heading(text string) {
	fmt.Fprintf(s.app.out, "%s\n\n", bold.Underline(true).Render(text))
}

func (s *story) say(text string) {
	fmt.Fprintf(s.app.out, "%s\n\n", trimLines(lipgloss.NewStyle().Width(s.columns()).Italic(true).Render(text)))
}

// pause waits for the return key in an interactive telling.
func (s *story) pause() error {
	if !s.interactive {
		return nil
	}
	fmt.Fprint(s.app.out, faint.Render("[return] "))
	_, err := s.keys.ReadString('\n')
	return err
}
