package cmd_test

import (
	"regexp"
	"strconv"
	"testing"
)

// Clients start a server for each session: tables and patterns are made when they
// are first needed, which takes memory, and that can be counted.
func TestNothingIsBuiltAtStart(t *testing.T) {
	out, err := program(t, "countersign-mcp", []string{"GODEBUG=inittrace=1"}, "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	const most = 12000
	inits := regexp.MustCompile(`(?m)^init (countersign/\S+) .* (\d+) bytes,`).FindAllStringSubmatch(string(out), -1)
	for _, found := range inits {
		if bytes, _ := strconv.Atoi(found[2]); bytes > most {
			t.Errorf("%s takes %d bytes before anybody called it; at most %d are for small tables", found[1], bytes, most)
		}
	}
	if len(inits) < 5 {
		t.Errorf("%d packages were seen:\n%s", len(inits), out)
	}
}
