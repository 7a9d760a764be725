// Package claude is the agent of the evals that is the user's own Claude Code, in
// print mode. It starts the server as any client would; nothing here speaks to a
// model.
package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"countersign/evals"
)

// ErrNotInstalled means that there is no Claude Code.
var ErrNotInstalled = errors.New("no claude on the PATH: install Claude Code, or use --agent api with a key")

// Agent is Claude Code. It is safe for concurrent use.
type Agent struct{ program, model string }

// New finds Claude Code on the PATH. The model is one of its own names, "" for the
// one that the user has set.
func New(model string) (*Agent, error) {
	program, err := exec.LookPath("claude")
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, ErrNotInstalled
	}
	return &Agent{program, model}, nil
}

// Name is "claude".
func (a *Agent) Name() string { return "claude" }

// BringsOwnClient marks it as [evals.OwnClient].
func (a *Agent) BringsOwnClient() {}

// Begin makes a folder of its own for the conversation, with the configuration of
// the server.
func (a *Agent) Begin(_ context.Context, task evals.Task) (_ evals.Conversation, err error) {
	if task.Server == nil {
		return nil, evals.ErrNeedsPrograms
	}
	c := &conversation{agent: a, setting: task.Setting}
	if c.folder, err = os.MkdirTemp("", "countersign-claude-"); err != nil {
		return nil, err
	}
	if err := c.configure(*task.Server); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

const serverName = "countersign"

// configure writes the file that names the one server.
func (c *conversation) configure(s evals.Server) error {
	env := map[string]string{}
	for _, pair := range s.Env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		serverName: map[string]any{"type": "stdio", "command": s.Command, "args": s.Args, "env": env},
	}})
	if err != nil {
		return err
	}
	if err := os.Mkdir(c.desk(), 0o700); err != nil {
		return err
	}
	return os.WriteFile(c.configuration(), text, 0o600) // it holds the agent's token
}

func (c *conversation) configuration() string { return filepath.Join(c.folder, "mcp.json") }

// desk is the folder that Claude works in, which stays empty.
func (c *conversation) desk() string { return filepath.Join(c.folder, "desk") }

// command is how the customer's next message is put; it goes to stdin, where no
// text is taken for an option and no list of processes shows it.
func (c *conversation) command(ctx context.Context) *exec.Cmd {
	args := []string{"-p", "--output-format", "stream-json", "--verbose",
		"--mcp-config", c.configuration(), "--strict-mcp-config",
		// The server's tools and no others: a shell or a file would be ways around it.
		"--tools", "", "--allowedTools", "mcp__" + serverName + "__*", "--disable-slash-commands"}
	if c.setting != "" {
		args = append(args, "--append-system-prompt", c.setting)
	}
	if c.agent.model != "" {
		args = append(args, "--model", c.agent.model)
	}
	if c.session != "" {
		args = append(args, "--resume", c.session)
	}
	cmd := exec.CommandContext(ctx, c.agent.program, args...)
	cmd.Dir, cmd.Env = c.desk(), environment(os.Environ())
	return cmd
}

// environment is the user's, without what marks a shell inside Claude Code, and
// with a version that stays the same for all scenarios.
func environment(all []string) []string {
	kept := []string{"DISABLE_AUTOUPDATER=1"}
	for _, pair := range all {
		name, _, _ := strings.Cut(pair, "=")
		if name != "CLAUDECODE" && name != "CLAUDE_CODE_ENTRYPOINT" && !strings.HasPrefix(name, "COUNTERSIGN_") {
			kept = append(kept, pair)
		}
	}
	return kept
}

// Close removes the conversation's folder. The session stays in Claude Code's own
// history, as every one does.
func (c *conversation) Close() error {
	if err := os.RemoveAll(c.folder); err != nil {
		return fmt.Errorf("the folder of a conversation: %w", err)
	}
	return nil
}
