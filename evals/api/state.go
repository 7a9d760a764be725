package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anthropics/anthropic-sdk-go"

	"countersign/evals"
)

// stateVersion is the form of a kept conversation.
const stateVersion = 1

// state is all that a conversation needs to go on elsewhere, as long as the same
// server with the same tools is there. The messages are as the API is sent them.
type state struct {
	Version  int                      `json:"version"`
	Model    string                   `json:"model"`
	Messages []anthropic.MessageParam `json:"messages"`
	Usage    tokens                   `json:"usage"`
}

// Save keeps the conversation in a file, which only this user may read: it holds
// what customer and model wrote, and every answer of the tools. It is meant to be
// called between replies, as when the last one told the customer to wait for a
// decision.
func (c *Conversation) Save(name string) (err error) {
	text, err := json.Marshal(c.state)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".conversation-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
			err = fmt.Errorf("keeping the conversation: %w", err)
		}
	}()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name) // whole or not at all
}

// Resume goes on with a conversation that was saved, in this process or another.
func (a *Agent) Resume(ctx context.Context, task evals.Task, name string) (*Conversation, error) {
	c := &Conversation{agent: a, tools: task.Tools, setting: task.Setting}
	if err := c.load(name); err != nil {
		return nil, err
	}
	return c, c.learn(ctx)
}

// load reads the state that a file holds.
func (c *Conversation) load(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("the kept conversation: %w", err)
	}
	var s state
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return fmt.Errorf("the kept conversation %s: %w", name, err)
	}
	if s.Version != stateVersion || s.Model == "" {
		return fmt.Errorf("the kept conversation %s isn't of version %d", name, stateVersion)
	}
	c.state = s
	return nil
}
