package ingest_test

import (
	"strings"
	"testing"

	"countersign/store/ingest"
	"countersign/store/storetest"
)

// FuzzRead looks for panics and for problems that repeat personal data. None of
// our own words hold an @ or anything beyond ASCII, so neither may a problem.
func FuzzRead(f *testing.F) {
	f.Add(goodLines)
	f.Add("\ufeff" + spoil(goodLines, "\n", "\r\n"))
	for _, row := range badLines() {
		if len(row.line) < 10_000 {
			f.Add(spoil(row.line+" ", " ", "", "Ada", "Zoë@home", "C-1", "zoë@home", "S", "Zoë@home"))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		batch, err := ingest.Read(strings.NewReader(text), storetest.Start)
		check(t, err)
		for _, p := range batch.Problems() {
			if strings.ContainsFunc(p.String(), func(r rune) bool { return r == '@' || r < ' ' || r > '~' }) {
				t.Errorf("a problem repeats the file: %q", p.String())
			}
			if p.Line < 1 || p.Line > strings.Count(text, "\n")+1 {
				t.Errorf("no such line: %v", p)
			}
		}
	})
}
