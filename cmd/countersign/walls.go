package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"countersign/store"
	"countersign/tools/client"
)

// wallsStory is the demo of what only a person can get: an agent that sets up an
// app, asks for three things by a form, and goes on with what it is given.
type wallsStory struct {
	teller
	env   string // the server's .env file
	walls []*wall
}

func (s *wallsStory) tell(ctx context.Context) (err error) {
	s.walls = threeWalls()
	if err := os.WriteFile(s.env, []byte("# from before\nPORT=3000\n"), 0o600); err != nil {
		return err
	}
	s.letter("Ava Lindqvist writes to her agent:", "Put my to-do app online, let people pay for it, and give it a domain of its own.")
	s.say("The agent can write all of the code. It can't open accounts, pay, or prove that it is Ava. Its server was started with " +
		"--toolsets support,human and with --env-file, the file that takes the secrets people enter.")
	close, err := s.start(ctx, "--toolsets", "support,human", "--env-file", s.env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	if err := s.steps(ctx, s.file, s.nobodyWaits, s.agentWaits, s.afterwards, s.whatIsWhere, s.auditLog); err != nil {
		return err
	}
	s.say("That was all of it. The README says how to do the same with your own agent: Ask a human.")
	return nil
}

func (s *wallsStory) file(ctx context.Context) error {
	s.heading("1  Three walls: the agent files a form for each, and goes on meanwhile")
	for i, w := range s.walls {
		shown := []string{"status", "request_id"}
		if i == 0 {
			shown = append(shown, "what_this_means")
		}
		answer, err := s.call(ctx, store.RequestTool, arguments{{"title", w.title}, {"category", w.category},
			{"instructions", w.instructions}, {"fields", form(w.fields)}, {"timeout_seconds", 0}}, shown...)
		if err != nil {
			return err
		}
		w.request = textOf(answer["request_id"])
	}
	return nil
}

func (s *wallsStory) nobodyWaits(ctx context.Context) error {
	s.heading("2  A person answers while nobody waits")
	if err := s.command(ctx, "requests", "list"); err != nil {
		return err
	}
	w := s.walls[0]
	if err := s.command(ctx, "requests", "show", w.request); err != nil {
		return err
	}
	if err := s.personAnswers(ctx, w); err != nil {
		return err
	}
	s.say("The answer is sealed until the agent collects it. (--set NAME=- takes the value from standard input.) Then the server writes the secret into .env, erases it from the database, and gives the agent its name:")
	return s.collect(ctx, w)
}

// personAnswers is the operator's part: in an interactive telling whatever the
// reader enters, else the secret comes from standard input, where no list of
// processes and no shell's history shows it.
func (s *wallsStory) personAnswers(ctx context.Context, w *wall) error {
	args := []string{"requests", "answer", w.request}
	if s.interactive {
		return s.command(ctx, args...)
	}
	for _, field := range w.plain {
		args = append(args, "--set", field[0]+"="+field[1])
	}
	args = append(args, "--set", w.secret[0]+"=-", "--yes")
	if w.note != "" {
		args = append(args, "--note", w.note)
	}
	return s.commandWith(ctx, bufio.NewReader(strings.NewReader(w.secret[1])), args...)
}

// What is shown of an answer of check_request.
var checked = []string{"status", "answer", "operator", "error", "message"}

func (s *wallsStory) collect(ctx context.Context, w *wall) error {
	answer, err := s.call(ctx, "check_request", arguments{{"request_id", w.request}}, checked...)
	if err != nil {
		return err
	}
	return w.given(answer)
}

func (s *wallsStory) agentWaits(ctx context.Context) error {
	s.heading("3  A person answers while the agent waits")
	w := s.walls[1]
	waiting := arguments{{"request_id", w.request}, {"wait_seconds", 45}}
	type result struct {
		client.Answer
		err error
	}
	answered, begun := make(chan result, 1), make(chan struct{})
	s.showCall("check_request", waiting)
	go func() { // ends with the answer, or with the session
		answer, err := s.agent.CallWaiting(ctx, "check_request", waiting.object(), sync.OnceFunc(func() { close(begun) }))
		answered <- result{answer, err}
	}()
	select {
	case <-begun:
	case r := <-answered:
		return errors.Join(r.err, fmt.Errorf("%s: it was answered before a person did", w.request))
	}
	printBeside(s.app.out, yellow.Render(voice("server", "…")), "waits for a person, up to 45 seconds\n")
	if err := s.personAnswers(ctx, w); err != nil {
		return err
	}
	r := <-answered
	if r.err != nil {
		return r.err
	}
	answer, err := s.showAnswer(r.Answer, checked...)
	if err != nil || answer["status"] != store.Pending {
		return errors.Join(err, w.given(answer))
	}
	return s.collect(ctx, w) // the reader took longer than the agent waited
}

func (s *wallsStory) afterwards(ctx context.Context) error {
	s.heading("4  The last one, with a word from the person")
	w := s.walls[2]
	if err := s.personAnswers(ctx, w); err != nil {
		return err
	}
	return s.collect(ctx, w)
}
