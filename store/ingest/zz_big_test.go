package ingest_test
import ("testing";"context";"bufio";"fmt";"os";"runtime";"strings";"time";"countersign/store";"countersign/store/ingest";"countersign/store/storetest")
func TestBig(t *testing.T) {
	f,_ := os.Create(t.TempDir()+"/big"); w:=bufio.NewWriter(f)
	lines := strings.Split(strings.TrimSpace(retail(t)),"\n")
	n:=0
	for k:=0; n<1000000; k++ { for _,l := range lines { 
		l=strings.ReplaceAll(l, `"#W`, fmt.Sprintf(`"#W%d-`,k)); if strings.Contains(l,`"type":"customer"`) { l=strings.Replace(l,`"id":"`,fmt.Sprintf(`"id":"%d_`,k),1)}
		l=strings.Replace(l,`"customer_id":"`,fmt.Sprintf(`"customer_id":"%d_`,k),1)
		fmt.Fprintln(w,l); n++ } }
	w.Flush(); st,_:=f.Stat(); f.Seek(0,0)
	db := storetest.New(t)
	t0:=time.Now()
	b,err := ingest.Read(f, db.Now()); check(t,err)
	runtime.GC(); var m runtime.MemStats; runtime.ReadMemStats(&m)
	t.Logf("%d lines %d MB read in %v, heap %d MB, sys %d MB", n, st.Size()>>20, time.Since(t0), m.HeapAlloc>>20, m.Sys>>20)
	t0=time.Now()
	check(t, db.Tx(context.Background(), func(tx *store.Tx) error { r,err := b.Store(tx, ingest.Options{}); t.Log(r.Total(), len(r.Problems)); return err }))
	runtime.ReadMemStats(&m)
	t.Logf("stored in %v sys %d MB", time.Since(t0), m.Sys>>20)
	t0=time.Now()
	check(t, db.Tx(context.Background(), func(tx *store.Tx) error { r,err := b.Store(tx, ingest.Options{}); t.Log(r.Total()); return err }))
	t.Logf("again %v", time.Since(t0))
}
