package main

import (
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
	approval string
}

var errLeft = errors.New("the demo was left")

// What the agent sends twice: as after a lost answer.
var wholeOrder = arguments{{"order_id", "NW-5001"}, {"reason", "don't fit, sent back unworn"}}

func (s *story) tell(ctx context.Context) (err error) {
	s.customer("Ava Lindqvist", "My trail runners from NW-5001 don't fit. Please refund the whole order. And where is my newest order?")
	s.say("An agent answers her. It may do what the tools of countersign-mcp let it do, with the role staff, for customer C-1001 alone. " +
		"The server is a process of its own, on a fresh shop; the agent speaks MCP to it.")
	server := exec.Command(s.server, "--demo", "--db", s.db, "--customer", "C-1001", "--log-level", "error")
	server.Env = append(operatorShell(s.app.environ), "COUNTERSIGN_TOKEN="+fixtures.StaffToken)
	server.Stderr = s.app.err
	if s.agent, err = client.Start(ctx, server, "countersign-demo"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.agent.Close()) }()
	for _, step := range []func(context.Context) error{
		s.lookUp, s.askForRefund, s.operatorDecides, s.agentHears, s.refusals, s.auditLog,
	} {
		if err := s.pause(ctx); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.say("That was all of it. Try it in your own client: countersign-mcp --demo")
	return nil
}

func (s *story) lookUp(ctx context.Context) error {
	s.heading("1  The agent looks around")
	if _, err := s.call(ctx, "track_shipment", arguments{{"order_id", "NW-5006"}}, "order_status", "parcels"); err != nil {
		return err
	}
	s.say("The note on that order was planted: it gives the agent orders. The server hands it over as data, marked as such.")
	if _, err := s.call(ctx, "get_order", arguments{{"order_id", "NW-5006"}}, "status", "customer_note"); err != nil {
		return err
	}
	s.say("Now the trail runners, with the number as people write it:")
	_, err := s.call(ctx, "get_order", arguments{{"order_id", "#nw-5001"}},
		"order_id", "status", "total", "refundable", "refundable_reason", "refund_window_ends")
	return err
}

func (s *story) askForRefund(ctx context.Context) error {
	s.heading("2  It asks for the refund: above the limit, so a human decides")
	answer, err := s.call(ctx, "issue_refund", wholeOrder,
		"status", "approval_id", "amount", "what_this_means", "tell_customer")
	if err != nil {
		return err
	}
	s.approval, _ = answer["approval_id"].(string)
	s.say("A small refund needs nobody:")
	_, err = s.call(ctx, "issue_refund", arguments{{"order_id", "NW-5002"}, {"reason", "a hole in the heel"}},
		"status", "refund_id", "amount", "what_this_means")
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
	if s.interactive {
		agreed := s.app.agree(ctx, "Approve it?")
		if ctx.Err() != nil {
			return errLeft
		}
		if !agreed {
			return s.command(ctx, "approvals", "reject", s.approval, "--yes", "--note", "offer an exchange first")
		}
		fmt.Fprintln(s.app.out)
	}
	return s.command(ctx, "approvals", "approve", s.approval, "--yes", "--note", "enjoy them")
}

func (s *story) agentHears(ctx context.Context) error {
	s.heading("4  The agent asks again, as after a lost answer, and hears the decision")
	_, err := s.call(ctx, "issue_refund", wholeOrder,
		"status", "error", "refund_id", "amount", "operator", "replayed", "tell_customer", "message")
	return err
}

func (s *story) refusals(ctx context.Context) error {
	s.heading("5  What it might be talked into doesn't work")
	s.say("Another customer's order, and an order past its window:")
	if _, err := s.call(ctx, "get_order", arguments{{"order_id", "NW-5101"}}, "error", "message"); err != nil {
		return err
	}
	_, err := s.call(ctx, "issue_refund", arguments{{"order_id", "NW-5004"}, {"reason", "a manager has verified this"}},
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

// arguments are a call's, in the order in which they are shown.
type arguments [][2]string

func (args arguments) String() string {
	texts := make([]string, len(args))
	for i, arg := range args {
		value := arg[1]
		if strings.ContainsAny(value, " #") {
			value = `"` + value + `"`
		}
		texts[i] = arg[0] + "=" + value
	}
	return strings.Join(texts, " ")
}

// call calls a tool and prints the call and the named fields of its answer.
func (s *story) call(ctx context.Context, tool string, args arguments, fields ...string) (map[string]any, error) {
	left := blue.Render(voice("agent", "→"))
	printBeside(s.app.out, left, fold(tool+"  "+args.String(), s.app.width-lipgloss.Width(left)))
	sent := map[string]string{}
	for _, arg := range args {
		sent[arg[0]] = arg[1]
	}
	res, err := s.agent.Call(ctx, tool, sent)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(res.JSON, &answer); err != nil {
		return nil, err
	}
	mark := green
	if res.IsError {
		mark = red
	}
	left = mark.Render(voice("server", "←"))
	for _, name := range fields {
		if value, ok := answer[name]; ok {
			s.field(left, name, value, answer)
			left = voice("", "")
		}
	}
	fmt.Fprintln(s.app.out)
	return answer, nil
}

// command runs one of this program's own commands, as an operator would.
func (s *story) command(ctx context.Context, args ...string) error {
	shown := make([]string, len(args))
	for i, arg := range args {
		if shown[i] = arg; strings.Contains(arg, " ") {
			shown[i] = "'" + arg + "'"
		}
	}
	left := magenta.Render(voice("operator", "$"))
	printBeside(s.app.out, left, fold(bold.Render("countersign "+strings.Join(shown, " ")), s.app.width-lipgloss.Width(left)))
	operator := *s.app
	operator.environ = append(operatorShell(s.app.environ), "COUNTERSIGN_DB="+s.db)
	operator.settings.DB, operator.settings.Token, operator.settings.Policy, operator.settings.Demo = "", "", "", false
	if code := operator.run(ctx, args); code != exitDone {
		return fmt.Errorf("countersign %s: exit code %d", args[0], code)
	}
	fmt.Fprintln(s.app.out)
	return nil
}

// pause waits for the return key in an interactive telling.
func (s *story) pause(ctx context.Context) error {
	if !s.interactive {
		return nil
	}
	if _, ok := s.app.ask(ctx, faint.Render("[return] ")); !ok {
		return errLeft
	}
	fmt.Fprintln(s.app.out)
	return nil
}
