package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/evals"
	"countersign/evals/api"
	"countersign/evals/api/apitest"
	"countersign/tools/client"
)

// TestMain lets the test's binary be another process that says one thing.
func TestMain(m *testing.M) {
	if os.Getenv("API_TEST_SERVER") == "" {
		os.Exit(m.Run())
	}
	reply, err := sayOnce(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(reply)
}

// sayOnce begins or resumes the conversation in a file, says something, and keeps
// the conversation.
func sayOnce(ctx context.Context, file, message string) (string, error) {
	agent, err := api.New(api.Options{Key: "sk-test", BaseURL: os.Getenv("ANTHROPIC_BASE_URL")})
	if err != nil {
		return "", err
	}
	cmd := exec.Command(os.Getenv("API_TEST_SERVER"), "--demo", "--db", filepath.Join(filepath.Dir(file), "shop.db"), "--customer", "C-1001")
	cmd.Env = []string{"COUNTERSIGN_TOKEN=demo-staff-token"}
	session, err := client.Start(ctx, cmd, "test")
	if err != nil {
		return "", err
	}
	defer session.Close()
	task := evals.Task{Scenario: "x-1", Tools: session}
	if _, err := os.Stat(file); err == nil {
		talk, err := agent.Resume(ctx, task, file)
		if err != nil {
			return "", err
		}
		return replyAndSave(ctx, talk, message, file)
	}
	talk, err := agent.Begin(ctx, task)
	if err != nil {
		return "", err
	}
	return replyAndSave(ctx, talk.(*api.Conversation), message, file)
}

func replyAndSave(ctx context.Context, talk *api.Conversation, message, file string) (string, error) {
	reply, err := talk.Reply(ctx, message)
	if err != nil {
		return "", err
	}
	return reply, talk.Save(file)
}

// A turn that waits for an approval is kept in a file, and another process goes on
// after the decision with all that was said before.
func TestAnotherProcessGoesOn(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"countersign-mcp", "countersign"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(folder, name), "countersign/cmd/"+name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	server := apitest.New(t, calls(refund), waiting, calls(order), granted)
	file := filepath.Join(folder, "talk.json")
	say := func(message string) string {
		cmd := exec.Command(os.Args[0], file, message)
		cmd.Env = []string{"API_TEST_SERVER=" + filepath.Join(folder, "countersign-mcp"), "ANTHROPIC_BASE_URL=" + server.URL, "HOME=" + folder}
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		check(t, err)
		return string(out)
	}
	if got := say("My money for NW-5001, please."); got != waiting.Text {
		t.Errorf("the first process says %q", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	approval := struct {
		ID string `json:"approval_id"`
	}{}
	check(t, json.Unmarshal([]byte(server.Requests()[1].Results()[0].ResultText()), &approval))
	approve := exec.Command(filepath.Join(folder, "countersign"), "approvals", "approve", approval.ID, "--yes")
	approve.Env = []string{"HOME=" + folder, "COUNTERSIGN_DB=" + filepath.Join(folder, "shop.db"), "COUNTERSIGN_TOKEN=demo-manager-token"}
	if out, err := approve.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := say("Any news?"); got != granted.Text {
		t.Errorf("the second process says %q", got)
	}
	requests := server.Requests()
	if diff := cmp.Diff(requests[1].Messages, requests[3].Messages[:3]); diff != "" {
		t.Errorf("what was said before: -sent +sent again:\n%s", diff)
	}
	if got := requests[3].Results()[0].ResultText(); !strings.Contains(got, `"approved"`) {
		t.Errorf("the second process sees %s", got)
	}
}

func TestResumeRefuses(t *testing.T) {
	agent := newAgent(t, apitest.New(t), api.Options{})
	for text, want := range map[string]string{
		``:                           "EOF",
		`{"version":2,"model":"m"}`:  "isn't of version 1",
		`{"version":1}`:              "isn't of version 1",
		`{"version":1,"modell":"m"}`: "unknown field",
	} {
		name := filepath.Join(t.TempDir(), "talk.json")
		check(t, os.WriteFile(name, []byte(text), 0o600))
		if _, err := agent.Resume(t.Context(), evals.Task{Tools: noTools{}}, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
