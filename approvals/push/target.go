// Package push tells people that something starts to wait for them: by an ntfy
// topic, by a webhook, or by both. It takes from the store's outbox what is to be
// told, so that nothing is lost where a receiver or this process is down.
package push

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// The names of targets.
const (
	Ntfy    = "ntfy"
	Webhook = "webhook"
)

// A Target is somebody who is told. Its address is a secret: who knows an ntfy
// topic reads along.
type Target struct {
	Name    string
	address string
	token   string // ntfy's; "" for none
	key     []byte // what a webhook's messages are signed with; nil for none
}

// Targets returns the targets that environment variables name. The error names
// the variable, never its value.
func Targets(env func(string) string) (targets []Target, err error) {
	const ntfy, token, hook, secret = "COUNTERSIGN_NTFY_URL", "COUNTERSIGN_NTFY_TOKEN", "COUNTERSIGN_WEBHOOK_URL", "COUNTERSIGN_WEBHOOK_SECRET"
	if strings.ContainsFunc(env(token), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%s holds a character that no token has", token)
	}
	key, err := signingKey(env(secret))
	if err != nil {
		return nil, fmt.Errorf("%s %w", secret, err)
	}
	for _, t := range []struct {
		variable string
		Target
	}{
		{ntfy, Target{Name: Ntfy, token: env(token)}},
		{hook, Target{Name: Webhook, key: key}},
	} {
		t.address = env(t.variable)
		if t.address == "" {
			continue
		}
		if !isAddress(t.address) {
			return nil, fmt.Errorf("%s isn't an address that starts with http:// or https://", t.variable)
		}
		if t.Name == Ntfy && !endsInTopic(t.address) {
			return nil, fmt.Errorf("%s doesn't end in a topic, as https://ntfy.sh/topic does: 1 to 64 letters, digits, - and _", t.variable)
		}
		targets = append(targets, t.Target)
	}
	return targets, nil
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// topic is what ntfy takes as one. To compile it takes a start over a millisecond.
var topic = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`) })

func endsInTopic(address string) bool {
	u, err := url.Parse(address)
	return err == nil && topic().MatchString(u.Path[strings.LastIndex(u.Path, "/")+1:])
}

// signingKey reads a secret as Standard Webhooks has them: base64 after whsec_.
// Any other text is itself the key.
func signingKey(secret string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, errors.New("starts with whsec_, but what follows isn't base64")
	}
	return key, nil
}

// Names returns the names of targets, as [store.Options] takes them.
func Names(targets []Target) (names []string) {
	for _, t := range targets {
		names = append(names, t.Name)
	}
	return names
}
