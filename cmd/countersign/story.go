package main

import (
	"context"
	"errors"
	"fmt"
)

// story is the demo: one customer's conversation, as an agent and an operator
// live it, on the real server and the real commands.
type story struct {
	teller
	approval string
}

// What the agent sends twice: as after a lost answer.
var wholeOrder = arguments{{"order_id", "NW-5001"}, {"reason", "don't fit, sent back unworn"}}

func (s *story) tell(ctx context.Context) (err error) {
	s.letter("Ava Lindqvist, a customer, writes:", "My trail runners from NW-5001 don't fit. Please refund the whole order. And where is my newest order?")
	s.say("An agent answers her. It may do what the tools of countersign-mcp let it do, with the role staff, for customer C-1001 alone. " +
		"The server is a process of its own, on a fresh shop; the agent speaks MCP to it.")
	close, err := s.start(ctx, "--customer", "C-1001")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	err = s.steps(ctx, s.lookUp, s.askForRefund, s.operatorDecides, s.agentHears, s.refusals, s.auditLog)
	if err != nil {
		return err
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
