package server

import (
	"context"
	"errors"
	"io"
	"os"
)

// ServeStdio is [Serve] on stdin and stdout. From then on os.Stdout is stderr:
// nothing but the protocol may be on the real one.
func ServeStdio(ctx context.Context, s Server, ending func()) error {
	out := os.Stdout
	os.Stdout = os.Stderr
	return Serve(ctx, s, openStdin(), out, ending)
}

// ErrClientGone means that the client took no answers any more while it still
// could ask.
var ErrClientGone = errors.New("the client doesn't take answers any more")

// Serve serves one client on a pair of streams until it hangs up or ctx is
// done, and answers the calls in flight before it returns. ending is called
// when it begins to wait for those. The error is [ErrClientGone] or the stream's.
func Serve(ctx context.Context, s Server, in io.Reader, out io.Writer, ending func()) error {
	p := newPipe(in, out)
	p.direct = s.Direct
	p.ending = ending
	ended := make(chan error, 1)
	go func() { ended <- s.MCP.Run(context.Background(), p) }()
	select {
	case <-p.drained: // calls that no one reads the answers of may never end
		return nil
	case <-p.gone:
		p.stop()
		return ErrClientGone
	case err := <-ended:
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case p.isGone():
			return ErrClientGone
		}
		return err
	case <-ctx.Done():
		p.stop() // the reader may hang in a read; its stream is about to be closed
		return nil
	}
}
