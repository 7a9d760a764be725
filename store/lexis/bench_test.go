package lexis_test

import (
	"strings"
	"testing"

	"countersign/store/lexis"
)

func BenchmarkCount(b *testing.B) {
	for name, body := range map[string]string{
		"ascii":    strings.Repeat("Items can be sent back within 30 days of delivery, in their box. ", 30),
		"english":  strings.Repeat("We don’t refund gift-wrapping; items were delivered within 30 days. ", 30),
		"german":   strings.Repeat("Die Rücksendekosten für Großgeräte übernehmen wir. ", 40),
		"japanese": strings.Repeat("商品到着後30日以内であれば返品できます。", 50),
		"one word": strings.Repeat("é", 100_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				lexis.Count("Returns & refunds", body)
			}
		})
	}
}
