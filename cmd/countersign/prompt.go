package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"countersign/policy"
	"countersign/tools/settle"
)

// ask prints a question and waits for a line. It gives up when the program is
// interrupted, and reports false where nobody answers any more.
func (a *app) ask(ctx context.Context, question string) (answer string, ok bool) {
	fmt.Fprint(a.out, question)
	type reply struct {
		line string
		err  error
	}
	replies := make(chan reply, 1)
	go func() { // ends with the line, or with the program
		line, err := a.keys.ReadString('\n')
		replies <- reply{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.out)
		return "", false
	case r := <-replies:
		return strings.TrimSpace(r.line), r.err == nil
	}
}

// agree asks for a yes; anything else is a no.
func (a *app) agree(ctx context.Context, question string) bool {
	answer, ok := a.ask(ctx, question+" [y/N] ")
	return ok && (strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"))
}

// confirmation is what an operator is asked before a command that can't be undone.
type confirmation struct {
	action   string // the command, such as "approvals approve"
	question string
	left     string // what is said where the answer isn't yes
	yes      bool   // --yes was given
	// show prints what it is about and reports false where it will be refused
	// anyway: that isn't asked.
	show func() (bool, error)
}

// confirm shows what it is about and asks, on a terminal. Without one it needs
// --yes and a token that was given explicitly: a script must mean it. What would
// be refused in any case isn't asked: the office refuses it and keeps a record.
func (a *app) confirm(ctx context.Context, office *settle.Office, c confirmation) error {
	switch {
	case office.AgentShell:
		return nil
	case c.yes:
		return a.explicitToken(ctx, office)
	case !a.terminal:
		return usageError{errors.New("without a terminal this needs --yes, and a token in COUNTERSIGN_TOKEN or --token")}
	}
	if err := office.Permit(ctx, c.action, policy.Manager); err != nil {
		return nil
	}
	if ask, err := c.show(); err != nil || !ask {
		return err
	}
	if !a.agree(ctx, "\n"+c.question) {
		return errors.New(c.left)
	}
	return nil
}

func (a *app) explicitToken(ctx context.Context, office *settle.Office) error {
	if a.settings.Token != "" {
		return nil
	}
	demo, err := isDemo(ctx, office.DB)
	if err == nil && !demo {
		err = usageError{errors.New("--yes needs a token in COUNTERSIGN_TOKEN or --token")}
	}
	return err
}
