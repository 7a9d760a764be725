package evals

import (
	"cmp"
	"context"
	"sync"
)

// ScenarioReport is what came of a scenario over its trials.
type ScenarioReport struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Category string   `json:"category"`
	Skipped  string   `json:"skipped,omitempty"`
	Passed   int      `json:"passed"` // trials
	Usage    *Usage   `json:"usage,omitempty"`
	Trials   []Result `json:"trials"`
}

// Report is what a suite gave.
type Report struct {
	Agent     string           `json:"agent"`
	Scenarios []ScenarioReport `json:"scenarios"`
	Passed    int              `json:"passed"` // scenarios of which every trial passed
	Failed    int              `json:"failed"`
	Skipped   int              `json:"skipped"`
	Score     int              `json:"score"` // checks
	Checks    int              `json:"checks"`
	Usage     *Usage           `json:"usage,omitempty"` // of an agent that has a model and counts
	// PassHat is pass^k for k from 1 to the number of trials: the chance that k
	// trials of a scenario, drawn at random, all pass, over the scenarios.
	PassHat []float64 `json:"pass_hat"`
}

// RunAll plays every scenario repeat times, parallel trials at once, and calls
// progress, if it isn't nil, after each.
func (r *Runner) RunAll(ctx context.Context, scenarios []Scenario, repeat, parallel int, progress func(done, total int, last Result)) Report {
	report := Report{Agent: r.agent.Name(), Scenarios: make([]ScenarioReport, len(scenarios)), PassHat: make([]float64, repeat)}
	type trial struct{ scenario, number int }
	trials := make(chan trial)
	var workers sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i, s := range scenarios {
		report.Scenarios[i] = ScenarioReport{ID: s.ID, Title: s.Title, Category: s.Category, Trials: make([]Result, repeat)}
	}
	for range min(max(parallel, 1), len(scenarios)*repeat) {
		workers.Go(func() {
			for t := range trials {
				result := r.Run(ctx, scenarios[t.scenario])
				mu.Lock()
				report.Scenarios[t.scenario].Trials[t.number] = result
				if done++; progress != nil {
					progress(done, len(scenarios)*repeat, result)
				}
				mu.Unlock()
			}
		})
	}
	for number := range repeat {
		for i := range scenarios {
			trials <- trial{i, number}
		}
	}
	close(trials)
	workers.Wait()
	report.count()
	return report
}

func (r *Report) count() {
	played := 0
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		if s.Skipped = s.Trials[0].Skipped; s.Skipped != "" {
			r.Skipped++
			continue
		}
		played++
		for _, t := range s.Trials {
			if t.Passed {
				s.Passed++
			}
			s.Usage, r.Usage = plus(s.Usage, t.Usage), plus(r.Usage, t.Usage)
			r.Score, r.Checks = r.Score+t.Score, r.Checks+len(t.Checks)
		}
		if s.Passed == len(s.Trials) {
			r.Passed++
		} else {
			r.Failed++
		}
		for k := range r.PassHat {
			r.PassHat[k] += drawn(s.Passed, k+1) / drawn(len(s.Trials), k+1)
		}
	}
	for k := range r.PassHat {
		r.PassHat[k] /= float64(max(played, 1))
	}
}

// plus adds to a sum that there may not be.
func plus(sum, more *Usage) *Usage {
	if sum == nil || more == nil {
		return cmp.Or(sum, more)
	}
	total := sum.Add(*more)
	return &total
}

// drawn is how many ways there are to draw k of n.
func drawn(n, k int) float64 {
	ways := 1.0
	for i := range k {
		ways *= float64(n-i) / float64(i+1)
	}
	return max(ways, 0)
}
