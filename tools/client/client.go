// Package client is the other end of the pipe: an MCP client for a server that
// runs as a child process. The demo, the evals and the tests use it.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Client is a session with a server.
type Client struct{ session *mcp.ClientSession }

// Answer is what a tool's call gave: JSON, and whether it is a refusal or an error.
type Answer struct {
	JSON    json.RawMessage
	IsError bool
}

// Start starts cmd as an MCP server on stdio and opens a session. name is how
// the client calls itself.
func Start(ctx context.Context, cmd *exec.Cmd, name string) (*Client, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return &Client{session}, nil
}

// Tools returns the names of the tools that the server offers.
func (c *Client) Tools(ctx context.Context) (names []string, err error) {
	list, err := c.session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

// Call calls a tool. The error is the protocol's, such as for an unknown tool; a
// refusal is an Answer.
func (c *Client) Call(ctx context.Context, tool string, arguments any) (Answer, error) {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
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
