package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client on stdin and stdout until it hangs up or ctx is
// done.
func ServeStdio(ctx context.Context, s *mcp.Server) error {
	err := s.Run(ctx, &mcp.StdioTransport{})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// NewSession returns a name for one run of the server, for the audit log.
func NewSession() string {
	random := make([]byte, 6)
	rand.Read(random)
	return hex.EncodeToString(random)
}
