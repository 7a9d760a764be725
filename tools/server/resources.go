package server

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/policy"
	"countersign/tools"
)

// codeRefused is the error of a resource or a prompt that is there and refused:
// results of those can't be refusals, as a tool's can. It is from the range that
// JSON-RPC leaves to servers, where MCP and its SDKs use no code.
const codeRefused = -32050

// offer puts every resource and prompt on the server's lists.
func (d door) offer(s *mcp.Server) {
	for _, r := range tools.Resources {
		if r.Templated() {
			s.AddResourceTemplate(&mcp.ResourceTemplate{
				Name: r.Name, Title: r.Title, Description: r.Description, URITemplate: r.URI, MIMEType: r.MIME,
			}, d.read)
			continue
		}
		s.AddResource(&mcp.Resource{Name: r.Name, Title: r.Title, Description: r.Description, URI: r.URI, MIMEType: r.MIME}, d.read)
	}
	for _, p := range tools.Prompts {
		s.AddPrompt(&mcp.Prompt{Name: p.Command, Title: p.Title, Description: p.Description}, d.prompt)
	}
}

// read hands the reading of a resource to the desk.
func (d door) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	res, mime := d.desk.Read(ctx, d.as(req.ClientInfo()), req.Params.URI)
	if res.IsError {
		return nil, fault(res, resourceNotFoundMessage)
	}
	content := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: mime, Text: string(res.JSON)}
	if mime == tools.MIMEText {
		content.Text = plain(res)
	}
	return &mcp.ReadResourceResult{
		Contents: []*mcp.ResourceContents{content}, Cacheable: mcp.Cacheable{CacheScope: "private"},
	}, nil
}

// prompt hands the asking for a prompt to the desk.
func (d door) prompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	arguments, err := json.Marshal(req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	res := d.desk.Prompt(ctx, d.as(req.ClientInfo()), req.Params.Name, arguments)
	if res.IsError {
		return nil, fault(res, unknownPromptMessage)
	}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: plain(res)}}}}, nil
}

// plain is the text of a result that is one.
func plain(res tools.Result) string {
	var text tools.Text
	_ = json.Unmarshal(res.JSON, &text) // it was marshalled from one
	return text.Text
}

// fault is the protocol's error for a refusal. What isn't there, what is another
// customer's and what can't be an id give the same bytes.
func fault(res tools.Result, notFound string) *jsonrpc.Error {
	switch res.Code {
	case tools.UnknownPrompt, tools.UnknownResource, policy.NotFound, policy.InvalidArguments:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: notFound}
	}
	var refusal struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(res.JSON, &refusal) // every refusal has one
	return &jsonrpc.Error{Code: codeRefused, Message: refusal.Message, Data: res.JSON}
}
