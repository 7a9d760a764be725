package server_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/tools"
)

// The instructions name the tools that there are, no others, and are short.
func TestInstructionsAreForTheToolsThatThereAre(t *testing.T) {
	d := openDemo(t)
	everyTool := slices.Concat(tools.All, tools.Human)
	word := regexp.MustCompile(`[a-z]+(_[a-z]+)+`)
	for names, mustName := range map[string][]string{
		"support":       {"lookup_customer", "get_order", "escalate_to_human"},
		"human":         {"request_human", "check_request", "<written to .env; use ${NAME}>"},
		"support,human": {"lookup_customer", "escalate_to_human", "request_human", "check_request", "secret"},
		"human,support": {"lookup_customer", "request_human"},
	} {
		list, err := tools.Toolsets(names)
		if err != nil {
			t.Fatal(err)
		}
		x, y := d.serveTools(t, list, staff("C-1001")), d.serveTools(t, list, staff("C-1001"))
		for _, found := range []answer{x.begin(), y.ask("server/discover", `{`+modern+`}`)} {
			text := parsed[struct{ Instructions string }](t, found.Result).Instructions
			if text == "" || len(text) > 1500 {
				t.Errorf("%s: %d bytes of instructions", names, len(text))
			}
			for _, want := range mustName {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s isn't named", names, want)
				}
			}
			for _, name := range word.FindAllString(text, -1) {
				named := func(tool *tools.Tool) bool { return tool.Name == name }
				if slices.ContainsFunc(everyTool, named) && !slices.ContainsFunc(list, named) {
					t.Errorf("%s: %s is named, and isn't there", names, name)
				}
			}
		}
	}
}
