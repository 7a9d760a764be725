package evals

import (
	"context"
	"errors"

	"countersign/tools/client"
)

// An Agent answers a shop's customers with the tools that it is given.
type Agent interface {
	// Name is how reports and the audit log call the agent: letters, digits and
	// dashes.
	Name() string
	// Begin takes up one customer's case.
	Begin(ctx context.Context, task Task) (Conversation, error)
}

// OwnClient marks an agent that starts [Task.Server] with an MCP client of its
// own and leaves [Task.Tools] alone.
type OwnClient interface{ BringsOwnClient() }

// A Task is what an agent is told of a scenario. What it is graded on is not
// part of it.
type Task struct {
	Scenario string  // the id, for an agent that looks something up by it
	Tools    Toolbox // a session with the real server
	// Setting is what the server's instructions can't know: where the agent works,
	// and who reads its answers.
	Setting string
	// Server is how to start a further server for the same customer, for an agent
	// that brings an MCP client of its own. It is nil where everything runs in one
	// process.
	Server *Server
}

// A Toolbox is an agent's session with the server. *client.Client is one.
type Toolbox interface {
	// Instructions are the server's words to a model.
	Instructions() string
	// Describe returns the tools that there are.
	Describe(ctx context.Context) ([]client.Tool, error)
	// Call calls a tool with arguments that are marshalled to JSON. A refusal is an
	// answer; an error is the protocol's, or [ErrAnswerLost].
	Call(ctx context.Context, tool string, arguments any) (client.Answer, error)
}

// ErrAnswerLost means that a call was sent and its answer never came: whether it
// was done is not known. Some scenarios lose one on purpose.
var ErrAnswerLost = errors.New("the connection was lost before the answer came; it isn't known whether the call was done")

// A Server is a command line that starts a server on stdio, and the whole of its
// environment.
type Server struct {
	Command string
	Args    []string
	Env     []string
}

// A Conversation is an agent at work for one customer.
type Conversation interface {
	// Reply reads the customer's next message, makes whatever calls it takes, and
	// returns the reply that the customer reads.
	Reply(ctx context.Context, message string) (string, error)
	// Close ends the conversation.
	Close() error
}
