package evals_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// lineClient is a client that writes its lines by hand.
type lineClient struct {
	t        *testing.T
	in       io.Writer
	out      *bufio.Reader
	meta     string // of every request, as members of an object
	progress int    // notifications
	id       int
}

// begin says hello in the manner of a version: the newest has no session, and
// each request says its version.
func (l *lineClient) begin(version string) {
	l.t.Helper()
	const who = `{"name":"lines","version":"1"}`
	if version >= "2026" {
		l.meta = fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":%s,"io.modelcontextprotocol/clientCapabilities":{}`, version, who)
		var found struct{ SupportedVersions []string }
		check(l.t, json.Unmarshal(l.ask("server/discover", "", ""), &found))
		if !slices.Contains(found.SupportedVersions, version) {
			l.t.Fatalf("the server speaks %q", found.SupportedVersions)
		}
		return
	}
	var hello struct{ ProtocolVersion string }
	check(l.t, json.Unmarshal(l.ask("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":%s`, version, who), ""), &hello))
	if hello.ProtocolVersion != version {
		l.t.Fatalf("the server speaks %q", hello.ProtocolVersion)
	}
	l.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (l *lineClient) say(line string) {
	l.t.Helper()
	_, err := io.WriteString(l.in, line+"\n")
	check(l.t, err)
}

// ask sends a request and returns its result. params are members of an object;
// so is meta, which is added to what every request has.
func (l *lineClient) ask(method, params, meta string) json.RawMessage {
	l.t.Helper()
	l.id++
	members := []string{`"_meta":{` + strings.Trim(l.meta+","+meta, ",") + `}`}
	if params != "" {
		members = append(members, params)
	}
	l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, l.id, method, strings.Join(members, ",")))
	for {
		line, err := l.out.ReadBytes('\n')
		check(l.t, err)
		var m struct {
			ID     *int
			Method string
			Result json.RawMessage
		}
		check(l.t, json.Unmarshal(line, &m))
		if m.Method == "notifications/progress" {
			l.progress++
			continue
		}
		if m.ID == nil || *m.ID != l.id || m.Result == nil {
			l.t.Fatalf("%s is answered with %s", method, line)
		}
		return m.Result
	}
}
