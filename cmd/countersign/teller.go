package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"charm.land/lipgloss/v2"

	"countersign/fixtures"
	"countersign/tools/client"
)

// teller tells a demo: what an agent asks the real server, and what an operator
// does with the real commands.
type teller struct {
	app         *app
	server      string
	db          string
	interactive bool
	agent       *client.Client
	heard       bytes.Buffer // every answer that the agent got
}

var errLeft = errors.New("the demo was left")

// start starts the server with further flags, and the agent's session with it.
func (t *teller) start(ctx context.Context, flags ...string) (close func() error, err error) {
	server := exec.Command(t.server, append([]string{"--demo", "--db", t.db, "--log-level", "error"}, flags...)...)
	server.Env = append(operatorShell(t.app.environ), "COUNTERSIGN_TOKEN="+fixtures.StaffToken)
	server.Stderr = t.app.err
	if t.agent, err = client.Start(ctx, server, "countersign-demo"); err != nil {
		return nil, err
	}
	return t.agent.Close, nil
}

// steps tells one after the other.
func (t *teller) steps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := t.pause(ctx); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// arguments are a call's, in the order in which they are shown.
type arguments []argument

type argument struct {
	name  string
	value any
}

func (args arguments) String() string {
	texts := make([]string, len(args))
	for i, arg := range args {
		text := fmt.Sprint(arg.value)
		if value, ok := arg.value.(string); ok && strings.ContainsAny(value, " #") {
			text = `"` + value + `"`
		}
		texts[i] = arg.name + "=" + text
	}
	return strings.Join(texts, " ")
}

// object is the arguments as they are sent.
func (args arguments) object() map[string]any {
	object := map[string]any{}
	for _, arg := range args {
		object[arg.name] = arg.value
	}
	return object
}

// call calls a tool and prints the call and the named fields of its answer.
func (t *teller) call(ctx context.Context, tool string, args arguments, fields ...string) (map[string]any, error) {
	t.showCall(tool, args)
	res, err := t.agent.Call(ctx, tool, args.object())
	if err != nil {
		return nil, err
	}
	return t.showAnswer(res, fields...)
}

func (t *teller) showCall(tool string, args arguments) {
	left := blue.Render(voice("agent", "→"))
	printBeside(t.app.out, left, fold(tool+"  "+args.String(), t.app.width-lipgloss.Width(left)))
}

func (t *teller) showAnswer(res client.Answer, fields ...string) (answer map[string]any, err error) {
	t.heard.Write(res.JSON)
	if err := json.Unmarshal(res.JSON, &answer); err != nil {
		return nil, err
	}
	mark := green
	if res.IsError {
		mark = red
	}
	left := mark.Render(voice("server", "←"))
	for _, name := range fields {
		if value, ok := answer[name]; ok {
			t.field(left, name, value, answer)
			left = voice("", "")
		}
	}
	fmt.Fprintln(t.app.out)
	return answer, nil
}

// command runs one of this program's own commands, as an operator would.
func (t *teller) command(ctx context.Context, args ...string) error {
	return t.commandWith(ctx, t.app.keys, args...)
}

// commandWith is command with a standard input of its own.
func (t *teller) commandWith(ctx context.Context, input *bufio.Reader, args ...string) error {
	shown := make([]string, len(args))
	for i, arg := range args {
		if shown[i] = arg; strings.Contains(arg, " ") {
			shown[i] = "'" + arg + "'"
		}
	}
	left := magenta.Render(voice("operator", "$"))
	printBeside(t.app.out, left, fold(bold.Render("countersign "+strings.Join(shown, " ")), t.app.width-lipgloss.Width(left)))
	operator := *t.app
	operator.keys = input
	operator.environ = append(operatorShell(t.app.environ), "COUNTERSIGN_DB="+t.db)
	operator.settings.DB, operator.settings.Token, operator.settings.Policy, operator.settings.Demo = "", "", "", false
	if code := operator.run(ctx, args); code != exitDone {
		return fmt.Errorf("countersign %s: exit code %d", args[0], code)
	}
	fmt.Fprintln(t.app.out)
	return nil
}

// pause waits for the return key in an interactive telling.
func (t *teller) pause(ctx context.Context) error {
	if !t.interactive {
		return nil
	}
	if _, ok := t.app.ask(ctx, "[return] "); !ok {
		return errLeft
	}
	fmt.Fprintln(t.app.out)
	return nil
}

func (t *teller) auditLog(ctx context.Context) error {
	t.heading("6  All of it is in the audit log, and nobody can change it unseen")
	if err := t.command(ctx, "audit", "tail"); err != nil {
		return err
	}
	return t.command(ctx, "audit", "verify")
}
