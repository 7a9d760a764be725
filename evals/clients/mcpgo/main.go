// Command mcpgo starts an MCP server with the mcp-go client, counts its tools and
// looks the customer up.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := check(ctx, os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func check(ctx context.Context, command string, args []string) error {
	c, err := client.NewStdioMCPClient(command, []string{"COUNTERSIGN_TOKEN=demo-staff-token"}, args...)
	if err != nil {
		return err
	}
	defer c.Close()
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "check", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return err
	}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil || len(list.Tools) != 7 {
		return fmt.Errorf("tools: %v, %v", list, err)
	}
	call := mcp.CallToolRequest{}
	call.Params.Name = "lookup_customer"
	answer, err := c.CallTool(ctx, call)
	if err != nil {
		return err
	}
	if answer.IsError || !strings.Contains(fmt.Sprint(answer.Content), "C-1001") {
		return fmt.Errorf("answer: %v", answer.Content)
	}
	return nil
}
