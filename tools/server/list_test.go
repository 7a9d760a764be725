package server_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/tools"
)

// The list holds each tool's hint where Claude Code's search looks for it.
func TestListHoldsHints(t *testing.T) {
	x := openDemo(t).serve(t, staff("C-1001"))
	x.begin()
	got, want := map[string]string{}, map[string]string{}
	type list struct {
		Tools []struct {
			Name string
			Meta map[string]string `json:"_meta"`
		}
	}
	for _, tool := range parsed[list](t, x.ask("tools/list", `{}`).Result).Tools {
		got[tool.Name] = tool.Meta["anthropic/searchHint"]
	}
	for _, tool := range tools.All {
		want[tool.Name] = tool.Hint
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
