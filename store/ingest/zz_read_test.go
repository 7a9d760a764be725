package ingest_test
import ("testing";"strings";"countersign/store/ingest";"countersign/store/storetest")
func BenchmarkRead(b *testing.B) { text := retail(b); b.SetBytes(int64(len(text))); b.ReportAllocs(); for b.Loop() { ingest.Read(strings.NewReader(text), storetest.Start) } }
