// Package apitest stands in for the Anthropic API in tests: it answers each
// request with the next message of a script, as a stream, and keeps what it was
// asked.
package apitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"unicode/utf8"
)

// A Turn is one message of the model, or what happens instead.
type Turn struct {
	Text  string
	Calls []Call
	Stop  string // the stop reason; "": tool_use where there are calls, else end_turn

	Status int    // an answer with this HTTP status instead
	Error  string // the type of the error, such as overloaded_error; without a status it comes midway in the stream
	Cut    bool   // the connection ends before the message does

	From func(asked Request) Turn // makes the turn of what was asked, instead of all that
}

// Call is a call of a tool. Input is sent as it stands, JSON or not.
type Call struct{ ID, Name, Input string }

// Request is what the API was asked.
type Request struct {
	Header   http.Header
	Model    string
	Stream   bool
	System   json.RawMessage
	Tools    []map[string]any
	Messages []Message
	Body     string
}

// Results are those of the tools in the last message.
func (r Request) Results() (results []Block) {
	for _, b := range r.Messages[len(r.Messages)-1].Content {
		if b.Type == "tool_result" {
			results = append(results, b)
		}
	}
	return results
}

// ResultText is what a tool answered.
func (b Block) ResultText() string {
	var parts []Block
	if json.Unmarshal(b.Content, &parts) != nil || len(parts) != 1 {
		return string(b.Content)
	}
	return parts[0].Text
}

// Message is one of a conversation.
type Message struct {
	Role    string
	Content []Block
}

// Block is a part of a message. Content is that of a tool's result.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

// UnmarshalJSON reads content as blocks or as the text that stands for one.
func (m *Message) UnmarshalJSON(text []byte) error {
	var raw struct {
		Role    string
		Content json.RawMessage
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	m.Role = raw.Role
	var words string
	if json.Unmarshal(raw.Content, &words) == nil {
		m.Content = []Block{{Type: "text", Text: words}}
		return nil
	}
	return json.Unmarshal(raw.Content, &m.Content)
}

// Server is the stand-in.
type Server struct {
	URL string
	// Stop has nobody listen any more.
	Stop func()

	mu       sync.Mutex
	turns    []Turn
	requests []Request
	problems []string
}

// New starts a stand-in. It ends with the test, which fails if the script was not
// asked for to its end or for more.
func New(t *testing.T, turns ...Turn) *Server {
	t.Helper()
	s := &Server{turns: turns}
	listening := httptest.NewServer(s)
	s.URL, s.Stop = listening.URL, listening.Close
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
		for _, problem := range s.problems {
			t.Error("the API: " + problem)
		}
		if len(s.turns) > 0 {
			t.Errorf("the API: %d turns were never asked for", len(s.turns))
		}
	})
	return s
}

// Requests are what was asked so far, without what has no tools: a client may ask
// for a title or so on the side.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		fail(w, Turn{Status: http.StatusNotFound, Error: "not_found_error"})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	asked := Request{Header: r.Header, Body: string(body)}
	if err := json.Unmarshal(body, &asked); err != nil {
		fail(w, Turn{Status: http.StatusBadRequest, Error: "invalid_request_error"})
		return
	}
	turn := s.next(asked)
	switch {
	case turn.Status != 0:
		fail(w, turn)
	case asked.Stream:
		stream(w, asked.Model, turn)
	default: // only asked for on the side
		json.NewEncoder(w).Encode(message(asked.Model, []any{map[string]any{"type": "text", "text": turn.Text}}))
	}
}

func (s *Server) next(asked Request) (turn Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(asked.Tools) == 0 {
		return Turn{Text: "ok"}
	}
	s.requests = append(s.requests, asked)
	if len(s.turns) == 0 {
		s.problems = append(s.problems, fmt.Sprintf("request %d goes beyond the script", len(s.requests)))
		return Turn{Status: http.StatusBadRequest, Error: "invalid_request_error"}
	}
	turn, s.turns = s.turns[0], s.turns[1:]
	if turn.From != nil {
		turn = turn.From(asked)
	}
	return turn
}

// fail answers with an error, and asks not to be waited for before the next try.
func fail(w http.ResponseWriter, turn Turn) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After-Ms", "1")
	w.Header().Set("Request-Id", "req_test")
	w.WriteHeader(turn.Status)
	json.NewEncoder(w).Encode(apiError(turn))
}

func apiError(turn Turn) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": turn.Error, "message": "scripted " + turn.Error}}
}

func message(model string, content []any) map[string]any {
	return map[string]any{"id": "msg_test", "type": "message", "role": "assistant", "model": model, "content": content, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3}}
}

// stream writes a turn as server-sent events.
func stream(w http.ResponseWriter, model string, turn Turn) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, err := json.Marshal(fields)
		if err != nil {
			panic(err) // everything above marshals
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	send("message_start", map[string]any{"message": message(model, []any{})})
	send("ping", map[string]any{})
	index := 0
	block := func(start map[string]any, deltas []map[string]any) {
		send("content_block_start", map[string]any{"index": index, "content_block": start})
		for _, delta := range deltas {
			send("content_block_delta", map[string]any{"index": index, "delta": delta})
		}
		send("content_block_stop", map[string]any{"index": index})
		index++
	}
	if turn.Text != "" {
		block(map[string]any{"type": "text", "text": ""}, pieces("text_delta", "text", turn.Text))
	}
	for _, call := range turn.Calls {
		block(map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": map[string]any{}}, pieces("input_json_delta", "partial_json", call.Input))
	}
	switch {
	case turn.Error != "":
		fmt.Fprint(w, "event: error\ndata: ")
		json.NewEncoder(w).Encode(apiError(turn))
		fmt.Fprint(w, "\n")
		return
	case turn.Cut:
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		panic(http.ErrAbortHandler) // closes the connection in the middle
	}
	stop := turn.Stop
	if stop == "" {
		stop = "end_turn"
		if len(turn.Calls) > 0 {
			stop = "tool_use"
		}
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 10}})
	send("message_stop", map[string]any{})
}

// pieces are the deltas of a text that comes in two.
func pieces(kind, field, text string) []map[string]any {
	half := len(text) / 2
	for half > 0 && !utf8.RuneStart(text[half]) {
		half--
	}
	return []map[string]any{{"type": kind, field: text[:half]}, {"type": kind, field: text[half:]}}
}
