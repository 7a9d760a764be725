package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"countersign/policy"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/client"
)

// How long the server may take: to answer, and to end once its client is gone.
const (
	answersWithin = 5 * time.Second
	endsWithin    = time.Second
	hangsAfter    = 3 * time.Second
)

// diagnoseServer starts the server twice at the same time, as clients do, kills
// one and works with the other. The one call it makes is refused for want of a
// token, which leaves a row in the audit log and nothing else.
func (a *app) diagnoseServer(ctx context.Context, d *diagnosis, path string) {
	const name = "server"
	if slices.ContainsFunc(d.Checks, func(c check) bool { return c.Status == statusFail }) {
		d.warn(name, "it wasn't started", "mend first what failed")
		return
	}
	program, err := serverPath()
	if err != nil {
		d.fail(name, errNoServer.Error(), "")
		return
	}
	args := []string{"--db", path, "--log-level", "error"}
	if a.settings.Demo {
		args = append(args, "--demo")
	}
	environ := append(a.clientEnviron(), a.shellVariables()...)
	list, err := tools.Toolsets(a.env("COUNTERSIGN_TOOLSETS"))
	if err != nil {
		list = tools.All // the server refuses to start, and says why
	}
	kept, err := startProbe(ctx, program, args, environ, len(list))
	if err != nil {
		d.fail(name, err.Error(), "")
		return
	}
	defer kept.stop()
	killed, err := startProbe(ctx, program, args, environ, len(list))
	if err != nil {
		d.fail(name, "a second one beside the first: "+err.Error(), "")
		return
	}
	killed.stop()
	if err := kept.listTools(ctx); err != nil {
		d.fail(name, "after another one was killed: "+err.Error(), "")
		return
	}
	d.ok(name, fmt.Sprintf("%s answers with its %s, in / and with %s, twice at once and after one was killed",
		program, counted(int64(len(list)), "tool"), counted(int64(len(environ)), "variable")))
	kept.diagnoseGate(ctx, d, list)
	kept.diagnoseEnd(d)
	a.diagnoseClients(ctx, d, path)
}

// probe is a server that runs for a look at it.
type probe struct {
	command *exec.Cmd
	kill    context.CancelFunc
	session *client.Client
	tools   int          // how many it is to have
	said    bytes.Buffer // on stderr
}

func startProbe(ctx context.Context, program string, args, environ []string, tools int) (*probe, error) {
	p := &probe{tools: tools}
	ctx, p.kill = context.WithCancel(ctx)
	p.command = exec.CommandContext(ctx, program, args...)
	p.command.Dir, p.command.Env, p.command.Stderr = "/", environ, &p.said
	p.command.WaitDelay = endsWithin // what it leaves behind doesn't hold this program up
	tooLong := time.AfterFunc(answersWithin, p.kill)
	defer tooLong.Stop()
	var err error
	if p.session, err = client.Start(ctx, p.command, "countersign-doctor"); err != nil {
		defer p.kill()
		if !tooLong.Stop() {
			return nil, fmt.Errorf("%s doesn't answer within %s", program, answersWithin)
		}
		return nil, p.explained(err)
	}
	if err := p.listTools(ctx); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// clientEnviron is the little that clients hand on to a server.
func (a *app) clientEnviron() (environ []string) {
	names := []string{"HOME", "LOGNAME", "PATH", "SHELL", "USER"}
	if runtime.GOOS == "windows" {
		names = []string{"APPDATA", "LOCALAPPDATA", "PATH", "SYSTEMROOT", "USERPROFILE"}
	}
	for _, name := range append(names, "COUNTERSIGN_KEY") { // who keeps no key file tells the client, too
		if value := a.env(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}

// shellVariables are those of this shell that a server which is started from it
// would go by: not its token, for the one call is made without, and no push
// target, which would be told. The server runs in /, so a path is made absolute.
func (a *app) shellVariables() (environ []string) {
	for _, name := range []string{"COUNTERSIGN_CUSTOMER", "COUNTERSIGN_TOOLSETS", "COUNTERSIGN_ENV_FILE", "COUNTERSIGN_POLICY"} {
		value := a.env(name)
		if value == "" {
			continue
		}
		if name == "COUNTERSIGN_ENV_FILE" || name == "COUNTERSIGN_POLICY" {
			if path, err := filepath.Abs(value); err == nil {
				value = path
			}
		}
		environ = append(environ, name+"="+value)
	}
	return environ
}

// explained adds what the server said last to what went wrong with it.
func (p *probe) explained(err error) error {
	if p.command.ProcessState == nil {
		return err // it may still be writing
	}
	if said := strings.TrimSpace(p.said.String()); said != "" {
		return errors.New(said[strings.LastIndexByte(said, '\n')+1:])
	}
	return fmt.Errorf("%w (%s)", err, p.command.ProcessState)
}

func (p *probe) listTools(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	names, err := p.session.Tools(ctx)
	if err == nil && len(names) != p.tools {
		err = fmt.Errorf("it has %s instead of %d: is it of another version?", counted(int64(len(names)), "tool"), p.tools)
	}
	return err
}

// diagnoseGate checks that without a token no customer is shown, and no human is
// asked.
func (p *probe) diagnoseGate(ctx context.Context, d *diagnosis, list []*tools.Tool) {
	const name = "gate"
	tool, code, did := "lookup_customer", policy.NoCustomer, "was shown a customer"
	if !slices.ContainsFunc(list, func(t *tools.Tool) bool { return t.Name == tool }) {
		tool, code, did = store.RequestTool, policy.PermissionDenied, "asked a human"
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	answer, err := p.session.Call(ctx, tool, map[string]any{})
	var refusal struct {
		Error policy.Code `json:"error"`
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		d.fail(name, fmt.Sprintf("no answer within %s: another process is writing, or this machine is very busy", answersWithin), "try again")
	case err != nil:
		d.fail(name, err.Error(), "")
	case !answer.IsError:
		d.fail(name, "a call without a token "+did, "don't use this countersign-mcp")
	case json.Unmarshal(answer.JSON, &refusal) != nil || refusal.Error != code:
		d.fail(name, "a call without a token failed instead of being refused: "+string(refusal.Error), "")
	default:
		d.ok(name, fmt.Sprintf("a call without a token is refused (%s); this call is in the audit log", code))
	}
}

// diagnoseEnd hangs up and checks that the server ends by itself.
func (p *probe) diagnoseEnd(d *diagnosis) {
	const name = "hanging up"
	hungUp := time.Now()
	hangs := time.AfterFunc(hangsAfter, p.kill)
	err := p.session.Close()
	took, killed := time.Since(hungUp), !hangs.Stop()
	switch state := p.command.ProcessState; {
	case state == nil || killed:
		d.fail(name, "the server doesn't end when its client is gone", "")
	case err != nil || !state.Success():
		d.fail(name, p.explained(err).Error(), "")
	case took > endsWithin:
		d.warn(name, fmt.Sprintf("the server ended %s after its client was gone", took.Round(100*time.Millisecond)), "is this machine very busy?")
	default:
		d.ok(name, "the server ends within a second")
	}
}

// stop kills the server if it still runs.
func (p *probe) stop() {
	p.kill()
	_ = p.session.Close() // reaps it
}
