package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"countersign/approvals"
	"countersign/store"
	"countersign/tools/settle"
)

func (a *app) requestsAnswer() *cobra.Command {
	var sets []string
	var note string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "answer ID", Short: "Answer a request, field by field", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			entered, err := a.readSets(sets)
			if err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, office *settle.Office) error {
				err := a.confirm(ctx, office, confirmation{
					action: "requests answer", question: "Send this answer to " + args[0] + "?", left: nothingDecided, yes: yes,
					show: func() (bool, error) { return a.fillIn(ctx, office, args[0], entered) },
				})
				if err != nil {
					return err
				}
				decided, err := office.Answer(ctx, args[0], entered, note)
				if err != nil {
					return err
				}
				return a.printAnswered(ctx, office, decided, asJSON)
			})
		},
	}
	cmd.Flags().StringArrayVar(&sets, "set", nil, "a field's value, as `NAME=VALUE`; NAME=- reads it from standard input (flags show in process lists)")
	cmd.Flags().StringVar(&note, "note", "", "a word to the agent")
	decisionFlags(cmd, &yes, &asJSON)
	return cmd
}

// readSets reads the values that were given as flags, by field name.
func (a *app) readSets(sets []string) (map[string]string, error) {
	entered, fromInput := map[string]string{}, false
	for _, set := range sets {
		name, value, ok := strings.Cut(set, "=")
		if _, twice := entered[name]; !ok || name == "" || twice {
			return nil, usageError{errors.New("--set takes NAME=VALUE, each name once")}
		}
		if value == "-" {
			if fromInput {
				return nil, usageError{errors.New("only one value can come from standard input")}
			}
			fromInput = true
			text, err := a.readInput()
			if err != nil {
				return nil, err
			}
			value = text
		}
		entered[name] = value
	}
	return entered, nil
}

// readInput reads all of standard input, without the line end that ends it.
func (a *app) readInput() (string, error) {
	const most = 1 << 16
	text, err := io.ReadAll(io.LimitReader(a.keys, most+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if len(text) > most {
		return "", usageError{fmt.Errorf("standard input holds more than %d bytes", most)}
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// fillIn shows a request and, if this operator may answer it, asks for each field
// that no flag has set, as long as it waits. It reports whether it may be answered.
func (a *app) fillIn(ctx context.Context, office *settle.Office, id string, entered map[string]string) (may bool, err error) {
	const action = "requests answer"
	view, may, err := a.showWaiting(ctx, office, action, id)
	if err != nil || !may {
		return false, err
	}
	fmt.Fprintln(a.out)
	for _, field := range view.Fields {
		if _, set := entered[field.Name]; set {
			continue
		}
		if entered[field.Name], err = a.askField(ctx, field); err != nil {
			return false, err
		}
		if may, err = a.stillWaits(ctx, office, action, id); err != nil || !may {
			return false, err
		}
	}
	return true, nil
}

// stillWaits reports whether an action on a request may still be done: nobody has
// to go on answering what somebody else has decided, or what has expired.
func (a *app) stillWaits(ctx context.Context, office *settle.Office, action, id string) (may bool, err error) {
	err = office.DB.View(ctx, func(v *store.View) error {
		ap, err := v.Request(id)
		may = err == nil && office.MayDecide(v, action, ap) == nil
		return err
	})
	return may, err
}

// askField asks until the answer fits.
func (a *app) askField(ctx context.Context, field approvals.Field) (string, error) {
	for {
		text, ok := "", false
		if question := describeField(field) + ": "; field.Type == approvals.Secret {
			text, ok = a.askHidden(ctx, question)
		} else {
			text, ok = a.ask(ctx, question)
		}
		if !ok {
			return "", errors.New(nothingDecided)
		}
		if _, err := field.Read(text); err != nil {
			fmt.Fprintln(a.err, visibleLine(err.Error()))
			continue
		}
		return text, nil
	}
}

// askHidden is ask for what must not be seen on the terminal.
func (a *app) askHidden(ctx context.Context, question string) (answer string, ok bool) {
	terminal := fd(a.in)
	before, err := term.GetState(terminal)
	if err != nil {
		return "", false
	}
	type reply struct {
		text []byte
		err  error
	}
	replies := make(chan reply, 1)
	go func() { // ends with the line, or with the program
		text, err := term.ReadPassword(terminal)
		replies <- reply{text, err}
	}()
	untilChanged(terminal, before)
	fmt.Fprint(a.out, question)
	defer fmt.Fprintln(a.out)
	select {
	case <-ctx.Done():
		_ = term.Restore(terminal, before) // the reader would leave it mute
		return "", false
	case r := <-replies:
		return string(r.text), r.err == nil
	}
}

// untilChanged waits until a terminal isn't as it was any more: what somebody types
// at a question before its reader has silenced the terminal would be seen. One that
// was silent already doesn't change.
func untilChanged(terminal int, before *term.State) {
	for range 500 {
		if now, err := term.GetState(terminal); err != nil || *now != *before {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
