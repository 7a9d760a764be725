package evals_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"countersign/evals"
)

// Whatever was played can be recorded, and the recording be played: also where the
// ids of approvals and tickets are others the next time.
func TestRecordingsOfTrialsReplay(t *testing.T) {
	runner := newRunner(t, evals.NewReplay(evals.Recordings()), nil)
	for _, s := range scenarios(t) {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			recording, err := evals.Record(runner.Run(t.Context(), s), "model-1")
			check(t, err)
			text, err := recording.YAML()
			check(t, err)
			read, err := evals.ReadRecording(text)
			if err != nil || read.Source != "model-1" {
				t.Fatalf("%v\n%s", err, text)
			}
			again := runner.With(evals.NewReplay(fstest.MapFS{s.ID + ".yaml": {Data: text}}))
			for _, problem := range failures(again.Run(t.Context(), s)) {
				t.Errorf("%s\n%s", problem, text)
			}
		})
	}
}

func TestRecordRefuses(t *testing.T) {
	good := evals.Turn{Message: "Hello?", Reply: "Yes?"}
	for _, row := range []struct {
		trial evals.Result
		want  string
	}{
		{evals.Result{Fault: "it broke", Turns: []evals.Turn{good}}, "came to its end"},
		{evals.Result{}, "came to its end"},
		{evals.Result{Turns: []evals.Turn{{Reply: "You get ${amount}."}}}, "can't be recorded"},
		{evals.Result{Turns: []evals.Turn{{Calls: []evals.Call{{Tool: "get_order", Args: []int{1}}}, Reply: "Yes?"}}}, "get_order: its arguments"},
	} {
		if _, err := evals.Record(row.trial, "model-1"); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %q", row.trial, err, row.want)
		}
	}
}
