package cmd_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/tools/client"
)

// soakVariable says for how long TestSoak goes on, such as 30m.
const (
	soakVariable = "COUNTERSIGN_SOAK"
	soakFor      = 3 * time.Second
	soakSamples  = 60
)

// TestSoak keeps one server at full load, and looks at its memory and its open
// files: neither grows. Memory is judged in soaks of a minute and more, where a
// collection falls between any two samples.
func TestSoak(t *testing.T) {
	const atOnce = 16
	lasts := soakFor
	if text := os.Getenv(soakVariable); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", soakVariable, err)
		}
	}
	server := shopServer(t, shop(t))
	server.Stderr = io.Discard
	session, err := client.Start(t.Context(), server, "soak")
	if err != nil {
		t.Fatal(err)
	}
	var calls, failed atomic.Int64
	until := time.Now().Add(lasts)
	ended := make(chan struct{}, atOnce)
	for n := range atOnce {
		go func() {
			defer func() { ended <- struct{}{} }()
			for i := n; time.Now().Before(until); i += atOnce {
				tool, arguments := mixedCall(n, i)
				if _, err := session.Call(t.Context(), tool, arguments); err != nil {
					failed.Add(1)
					return
				}
				calls.Add(1)
			}
		}()
	}
	var memory, files []int
	for range soakSamples {
		time.Sleep(lasts / soakSamples)
		memory = append(memory, kilobytes(t, server.Process.Pid))
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", server.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, len(open))
	}
	for range atOnce {
		<-ended
	}
	if err := session.Close(); err != nil || failed.Load() > 0 {
		t.Fatalf("%d calls, %d failed, %v", calls.Load(), failed.Load(), err)
	}
	third := soakSamples / 3
	t.Logf("%d calls in %v; resident memory of the first and the last third: at most %d and %d kB; open files: at most %d and %d",
		calls.Load(), lasts, most(memory[:third]), most(memory[2*third:]), most(files[:third]), most(files[2*third:]))
	if most(files[2*third:]) > most(files[:third]) {
		t.Errorf("open files grew: %v", files)
	}
	if lasts >= time.Minute && most(memory[2*third:]) > most(memory[:third])*6/5 {
		t.Errorf("resident memory grew by more than a fifth: %v kB", memory)
	}
}

// kilobytes is the resident memory of a process.
func kilobytes(t *testing.T, pid int) (kB int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(line, &kB); err != nil {
		t.Fatal(err)
	}
	return kB
}

func most(numbers []int) (largest int) {
	for _, n := range numbers {
		largest = max(largest, n)
	}
	return largest
}
