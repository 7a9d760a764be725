package push

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"countersign/store"
)

// What is wrong with a receiver. Errors hold nothing of its address or answer.
var (
	ErrUnreachable = errors.New("it can't be reached")
	ErrTimeout     = errors.New("it doesn't answer in time")
	ErrRefused     = errors.New("it doesn't take it")
)

const (
	// GiveUpAfter is how long a push is tried again.
	GiveUpAfter = 24 * time.Hour

	connectFor = 5 * time.Second
	attemptFor = 10 * time.Second
	// claimFor is how long a push is one process's: longer than it tries, and not
	// so long that what a killed one left comes late.
	claimFor = 2 * attemptFor

	firstPause   = 5 * time.Second
	longestPause = time.Hour
)

// A Courier delivers what is in an outbox to targets.
type Courier struct {
	DB      *store.DB
	Targets []Target
	// Failed, if set, is told of each push that wasn't delivered; of one to "" where
	// the outbox itself can't be worked on.
	Failed func(target, id string, why error)

	rounds sync.WaitGroup
	began  sync.Once
	end    context.CancelFunc
	last   chan struct{} // closed: no further push is begun
	wake   []chan struct{}
}

// client sends all pushes. A redirect could lead a secret, or this process,
// anywhere: none is followed.
var client = sync.OnceValue(func() *http.Client {
	dialer := &net.Dialer{Timeout: connectFor}
	return &http.Client{
		Timeout:       attemptFor,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: connectFor,
			DisableKeepAlives: true, ForceAttemptHTTP2: true,
		},
	}
})

// DeliverDue tries what is due, of each target at most a number, until one fails
// or ctx is done. It is for a program that ends soon.
func (c *Courier) DeliverDue(ctx context.Context, most int) {
	for _, t := range c.Targets {
		c.rounds.Go(func() {
			for range most {
				if done, err := c.deliver(ctx, t); !done || err != nil {
					return
				}
			}
		})
	}
	c.rounds.Wait()
}

// deliver tries the push of a target that has been due longest, and reports
// whether there was one.
func (c *Courier) deliver(ctx context.Context, t Target) (tried bool, err error) {
	p, err := c.take(ctx, t)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		c.failed("", "", err)
		return false, err
	}
	sent := send(ctx, t, p, c.DB.Now())
	stopped := errors.Is(ctx.Err(), context.Canceled)
	err = c.DB.Tx(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		switch {
		case sent == nil:
			return tx.RemovePush(p)
		case stopped: // by who runs this process, not by the receiver
			return tx.PutOffPush(p, tx.Now)
		}
		return tx.PutOffPush(p, tx.Now.Add(pause(p.Attempts, sent)))
	})
	if sent != nil && !stopped {
		c.failed(t.Name, p.ID, sent)
	}
	if err != nil { // it is sent again once the claim is over
		c.failed("", "", err)
	}
	return true, errors.Join(sent, err)
}

// take claims a due push. Looking comes first: it holds nobody up.
func (c *Courier) take(ctx context.Context, t Target) (p store.Push, err error) {
	err = c.DB.View(ctx, func(v *store.View) error {
		_, err := v.DuePush(t.Name)
		return err
	})
	if err != nil {
		return p, err
	}
	err = c.DB.Tx(ctx, func(tx *store.Tx) error {
		p, err = tx.TakePush(t.Name, tx.Now.Add(claimFor), tx.Now.Add(-GiveUpAfter))
		if errors.Is(err, store.ErrNotFound) {
			p = store.Push{}
			return nil // what wasn't worth it is gone
		}
		return err
	})
	if err == nil && p.ID == "" {
		err = store.ErrNotFound
	}
	return p, err
}

// pause is how long a push waits after so many attempts, of which the last failed.
func pause(attempts int, failure error) time.Duration {
	if no := (refusal{}); errors.As(failure, &no) && no.lasting {
		return longestPause
	}
	d := firstPause
	for range min(attempts-1, 20) {
		d *= 2
	}
	return min(d, longestPause)
}

// send makes one attempt.
func send(ctx context.Context, t Target, p store.Push, now time.Time) error {
	req, err := t.request(ctx, p, now)
	if err != nil {
		return err
	}
	res, err := client().Do(req)
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return ErrTimeout
	case err != nil:
		return ErrUnreachable
	}
	_ = res.Body.Close() // what it says doesn't matter
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return refusal{res.StatusCode, t.refusesForGood(res.StatusCode)}
	}
	return nil
}

// refusal is an [ErrRefused] with the status.
type refusal struct {
	status  int
	lasting bool // until somebody mends the address or the token
}

func (r refusal) Error() string { return fmt.Sprintf("%s: status %d", ErrRefused, r.status) }

func (r refusal) Unwrap() error { return ErrRefused }

// refusesForGood reports whether a status means the same in a moment. ntfy says
// what it means, and shuts an address out for a while that fails too often to
// authenticate; of a webhook nobody knows.
func (t Target) refusesForGood(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return t.Name == Ntfy && status >= 400 && status < 500
}

func (c *Courier) failed(target, id string, why error) {
	if c.Failed != nil && !errors.Is(why, context.Canceled) {
		c.Failed(target, id, why)
	}
}
