package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	"countersign/evals"
)

// maxTokens is the most that the model may write in one message, thinking
// included. Support replies are short; whoever hits this runs in circles.
const maxTokens = 16_000

// What ends a conversation though the API answered.
var (
	ErrRefused = errors.New("the model refused to go on")
	ErrTooLong = errors.New("the model's message was cut off")
	ErrSteps   = errors.New("the model made no end")
	ErrSilent  = errors.New("the model ended its turn without a word")
)

// Conversation is the model at work for one customer.
type Conversation struct {
	agent   *Agent
	tools   evals.Toolbox
	setting string
	offered []anthropic.ToolUnionParam
	system  []anthropic.TextBlockParam
	state   state
	file    string // where the state is kept; "": nowhere
}

// Reply reads the customer's message and lets the model call tools until it
// answers. After an error the conversation can't go on.
func (c *Conversation) Reply(ctx context.Context, message string) (string, error) {
	if c.file != "" {
		if err := c.load(c.file); err != nil {
			return "", err
		}
	}
	c.state.Messages = append(c.state.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(message)))
	reply, err := c.work(ctx)
	if err != nil {
		return "", err
	}
	if c.file != "" {
		err = c.Save(c.file)
	}
	return reply, err
}

// work asks the model until it has nothing left to call.
func (c *Conversation) work(ctx context.Context) (string, error) {
	for range c.agent.opts.Steps {
		answer, err := c.ask(ctx)
		if err != nil {
			return "", err
		}
		if err := stopped(answer.Message); err != nil {
			return "", err
		}
		if len(answer.Content) > 0 {
			c.state.Messages = append(c.state.Messages, answer.ToParam())
		}
		switch answer.StopReason {
		case anthropic.StopReasonToolUse:
			results, err := c.call(ctx, answer)
			if err != nil {
				return "", err
			}
			c.state.Messages = append(c.state.Messages, anthropic.NewUserMessage(results...))
		case anthropic.StopReasonPauseTurn: // it goes on where it paused when it is asked again
		default:
			text := words(answer.Message)
			if text == "" {
				return "", ErrSilent
			}
			return text, nil
		}
	}
	return "", fmt.Errorf("%w: %d requests for one message of the customer", ErrSteps, c.agent.opts.Steps)
}

// stopped is what an answer ended with that nobody can go on from.
func stopped(m anthropic.Message) error {
	switch m.StopReason {
	case anthropic.StopReasonRefusal:
		if category := string(m.StopDetails.Category); category != "" {
			return fmt.Errorf("%w (%s)", ErrRefused, category)
		}
		return ErrRefused
	case anthropic.StopReasonMaxTokens:
		return fmt.Errorf("%w at %d tokens", ErrTooLong, maxTokens)
	case anthropic.StopReasonModelContextWindowExceeded:
		return fmt.Errorf("%w: the conversation is longer than the model's window", ErrTooLong)
	}
	return nil
}

// call makes all calls of an answer, one after the other in their order, and
// returns their results in the same order.
func (c *Conversation) call(ctx context.Context, a answer) (results []anthropic.ContentBlockParamUnion, err error) {
	for i, block := range a.Content {
		if block.Type != "tool_use" {
			continue
		}
		if a.broken[i] {
			results = append(results, anthropic.NewToolResultBlock(block.ID, "not called: the arguments aren't a JSON object", true))
			continue
		}
		answer, err := c.tools.Call(ctx, block.Name, block.Input)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // the model hears of it as any client would tell it
			results = append(results, anthropic.NewToolResultBlock(block.ID, err.Error(), true))
			continue
		}
		results = append(results, anthropic.NewToolResultBlock(block.ID, string(answer.JSON), answer.IsError))
	}
	if len(results) == 0 {
		return nil, errors.New("the model stopped for a tool and named none")
	}
	return results, nil
}

// words are the text of a message.
func words(m anthropic.Message) string {
	var texts []string
	for _, block := range m.Content {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, ""))
}

// isObject reports whether text is a JSON object.
func isObject(text json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(text, &fields) == nil && fields != nil
}

// Usage is what the conversation took so far, also in an earlier process.
func (c *Conversation) Usage() evals.Usage { return priced(c.state.Model, c.state.Usage) }

// Close does nothing: the API keeps nothing of a conversation.
func (c *Conversation) Close() error { return nil }
