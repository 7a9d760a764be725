package push

import (
	"context"
	"errors"
	"time"

	"countersign/store"
)

const (
	// lookEvery is how often a courier that waits looks for what other processes left.
	lookEvery = 5 * time.Minute
	// finishFor is how long what is on its way may take once the process is to end.
	finishFor = 400 * time.Millisecond
)

// Prepare lets [Courier.Wake] be called from any goroutine. Nothing is sent
// before [Courier.Begin].
func (c *Courier) Prepare() {
	c.last = make(chan struct{})
	for range c.Targets {
		c.wake = append(c.wake, make(chan struct{}, 1))
	}
}

// Wake tells that something was put into the outbox.
func (c *Courier) Wake() {
	for _, wake := range c.wake {
		select {
		case wake <- struct{}{}:
		default: // it is told already
		}
	}
}

// Begin starts to deliver, for each target in a goroutine that ends with
// [Courier.End]. Further calls do nothing.
func (c *Courier) Begin() {
	c.began.Do(func() {
		var ctx context.Context
		ctx, c.end = context.WithCancel(context.Background())
		for i, t := range c.Targets {
			c.rounds.Go(func() { c.deliverFrom(ctx, t, c.wake[i]) })
		}
	})
}

// End lets what is on its way arrive for a moment, stops, and returns once
// nothing runs any more. What wasn't delivered stays in the outbox.
func (c *Courier) End() {
	c.began.Do(func() { c.end = func() {} }) // it never will
	close(c.last)
	late := time.AfterFunc(finishFor, c.end)
	defer late.Stop()
	c.rounds.Wait()
	c.end()
}

// deliverFrom delivers to one target, whenever something is due, until the end.
func (c *Courier) deliverFrom(ctx context.Context, t Target, wake <-chan struct{}) {
	for {
		tried, err := true, error(nil)
		for tried && err == nil && ctx.Err() == nil {
			tried, err = c.deliver(ctx, t)
		}
		timer := time.NewTimer(c.nextRound(ctx, t, err))
		select {
		case <-wake:
		case <-timer.C:
		case <-c.last:
			timer.Stop()
			select {
			case <-wake: // this came just before
				_, _ = c.deliver(ctx, t)
			default:
			}
			return
		}
		timer.Stop()
	}
}

// nextRound is how long to wait after a round that ended with an error, or nil.
func (c *Courier) nextRound(ctx context.Context, t Target, failure error) time.Duration {
	if failure != nil {
		return firstPause
	}
	wait := lookEvery
	err := c.DB.View(ctx, func(v *store.View) error {
		due, err := v.NextPush(t.Name)
		if err == nil {
			wait = min(wait, max(due.Sub(v.Now), 0))
		}
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return lookEvery
	}
	return wait
}
