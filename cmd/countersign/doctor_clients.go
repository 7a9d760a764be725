package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"countersign/approvals/push"
	"countersign/cmd/internal/clientconfig"
	"countersign/cmd/internal/setup"
	"countersign/store"
	"countersign/tools"
)

// diagnoseClients starts what the user's clients would start on this database,
// and says who their agents are. It calls no tool.
func (a *app) diagnoseClients(ctx context.Context, d *diagnosis, path string) {
	place := clientconfig.Place{System: runtime.GOOS, Env: a.env}
	entries, err := place.Entries()
	if err != nil {
		d.warn("clients", err.Error(), "")
	}
	for _, entry := range entries {
		session := a.sessionOf(entry.Server)
		if on, err := session.Path(); err != nil || on != path {
			continue // of another shop
		}
		again := fmt.Sprintf("try: countersign connect %s --name %s", entry.Client, setup.ShellQuote(entry.Name))
		p, err := startProbe(ctx, entry.Command, entry.Args, append(a.clientEnviron(), pairs(entry.Env)...), session.tools())
		if err != nil {
			d.fail("client", fmt.Sprintf("%s in %s doesn't start: %v", entry.Name, entry.File, err), again)
			continue
		}
		p.stop()
		agent, err := session.agent(ctx)
		switch {
		case err != nil:
			d.fail("client", err.Error(), "")
		case agent.ID == "":
			d.fail("client", fmt.Sprintf("%s in %s starts, but its token doesn't hold: its agent is shown no customer", entry.Name, entry.File), again)
		default:
			d.ok("client", fmt.Sprintf("%s in %s starts; its agent is %s (%s), and %s%s", entry.Name, entry.File, agent.Name, agent.Role, session.serves(agent), session.beside()))
		}
	}
}

// drafts are the files that become the .env files which this shell and the user's
// clients name for a database, once they are whole. The servers that were started
// for this diagnosis have removed what they could.
func (a *app) drafts(path string) (drafts []string) {
	files := []string{a.env("COUNTERSIGN_ENV_FILE")}
	place := clientconfig.Place{System: runtime.GOOS, Env: a.env}
	entries, _ := place.Entries() // diagnoseClients tells of what can't be read
	for _, entry := range entries {
		session := a.sessionOf(entry.Server)
		if on, err := session.Path(); err == nil && on == path {
			files = append(files, session.envFile)
		}
	}
	for _, given := range files {
		file, err := a.settings.EnvFile(given, true)
		if err != nil || file == nil {
			continue // none, or one that no server writes
		}
		if draft := file.Draft(); !slices.Contains(drafts, draft) {
			drafts = append(drafts, draft)
		}
	}
	return drafts
}

// session is what a client's entry tells the server.
type session struct {
	setup.Settings
	customer string
	toolsets string
	envFile  string
}

// sessionOf reads an entry as the server would.
func (a *app) sessionOf(server clientconfig.Server) *session {
	s := &session{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	s.Flags(flags)
	flags.StringVar(&s.customer, "customer", server.Env["COUNTERSIGN_CUSTOMER"], "")
	flags.StringVar(&s.toolsets, "toolsets", server.Env["COUNTERSIGN_TOOLSETS"], "")
	flags.StringVar(&s.envFile, "env-file", server.Env["COUNTERSIGN_ENV_FILE"], "")
	_ = flags.Parse(server.Args) // what the server makes of it shows when it starts
	_ = s.Fill(func(name string) string {
		if value, ok := server.Env[name]; ok || strings.HasPrefix(name, "COUNTERSIGN_") {
			return value // this shell's aren't the client's
		}
		return a.env(name)
	})
	return s
}

func (s *session) agent(ctx context.Context) (agent store.Principal, err error) {
	db, err := s.Open()
	if err != nil {
		return agent, err
	}
	err = db.View(ctx, func(v *store.View) error {
		agent, err = v.PrincipalByToken(s.Token)
		return err
	})
	return agent, errors.Join(err, db.Close())
}

// serves says which customer an agent works for.
func (s *session) serves(agent store.Principal) string {
	switch {
	case s.customer != "":
		return "it is shown customer " + s.customer
	case agent.Customer != "":
		return "it is shown the customer that its token is pinned to"
	}
	return "it is shown no customer until one is named: --customer"
}

// tools is how many tools the server has by its toolsets; with some that don't
// exist it doesn't start.
func (s *session) tools() int {
	list, err := tools.Toolsets(s.toolsets)
	if err != nil {
		return len(tools.All)
	}
	return len(list)
}

// beside says what else the entry sets.
func (s *session) beside() (text string) {
	if s.toolsets != "" {
		text += "; toolsets " + s.toolsets
	}
	if s.envFile != "" {
		text += "; secrets go to " + s.envFile
	}
	if names := push.Names(s.Push); len(names) > 0 {
		text += "; it pushes to " + strings.Join(names, " and ")
	}
	return text
}

func pairs(env map[string]string) (environ []string) {
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	return environ
}
