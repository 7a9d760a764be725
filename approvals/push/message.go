package push

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"countersign/store"
)

// message is the body of a webhook's call. Nothing in it was written by a person
// or a model, and nothing says whom it is about.
type message struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Tool      string `json:"tool"`
	Category  string `json:"category,omitempty"`
	Priority  string `json:"priority"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// request is the HTTP request that tells a target of p.
func (t Target) request(ctx context.Context, p store.Push, now time.Time) (*http.Request, error) {
	if t.Name == Ntfy {
		return t.note(ctx, p)
	}
	m := message{ID: p.ID, Kind: p.Kind, Tool: p.Tool, Category: p.Category, Priority: p.Priority, CreatedAt: rfc3339(p.Created)}
	if !p.Expires.IsZero() {
		m.ExpiresAt = rfc3339(p.Expires)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	req, err := t.post(ctx, body)
	if err != nil {
		return nil, err
	}
	seconds := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", p.ID)
	req.Header.Set("webhook-timestamp", seconds)
	if len(t.key) > 0 {
		req.Header.Set("webhook-signature", "v1,"+sign(t.key, p.ID, seconds, body))
	}
	return req, nil
}

// sign is the signature of Standard Webhooks.
func sign(key []byte, id, seconds string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, seconds, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// levels are priorities as ntfy counts them.
var levels = map[string]string{"low": "2", "normal": "3", "high": "4", "urgent": "5"}

// note is p as a line on somebody's phone.
func (t Target) note(ctx context.Context, p store.Push) (*http.Request, error) {
	text := fmt.Sprintf("%s (%s): countersign %ss show %s", p.ID, p.Tool, p.Kind, p.ID)
	if !p.Expires.IsZero() {
		text += "; until " + rfc3339(p.Expires)
	}
	req, err := t.post(ctx, []byte(text))
	if err != nil {
		return nil, err
	}
	// Of the names that ntfy knows: Priority has a meaning of its own in HTTP, and
	// proxies such as Cloudflare set it.
	req.Header.Set("X-Title", map[string]string{
		store.KindApproval: "An approval waits", store.KindRequest: "A request waits", store.KindTicket: "A ticket was filed",
	}[p.Kind])
	req.Header.Set("X-Priority", levels[p.Priority])
	req.Header.Set("X-Sequence-ID", p.ID) // a second one replaces the first, from ntfy 2.16 on
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	return req, nil
}

func (t Target) post(ctx context.Context, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.address, bytes.NewReader(body))
	if err != nil {
		return nil, ErrUnreachable // what it says holds the address
	}
	req.Header.Set("User-Agent", "countersign")
	return req, nil
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
