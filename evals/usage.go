package evals

import (
	"fmt"
	"strings"
)

// Usage is what an agent's model took, in tokens.
type Usage struct {
	Requests   int64 `json:"requests"`
	Input      int64 `json:"input_tokens"` // beside what the cache gave and took
	Output     int64 `json:"output_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	// CostUSD is nil where no price is known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// A Spender is a conversation that knows what it took so far.
type Spender interface{ Usage() Usage }

// Add returns the sum of two. Its cost is known where both are, and nothing costs
// nothing.
func (u Usage) Add(other Usage) Usage {
	sum := Usage{u.Requests + other.Requests, u.Input + other.Input, u.Output + other.Output,
		u.CacheWrite + other.CacheWrite, u.CacheRead + other.CacheRead, nil}
	switch {
	case u == Usage{}:
		sum.CostUSD = other.CostUSD
	case other == Usage{}:
		sum.CostUSD = u.CostUSD
	case u.CostUSD != nil && other.CostUSD != nil:
		cost := *u.CostUSD + *other.CostUSD
		sum.CostUSD = &cost
	}
	return sum
}

// String is all of it, for a total.
func (u Usage) String() string {
	text := fmt.Sprintf("%d requests, tokens: %d in, %d out, cache: %d written, %d read", u.Requests, u.Input, u.Output, u.CacheWrite, u.CacheRead)
	if u.CostUSD == nil {
		return text
	}
	return fmt.Sprintf("%s; about %.2f USD", text, *u.CostUSD)
}

// short is a column's width of it: tokens in, tokens out, cost.
func (u Usage) short() string {
	text := thousands(u.Input+u.CacheWrite+u.CacheRead) + " in " + thousands(u.Output) + " out"
	if u.CostUSD != nil {
		text += fmt.Sprintf(" $%.3f", *u.CostUSD)
	}
	return text
}

// thousands is a count in three or four characters.
func thousands(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
}
