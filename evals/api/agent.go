// Package api is the agent of the evals that is a model behind the Anthropic API.
// Its tools and its instructions are those of the MCP session.
package api

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"countersign/evals"
	"countersign/tools/client"
)

const (
	// DefaultModel is who answers where no model is named.
	DefaultModel = anthropic.ModelClaudeSonnet5_5
	// DefaultSteps is how many requests a customer's message may take.
	DefaultSteps = 20
)

// Options are how the agent works.
type Options struct {
	Key     string // of the API
	BaseURL string // of the API; "": Anthropic's
	Model   string // "": [DefaultModel]
	Steps   int    // most requests for one message of a customer; 0: [DefaultSteps]
	// States is a folder. Where one is given, each conversation is kept in it as a
	// file after every reply, and each reply begins from that file alone, as in a
	// process that has just started.
	States string
}

// ErrNoKey means that there is no key to the API.
var ErrNoKey = errors.New("no API key: set ANTHROPIC_API_KEY, or use --agent claude for your own Claude Code")

// Agent is a model behind the API. It is safe for concurrent use.
type Agent struct {
	messages anthropic.MessageService
	opts     Options
}

// New returns an agent. It asks nothing of the API yet.
func New(o Options) (*Agent, error) {
	if o.Key == "" {
		return nil, ErrNoKey
	}
	if o.Model == "" {
		o.Model = DefaultModel
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	// No profile or other variable of the user's may choose another account.
	set := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithAPIKey(o.Key), option.WithRequestTimeout(attemptLimit)}
	if o.BaseURL != "" {
		base, err := url.Parse(o.BaseURL)
		if err != nil || base.Host == "" {
			return nil, errors.New("ANTHROPIC_BASE_URL must be like https://api.anthropic.com")
		}
		set = append(set, option.WithBaseURL(o.BaseURL))
	}
	if o.States != "" {
		if err := os.MkdirAll(o.States, 0o700); err != nil {
			return nil, fmt.Errorf("the folder for conversations: %w", err)
		}
	}
	return &Agent{anthropic.NewClient(set...).Messages, o}, nil
}

// Name is "api".
func (a *Agent) Name() string { return "api" }

// Model is who answers.
func (a *Agent) Model() string { return a.opts.Model }

// Begin takes up a customer's case.
func (a *Agent) Begin(ctx context.Context, task evals.Task) (evals.Conversation, error) {
	c := &Conversation{agent: a, tools: task.Tools, setting: task.Setting, state: state{Version: stateVersion, Model: a.opts.Model}}
	if err := c.learn(ctx); err != nil {
		return nil, err
	}
	if a.opts.States != "" {
		file, err := os.CreateTemp(a.opts.States, task.Scenario+"-*.json") // 0600
		if err != nil {
			return nil, err
		}
		c.file = file.Name()
		return c, errors.Join(file.Close(), c.Save(c.file))
	}
	return c, nil
}

// learn asks the session for its tools and its instructions.
func (c *Conversation) learn(ctx context.Context) error {
	described, err := c.tools.Describe(ctx)
	if err != nil {
		return fmt.Errorf("listing the tools: %w", err)
	}
	for _, t := range described {
		tool, err := asTool(t)
		if err != nil {
			return fmt.Errorf("tool %s: %w", t.Name, err)
		}
		c.offered = append(c.offered, anthropic.ToolUnionParam{OfTool: tool})
	}
	// The cache keeps all that stands before a mark: the tools, then the system's
	// words, which are the same for every customer.
	mark := anthropic.NewCacheControlEphemeralParam()
	if n := len(c.offered); n > 0 {
		c.offered[n-1].OfTool.CacheControl = mark
	}
	for _, words := range []string{c.setting, c.tools.Instructions()} {
		if words != "" {
			c.system = append(c.system, anthropic.TextBlockParam{Text: words})
		}
	}
	if n := len(c.system); n > 0 {
		c.system[n-1].CacheControl = mark
	}
	return nil
}

// asTool is a tool with its schema exactly as the server gave it.
func asTool(t client.Tool) (*anthropic.ToolParam, error) {
	schema, ok := t.InputSchema.(map[string]any)
	if !ok || schema["type"] != "object" {
		return nil, errors.New("its schema isn't an object's")
	}
	tool := &anthropic.ToolParam{Name: t.Name, InputSchema: anthropic.ToolInputSchemaParam{ExtraFields: map[string]any{}}}
	if t.Description != "" {
		tool.Description = anthropic.String(t.Description)
	}
	for name, value := range schema {
		if name != "type" { // the SDK writes it
			tool.InputSchema.ExtraFields[name] = value
		}
	}
	return tool, nil
}
