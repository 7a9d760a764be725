package cmd_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// goPackage is what this test reads of `go list -json`.
type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) map[string]goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", "countersign/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]goPackage{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	return all
}

// layers are our packages and the ones of ours that each may import.
var layers = map[string][]string{
	"countersign/policy/money":      {},
	"countersign/policy":            {"countersign/policy/money"},
	"countersign/store/lexis":       {},
	"countersign/store/strictjson":  {},
	"countersign/store":             {"countersign/policy", "countersign/policy/money", "countersign/store/lexis"},
	"countersign/store/ingest":      {"countersign/policy", "countersign/policy/money", "countersign/store", "countersign/store/lexis", "countersign/store/strictjson"},
	"countersign/store/storetest":   {"countersign/store", "countersign/store/ingest"},
	"countersign/fixtures":          {"countersign/policy", "countersign/store", "countersign/store/ingest"},
	"countersign/audit":             {"countersign/policy", "countersign/policy/money", "countersign/store"},
	"countersign/approvals/envfile": {},
	"countersign/approvals/push":    {"countersign/store"},
	"countersign/approvals":         {"countersign/approvals/envfile", "countersign/policy", "countersign/store"},
	"countersign/tools":             {"countersign/approvals", "countersign/approvals/envfile", "countersign/audit", "countersign/policy", "countersign/policy/money", "countersign/store", "countersign/store/lexis", "countersign/store/strictjson"},
	"countersign/tools/settle":      {"countersign/approvals", "countersign/audit", "countersign/policy", "countersign/policy/money", "countersign/store", "countersign/tools"},
	"countersign/tools/server":      {"countersign/policy", "countersign/tools"},
	"countersign/tools/client":      {},
	"countersign/evals": {"countersign/approvals", "countersign/approvals/envfile", "countersign/audit", "countersign/evals/leaks", "countersign/fixtures", "countersign/policy", "countersign/policy/money", "countersign/store", "countersign/store/ingest",
		"countersign/tools", "countersign/tools/client", "countersign/tools/server", "countersign/tools/settle"},
	"countersign/evals/api":                      {"countersign/evals", "countersign/tools/client"},
	"countersign/evals/api/apitest":              {},
	"countersign/evals/leaks":                    {},
	"countersign/evals/claude":                   {"countersign/evals"},
	"countersign/cmd/internal/clientconfig":      {},
	"countersign/cmd/countersign/internal/inbox": {"countersign/approvals", "countersign/policy", "countersign/store", "countersign/tools", "countersign/tools/settle"},
	"countersign/cmd/internal/setup":             {"countersign/approvals/envfile", "countersign/approvals/push", "countersign/fixtures", "countersign/policy", "countersign/store", "countersign/tools"},
}

// isProgram reports whether a package is one of the programs.
func isProgram(path string) bool {
	return strings.HasPrefix(path, "countersign/cmd/countersign") && !strings.Contains(path, "/internal/")
}

func TestDependenciesPointOneWay(t *testing.T) {
	for path, p := range packages(t) {
		if !strings.HasPrefix(path, "countersign/") || path == "countersign/cmd" || isProgram(path) {
			continue
		}
		allowed, known := layers[path]
		if !known {
			t.Errorf("%s has no place in the layers", path)
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "countersign/") && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}

// TestServerCannotDecide proves that no code that decides an approval is linked
// into the server.
func TestServerCannotDecide(t *testing.T) {
	all := packages(t)
	if server := all["countersign/cmd/countersign-mcp"]; slices.Contains(server.Deps, "countersign/tools/settle") {
		t.Error("countersign-mcp reaches tools/settle")
	}
	if cli := all["countersign/cmd/countersign"]; !slices.Contains(cli.Deps, "countersign/tools/settle") {
		t.Error("countersign doesn't reach tools/settle: this test looks for the wrong name")
	}
}

// TestServerHasNoScreen proves that nothing of a terminal's user interface is
// linked into the server.
func TestServerHasNoScreen(t *testing.T) {
	all := packages(t)
	charm := func(dep string) bool { return strings.HasPrefix(dep, "charm.land/") }
	if slices.ContainsFunc(all["countersign/cmd/countersign-mcp"].Deps, charm) {
		t.Error("countersign-mcp reaches the terminal's libraries")
	}
	if !slices.ContainsFunc(all["countersign/cmd/countersign"].Deps, charm) {
		t.Error("countersign doesn't reach them: this test looks for the wrong name")
	}
}

// TestProgramsForPeopleReachNoModel proves that the API's client is linked into the
// evals and nothing else.
func TestProgramsForPeopleReachNoModel(t *testing.T) {
	for path, p := range packages(t) {
		if !strings.HasPrefix(path, "countersign/cmd/countersign") {
			continue
		}
		reaches := slices.ContainsFunc(p.Deps, func(dep string) bool { return strings.HasPrefix(dep, "github.com/anthropics/") })
		if wanted := path == "countersign/cmd/countersign-evals"; reaches != wanted {
			t.Errorf("%s reaches the API's client: %v, want %v", path, reaches, wanted)
		}
	}
}

// TestRulesAndRecordsReachNoNetwork proves that what decides, keeps and records
// can't call anybody.
func TestRulesAndRecordsReachNoNetwork(t *testing.T) {
	all := packages(t)
	for _, path := range []string{"policy", "store", "audit", "approvals"} {
		if slices.Contains(all["countersign/"+path].Deps, "net") {
			t.Errorf("%s reaches net", path)
		}
	}
	for _, path := range []string{"tools", "tools/settle"} { // to which a library brings net's types
		if slices.Contains(all["countersign/"+path].Deps, "net/http") {
			t.Errorf("%s reaches net/http", path)
		}
	}
	if !slices.Contains(all["countersign/approvals/push"].Deps, "net/http") {
		t.Error("approvals/push doesn't reach net/http: this test looks for the wrong name")
	}
}

func TestOnlyOnePackageKnowsEachTrade(t *testing.T) {
	for trade, owners := range map[string][]string{
		"database/sql":                               {"countersign/store"},
		"github.com/mattn/go-sqlite3":                {"countersign/store"},
		"github.com/modelcontextprotocol/go-sdk/mcp": {"countersign/tools/server", "countersign/tools/client"},
		"github.com/spf13/cobra":                     {"countersign/cmd/countersign"},
		"charm.land/bubbletea/v2":                    {"countersign/cmd/countersign/internal/inbox"},
		"github.com/anthropics/anthropic-sdk-go":     {"countersign/evals/api"},
	} {
		var users []string
		for path, p := range packages(t) {
			if strings.HasPrefix(path, "countersign/") && slices.Contains(p.Imports, trade) {
				users = append(users, path)
			}
		}
		slices.Sort(users)
		slices.Sort(owners)
		if !slices.Equal(users, owners) {
			t.Errorf("%s is imported by %v instead of %v", trade, users, owners)
		}
	}
}
