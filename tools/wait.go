package tools

import (
	"context"
	"sync"
	"time"

	"countersign/store"
)

const (
	// lookEvery is how often a waiting call looks whether a human has decided.
	lookEvery = 200 * time.Millisecond
	// tellEvery is how often its client hears that it still waits.
	tellEvery = time.Second
	// mostWaiting is how many calls of one process wait at the same time; further
	// ones are answered at once, so that other calls find room.
	mostWaiting = 16
)

// waiting are the calls that wait for a human.
type waiting struct {
	seats chan struct{}
	over  chan struct{} // closed: nobody waits any more
	end   *sync.Once
}

func newWaiting() waiting {
	return waiting{seats: make(chan struct{}, mostWaiting), over: make(chan struct{}), end: new(sync.Once)}
}

// StopWaiting lets all calls that wait for a human go on at once with what there
// is, and those to come too: the client has hung up.
func (d *Desk) StopWaiting() { d.waiting.end.Do(func() { close(d.waiting.over) }) }

// await waits until there is nothing to wait for any more, at most as long as
// the call allows. It holds nothing of the database meanwhile. Whether the call
// may be made at all is looked up each time, and said afterwards.
func (d *Desk) await(ctx context.Context, c *call) {
	most := d.waitsFor(ctx, c)
	if most <= 0 {
		return
	}
	select {
	case d.waiting.seats <- struct{}{}:
		defer func() { <-d.waiting.seats }()
	default:
		return
	}
	began, told := time.Now(), time.Time{}
	end := time.NewTimer(most)
	defer end.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if now := time.Now(); c.caller.Progress != nil && now.Sub(told) >= tellEvery {
			told = now
			c.caller.Progress(now.Sub(began), most)
		}
		select {
		case <-ctx.Done():
			return
		case <-d.waiting.over:
			return
		case <-end.C:
			return
		case <-tick.C:
		}
		if d.waitsFor(ctx, c) <= 0 {
			return
		}
	}
}

// waitsFor returns how long a call would wait at this moment; zero also for one
// that will be refused.
func (d *Desk) waitsFor(ctx context.Context, c *call) (most time.Duration) {
	if c.tool == nil || c.tool.wait == nil {
		return 0
	}
	look := *c
	res := d.guard(&look, func() Result {
		err := d.db.View(ctx, func(v *store.View) error {
			err := d.admit(v, &look)
			if err == nil {
				most, err = look.tool.wait(&look.scope, look.args)
			}
			return err
		})
		if err != nil {
			return failed(err)
		}
		return Result{}
	})
	if res.IsError {
		return 0
	}
	return most
}
