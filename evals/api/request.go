package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
)

const (
	// attemptLimit is how long one request may take with its whole stream.
	attemptLimit = 10 * time.Minute
	// cutTries is how often an answer is asked for whose stream broke.
	cutTries = 3
	cutPause = 250 * time.Millisecond // before the second time; then twice as long
)

// answer is a whole message of the model.
type answer struct {
	anthropic.Message
	broken map[int]bool // blocks whose arguments aren't a JSON object
}

// errCut means that a stream ended before its message did.
var errCut = errors.New("the answer broke off")

// ask gets the model's next message. The SDK repeats a request that was refused
// for the moment; one whose stream broke is repeated here. That is safe: nothing
// of a message is acted on before all of it is there.
func (c *Conversation) ask(ctx context.Context) (a answer, err error) {
	pause := time.Duration(cutPause)
	for try := 1; ; try++ {
		a, err = c.stream(ctx)
		if err == nil || try == cutTries || !passing(err) {
			break
		}
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
	if err != nil {
		err = plain(ctx, err, c.state.Model)
	}
	return a, err
}

// passing reports whether a broken stream may be whole the next time. What the API
// said before any stream began, the SDK has repeated already.
func passing(err error) bool {
	var told *told
	return errors.As(err, &told) && told.midway
}

// told is an error and whether it came in the middle of a stream.
type told struct {
	error
	midway bool
}

func (t *told) Unwrap() error { return t.error }

// stream sends the conversation and gathers the answer.
func (c *Conversation) stream(ctx context.Context) (a answer, err error) {
	c.state.Usage.Requests++
	stream := c.agent.messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: c.state.Model, MaxTokens: maxTokens, System: c.system, Tools: c.offered, Messages: c.state.Messages,
	})
	if err := stream.Err(); err != nil { // there is no stream to close
		return a, &told{error: err}
	}
	defer func() {
		c.state.Usage.add(a.Usage) // also of a part: it is paid for
		err = errors.Join(err, stream.Close())
	}()
	a.broken = map[int]bool{}
	ended := false
	for stream.Next() {
		event := stream.Current()
		if i := int(event.Index); event.Type == "content_block_stop" && i < len(a.Content) && a.Content[i].Type == "tool_use" && !isObject(a.Content[i].Input) {
			// The API takes nothing but an object back as the arguments of a call.
			a.broken[i], a.Content[i].Input = true, json.RawMessage("{}")
		}
		if err := a.Accumulate(event); err != nil {
			return a, &told{err, true}
		}
		ended = ended || event.Type == "message_stop"
	}
	if err := stream.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return a, &told{err, true}
	}
	if !ended {
		return a, &told{errCut, true}
	}
	return a, nil
}
