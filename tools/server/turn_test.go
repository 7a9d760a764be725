package server

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTurn(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*turn) // with the turn in hand
		takes  time.Duration
		kept   bool
	}{
		{"a short call", func(*turn) {}, patience / 2, true},
		{"a long call", func(*turn) {}, 2*patience + 1, false},
		{"a long call after a short one", func(own *turn) { during(own, 1, patience/2) }, 3 * patience, false},
		{"a short call after a quiet time", func(own *turn) { during(own, 1, 0); time.Sleep(time.Hour) }, patience / 2, true},
		{"a long call after a quiet time", func(own *turn) { during(own, 1, 0); time.Sleep(time.Hour) }, 3 * patience, false},
		{"a long call after many", func(own *turn) {
			for n := range int64(1000) {
				during(own, n+1, patience/3)
			}
		}, 3 * patience, false},
		{"a long call as the watch ends", func(own *turn) { during(own, 1, 0); time.Sleep(quietLooks*patience - 1) }, 3 * patience, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				taken := 0
				var own *turn
				own = newTurn(func() {
					for own.wait() {
						taken++
					}
				})
				defer own.end()
				c.before(own)
				if kept := during(own, 5000, c.takes); kept != c.kept {
					t.Errorf("it was kept: %t, want %t", kept, c.kept)
				}
				time.Sleep(time.Hour) // the watch ends, or this test doesn't
				synctest.Wait()
				if took := taken == 1; took == c.kept || taken > 1 {
					t.Errorf("others had it %d times", taken)
				}
			})
		})
	}
}

// during makes a call of a length with the turn in hand, and reports whether it
// still was at its end.
func during(own *turn, call int64, takes time.Duration) bool {
	own.keep(call)
	time.Sleep(takes)
	return own.kept(call)
}
