// Package client is the other end of the pipe: an MCP client for a server that
// runs as a child process or in this one. The demo, the evals and the tests use it.
package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Client is a session with a server.
type Client struct {
	session *mcp.ClientSession
	tell    *sync.Map // the calls that want to hear that they wait: by token, a func()
}

// Answer is what a tool's call gave: JSON, and whether it is a refusal or an error.
type Answer struct {
	JSON    json.RawMessage
	IsError bool
}

// Tool is a tool as a model is told of it.
type Tool struct {
	Name        string
	Description string
	InputSchema any // a JSON schema, as decoded from JSON
}

// Start starts cmd as an MCP server on stdio and opens a session. name is how
// the client calls itself.
func Start(ctx context.Context, cmd *exec.Cmd, name string) (*Client, error) {
	client, err := connect(ctx, &mcp.CommandTransport{Command: cmd}, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return client, nil
}

// Over opens a session over a pair of streams: what the server writes, and what
// it reads. Close closes both.
func Over(ctx context.Context, in io.ReadCloser, out io.WriteCloser, name string) (*Client, error) {
	return connect(ctx, &mcp.IOTransport{Reader: in, Writer: out}, name)
}

func connect(ctx context.Context, transport mcp.Transport, name string) (*Client, error) {
	tell := &sync.Map{}
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, told *mcp.ProgressNotificationClientRequest) {
			if waits, ok := tell.Load(told.Params.ProgressToken); ok {
				waits.(func())()
			}
		},
	})
	session, err := c.Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	return &Client{session, tell}, nil
}

// Instructions are the server's words to a model.
func (c *Client) Instructions() string { return c.session.InitializeResult().Instructions }

// Describe returns the tools that the server offers.
func (c *Client) Describe(ctx context.Context) (tools []Tool, err error) {
	list, err := c.session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		tools = append(tools, Tool{t.Name, t.Description, t.InputSchema})
	}
	return tools, nil
}

// Tools returns the names of the tools that the server offers.
func (c *Client) Tools(ctx context.Context) (names []string, err error) {
	tools, err := c.Describe(ctx)
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names, err
}

// Call calls a tool. The error is the protocol's, such as for an unknown tool; a
// refusal is an Answer.
func (c *Client) Call(ctx context.Context, tool string, arguments any) (Answer, error) {
	return c.call(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
}

// CallWaiting is Call for a tool that waits for a human. waits is called, perhaps
// often, while the server says that it still does.
func (c *Client) CallWaiting(ctx context.Context, tool string, arguments any, waits func()) (Answer, error) {
	token := rand.Text()
	c.tell.Store(token, waits)
	defer c.tell.Delete(token)
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken(token)
	return c.call(ctx, params)
}

func (c *Client) call(ctx context.Context, params *mcp.CallToolParams) (Answer, error) {
	tool := params.Name
	res, err := c.session.CallTool(ctx, params)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", tool, err)
	}
	if len(res.Content) != 1 {
		return Answer{}, fmt.Errorf("%s: %d content blocks instead of 1", tool, len(res.Content))
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		return Answer{}, fmt.Errorf("%s: the content isn't text", tool)
	}
	return Answer{JSON: json.RawMessage(text.Text), IsError: res.IsError}, nil
}

// Close hangs up; the server ends.
func (c *Client) Close() error { return c.session.Close() }
