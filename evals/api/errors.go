package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
)

// What the API or the way to it can fail with.
var (
	ErrKey         = errors.New("the API doesn't accept the key in ANTHROPIC_API_KEY")
	ErrForbidden   = errors.New("the API key may not be used for this")
	ErrNoModel     = errors.New("the API knows no such model")
	ErrRequest     = errors.New("the API rejected the request")
	ErrLimit       = errors.New("the API's rate limit is used up, also after waiting; try again later or with a lower --parallel")
	ErrOverloaded  = errors.New("the API is overloaded, also after waiting; try again later")
	ErrAPI         = errors.New("the API failed, also when asked again")
	ErrUnreachable = errors.New("the API can't be reached")
	ErrCut         = errors.New("the API's answer broke off, also when asked again")
)

// statusOverloaded is the API's own.
const statusOverloaded = 529

// plain says in plain words what kept the API from answering. The texts that the
// API sends aren't part of it, but for a rejected request, of which they say what
// was wrong with its form.
func plain(ctx context.Context, err error, model string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var sent *anthropic.Error
	var network *url.Error
	switch {
	case errors.As(err, &sent):
		return ofAPI(sent, model)
	case errors.As(err, &network):
		return fmt.Errorf("%w: %w", ErrUnreachable, network.Err)
	case passing(err):
		return ErrCut
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

func ofAPI(sent *anthropic.Error, model string) error {
	kind := ErrAPI
	switch {
	// An error in the middle of a stream has a type, and the status of the stream.
	case sent.StatusCode == statusOverloaded || sent.Type() == anthropic.ErrorTypeOverloadedError:
		kind = ErrOverloaded
	case sent.StatusCode == http.StatusTooManyRequests || sent.Type() == anthropic.ErrorTypeRateLimitError:
		kind = ErrLimit
	case sent.StatusCode == http.StatusUnauthorized:
		kind = ErrKey
	case sent.StatusCode == http.StatusForbidden || sent.StatusCode == http.StatusPaymentRequired:
		kind = ErrForbidden
	case sent.StatusCode == http.StatusNotFound:
		kind = fmt.Errorf("%w as %q", ErrNoModel, model)
	case sent.StatusCode >= 400 && sent.StatusCode < 500:
		kind = fmt.Errorf("%w: %s", ErrRequest, message(sent))
	}
	if sent.RequestID != "" {
		return fmt.Errorf("%w (status %d, request %s)", kind, sent.StatusCode, sent.RequestID)
	}
	return fmt.Errorf("%w (status %d)", kind, sent.StatusCode)
}

// message is what the API said, on one line of bearable length.
func message(sent *anthropic.Error) string {
	var body struct {
		Error struct{ Message string }
	}
	const most = 300
	if json.Unmarshal([]byte(sent.RawJSON()), &body) != nil || body.Error.Message == "" {
		return "it doesn't say why"
	}
	runes := []rune(strings.Join(strings.Fields(body.Error.Message), " "))
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return string(runes)
}
