package tools_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/tools"
)

// The registry's own declarations: what every client loads, and what a model
// could be made to misuse. The tests walk both
// toolsets; the two about the seven tools walk tools.All.

// foreignKeywords are what some client or API refuses in a schema.
var foreignKeywords = regexp.MustCompile(`"(\$ref|\$defs|\$schema|\$id|oneOf|anyOf|allOf|patternProperties)"`)

// The input schemas are those of the Go structs.
func TestSchemas(t *testing.T) {
	for _, tool := range everyTool {
		t.Run(tool.Name, func(t *testing.T) {
			text, err := tools.DeriveSchema(tool)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "../schemas/input/"+tool.Name+".json", string(text)+"\n")
		})
	}
}

func TestSevenTools(t *testing.T) {
	var got []string
	for _, tool := range tools.All {
		arguments := []string{}
		for name, property := range schemaOf(t, tool).Properties {
			arguments = append(arguments, name)
			for inner := range property.Properties {
				arguments = append(arguments, name+"."+inner)
			}
		}
		slices.Sort(arguments)
		got = append(got, tool.Name+": "+string(tool.Role)+": "+strings.Join(arguments, " "))
	}
	equal(t, []string{
		"lookup_customer: viewer: ",
		"get_order: viewer: order_id",
		"track_shipment: viewer: order_id",
		"search_help_center: viewer: limit query",
		"update_shipping_address: staff: address address.city address.country address.line1 address.line2 address.postal_code" +
			" address.recipient address.region order_id",
		"issue_refund: staff: amount another currency order_id reason",
		"escalate_to_human: viewer: category order_id priority summary",
	}, got)
}

func TestToolListFitsItsBudget(t *testing.T) {
	type listed struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	var list []listed
	for _, tool := range tools.All {
		list = append(list, listed{tool.Name, tool.Description, tool.Schema()})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 5000 {
		t.Errorf("the tools take %d bytes of tools/list, more than 5000", len(text))
	}
}

func TestDeclarations(t *testing.T) {
	names := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, tool := range everyTool {
		t.Run(tool.Name, func(t *testing.T) {
			if !names.MatchString(tool.Name) {
				t.Error("the name isn't one that every client takes")
			}
			if n := strings.Count(tool.Description, ". ") + 1; n > 3 || len(tool.Description) >= 1024 {
				t.Errorf("the description has %d sentences and %d bytes", n, len(tool.Description))
			}
			if tool.Hint == "" {
				t.Error("there are no words to find it by")
			}
			// Claude Code rewrites characters such as an ellipsis before a model sees them.
			for _, text := range []string{tool.Description, tool.Hint} {
				if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
					t.Errorf("this isn't plain ASCII: %q", text[i:])
				}
			}
			if tool.ReadOnly && tool.Destructive {
				t.Error("it both only reads and destroys")
			}
			if found := foreignKeywords.Find(tool.Schema()); found != nil {
				t.Errorf("the schema holds %s", found)
			}
			if !bytes.HasPrefix(tool.Schema(), []byte("{")) {
				t.Error("the schema is no object")
			}
			closed(t, "", schemaOf(t, tool))
		})
	}
}

// namesSomebody are words of arguments that would let a model choose whom it
// acts for.
var namesSomebody = []string{
	"customer", "client", "user", "email", "mail", "phone", "account", "profile", "person", "owner", "buyer", "shopper", "contact", "member",
	"role", "token", "principal", "tenant", "session", "on_behalf", "as_", "key",
}

// closed checks that a schema's objects take nothing unknown and name no
// customer: that is for the operators to choose.
func closed(t *testing.T, path string, s schema) {
	t.Helper()
	if path == "" && s.Type != "object" {
		t.Errorf("the arguments are of type %q", s.Type)
	}
	if s.Type == "object" && (s.AdditionalProperties == nil || *s.AdditionalProperties) {
		t.Errorf("the object %q takes unknown fields", path)
	}
	for name, property := range s.Properties {
		for _, word := range namesSomebody {
			if strings.Contains(name, word) {
				t.Errorf("the argument %s%s lets the model choose a %s", path, name, word)
			}
		}
		closed(t, path+name+".", property)
	}
	if s.Items != nil {
		closed(t, path+"[].", *s.Items)
	}
}

func TestOnlyRefundAndAddressDestroy(t *testing.T) {
	var got []string
	for _, tool := range everyTool {
		if tool.Destructive {
			got = append(got, tool.Name)
		}
	}
	equal(t, []string{"update_shipping_address", "issue_refund"}, got)
}
