// Package server speaks the Model Context Protocol for a desk of tools. It is
// the only package that knows the protocol's server side.
package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/tools"
)

// The texts about params that a client may read.
const (
	unknownToolMessage      = "unknown tool"
	unknownPromptMessage    = "unknown prompt, or one with arguments that it doesn't take"
	resourceNotFoundMessage = "Resource not found"
)

var plainMessages = []string{unknownToolMessage, unknownPromptMessage, resourceNotFoundMessage}

// Name is how the server calls itself to clients.
const Name = "countersign"

// Server answers the client of one session.
type Server struct {
	// MCP answers all that Direct leaves to it.
	MCP *mcp.Server
	// Direct, if set, is offered each tools/call once the session is initialized.
	Direct Direct
}

// New returns a server that offers all of list, the resources and the prompts,
// by way of desk. version is the program's.
func New(desk *tools.Desk, list []*tools.Tool, caller tools.Caller, version string) Server {
	s := mcp.NewServer(&mcp.Implementation{Name: Name, Title: "Countersign", Version: version}, &mcp.ServerOptions{
		Instructions: instructions(list),
		Capabilities: capabilities(),
	})
	d := door{desk, list, caller}
	for _, t := range list {
		s.AddTool(describe(t), d.call)
	}
	d.offer(s)
	s.AddReceivingMiddleware(d.answerDiscover, d.answer)
	return Server{MCP: s, Direct: d.direct}
}

// OnFirst has call called once, when the first request or notification arrives.
// It must return at once.
func (s Server) OnFirst(call func()) {
	var once sync.Once
	s.MCP.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			once.Do(call)
			return next(ctx, method, req)
		}
	})
}

// door is how a session's requests come to the desk.
type door struct {
	desk   *tools.Desk
	list   []*tools.Tool
	caller tools.Caller
}

// as is the session's caller by the name that its client has for itself.
func (d door) as(client *mcp.Implementation) tools.Caller {
	if client != nil {
		d.caller.Client = client.Name
	}
	return d.caller
}

// describe is a tool as clients see it. Claude Code's tool search counts the words
// of its hint as it does those of its name and description.
func describe(t *tools.Tool) *mcp.Tool {
	closed := false
	return &mcp.Tool{
		Meta: mcp.Meta{"anthropic/searchHint": t.Hint},
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Schema(), OutputSchema: t.OutputSchema(),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &closed,
		},
	}
}

// call hands a tool's call to the desk. Clients show structuredContent or the
// text, so both hold the same JSON; on an error they show the text alone.
func (d door) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	caller := d.as(req.ClientInfo())
	if token := req.Params.GetProgressToken(); token != nil {
		caller.Progress = func(waited, most time.Duration) { tell(ctx, req.Session, token, waited, most) }
	}
	res := d.desk.Call(ctx, caller, req.Params.Name, req.Params.Arguments)
	if res.Code == tools.UnknownTool {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: unknownToolMessage}
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(res.JSON)}}, IsError: res.IsError}
	if !res.IsError {
		result.StructuredContent = json.RawMessage(res.JSON)
	}
	return result, nil
}

// tell sends a client that asked for it how long a call has waited. One that
// can't be told will miss the answer as well.
func tell(ctx context.Context, session *mcp.ServerSession, token any, waited, most time.Duration) {
	_ = session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: waited.Round(time.Millisecond).Seconds(), Total: most.Seconds(), Message: "waiting for a human",
	})
}

// answer sends to the desk what the SDK would answer by itself, so that it is in
// the audit log: calls of unknown tools, resources and prompts.
func (d door) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch r := req.(type) {
		case *mcp.CallToolRequest:
			if !slices.ContainsFunc(d.list, func(t *tools.Tool) bool { return t.Name == r.Params.Name }) {
				return d.call(ctx, r)
			}
		case *mcp.ReadResourceRequest:
			if !tools.Readable(r.Params.URI) {
				return d.read(ctx, r)
			}
		case *mcp.GetPromptRequest:
			if !slices.ContainsFunc(tools.Prompts, func(p tools.Prompt) bool { return p.Command == r.Params.Name }) {
				return d.prompt(ctx, r)
			}
		}
		return next(ctx, method, req)
	}
}

// answerDiscover answers server/discover itself: the SDK's answer also starts
// the session, and a client that goes on with initialize would then be refused.
func (d door) answerDiscover(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != "server/discover" {
			return next(ctx, method, req)
		}
		return &mcp.DiscoverResult{
			SupportedVersions: mcp.SupportedProtocolVersions(), Capabilities: capabilities(), Instructions: instructions(d.list),
		}, nil
	}
}

// capabilities are tools, resources and prompts, of which the lists never change.
func capabilities() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{},
	}
}
