package api

import (
	_ "embed"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	"countersign/evals"
)

// tokens are counts, as they are kept.
type tokens struct {
	Requests   int64 `json:"requests"`
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheWrite int64 `json:"cache_write"`
	CacheRead  int64 `json:"cache_read"`
}

func (t *tokens) add(u anthropic.Usage) {
	t.Input, t.Output = t.Input+u.InputTokens, t.Output+u.OutputTokens
	t.CacheWrite, t.CacheRead = t.CacheWrite+u.CacheCreationInputTokens, t.CacheRead+u.CacheReadInputTokens
}

//go:embed prices.json
var pricesText []byte

// prices are USD for a million tokens, by model.
var prices = func() map[string]price {
	var list struct {
		Source, Read string
		Models       map[string]price
	}
	if err := json.Unmarshal(pricesText, &list); err != nil {
		panic(err) // the file is part of the program
	}
	return list.Models
}()

type price struct {
	Input      float64 `json:"input"`
	CacheWrite float64 `json:"cache_write"` // kept for five minutes, as ours are
	CacheRead  float64 `json:"cache_read"`
	Output     float64 `json:"output"`
}

// priced is what tokens cost, where a price of the model is known.
func priced(model string, t tokens) evals.Usage {
	u := evals.Usage{Requests: t.Requests, Input: t.Input, Output: t.Output, CacheWrite: t.CacheWrite, CacheRead: t.CacheRead}
	if p, known := prices[model]; known {
		cost := (float64(t.Input)*p.Input + float64(t.Output)*p.Output + float64(t.CacheWrite)*p.CacheWrite + float64(t.CacheRead)*p.CacheRead) / 1e6
		u.CostUSD = &cost
	}
	return u
}
