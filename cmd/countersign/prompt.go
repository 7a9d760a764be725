package main

import (
	"context"
	"fmt"
	"strings"
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
