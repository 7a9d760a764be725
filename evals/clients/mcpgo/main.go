// Command mcpgo tells the story of ../story.json with the mcp-go client:
//
//	mcpgo STORY PROGRAMS VERSION
//
// PROGRAMS is the folder with both programs, VERSION the protocol's. Like story.mjs it compares what the
// client hands on with what the server said.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := tell(ctx, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func tell(ctx context.Context, file, programs, version string) error {
	folder, err := os.MkdirTemp("", "story-")
	if err != nil {
		return err
	}
	s := story{programs: programs, folder: folder}
	if err := readJSON(file, &s.steps); err != nil {
		return err
	}
	command, args := s.server()
	c := client.NewClient(transport.NewStdio(command, []string{"COUNTERSIGN_TOKEN=demo-staff-token"}, args...), client.WithProtocolVersion(version))
	if err := c.Start(ctx); err != nil {
		return err
	}
	var progress atomic.Int64
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			progress.Add(1)
		}
	})
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = version
	hello.Params.ClientInfo = mcp.Implementation{Name: "story", Version: "1"}
	session, err := c.Initialize(ctx, hello)
	if err != nil {
		return err
	}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	if err := s.tell(ctx, func(name string, given any, waits bool) (answer, error) { return call(ctx, c, name, given, waits) }); err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	if progress.Load() == 0 {
		return errors.New("no progress was told of the call that waited")
	}
	if session.ProtocolVersion != version {
		return fmt.Errorf("it speaks protocol %s", session.ProtocolVersion)
	}
	if err := s.compare(list.Tools, session.Instructions); err != nil {
		return err
	}
	fmt.Printf("protocol %s, %d tools, %d answers, instructions whole, progress told %d times\n",
		session.ProtocolVersion, len(list.Tools), len(s.texts), progress.Load())
	return nil
}

// call calls a tool, with a progress token where it waits.
func call(ctx context.Context, c *client.Client, name string, given any, waits bool) (a answer, err error) {
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = name, given
	if waits {
		req.Params.Meta = &mcp.Meta{ProgressToken: "waiting"}
	}
	res, err := c.CallTool(ctx, req)
	if err != nil {
		return a, err
	}
	if len(res.Content) != 1 {
		return a, fmt.Errorf("%s: %d content blocks", name, len(res.Content))
	}
	text, ok := res.Content[0].(mcp.TextContent)
	if !ok {
		return a, fmt.Errorf("%s: the content isn't text", name)
	}
	return answer{text.Text, res.IsError}, nil
}

func readJSON(file string, value any) error {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	return err
}
