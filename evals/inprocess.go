package evals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"countersign/approvals/envfile"
	"countersign/audit"
	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/store/ingest"
	"countersign/tools"
	"countersign/tools/client"
	"countersign/tools/server"
	"countersign/tools/settle"
)

// inProcess is a stage in this process: the real server over pipes, the
// operators' own package, and a clock that is moved.
type inProcess struct {
	db     *store.DB
	clock  *clock
	office *settle.Office
	served []chan error // what each server ended with
	log    output
}

func openInProcess(ctx context.Context, path string) (*inProcess, error) {
	p := &inProcess{clock: &clock{}}
	db, err := store.Open(path, store.Options{Now: p.clock.now})
	if err != nil {
		return nil, err
	}
	p.db = db
	db.Audited = func(row store.AuditRow) { fmt.Fprintf(&p.log, "%s\n", audit.JSON(row)) }
	rules, err := tools.NewRulebook(ctx, db, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	caller := tools.Caller{Token: fixtures.ManagerToken, Door: audit.CLI, Session: audit.NewSession()}
	p.office = &settle.Office{DB: db, Rules: rules, Caller: caller}
	return p, nil
}

func (p *inProcess) prepare(ctx context.Context, s Scenario) error {
	if s.Shop != "" {
		if err := p.bring(ctx, s.Shop); err != nil {
			return err
		}
	}
	if s.Policy == "" {
		return nil
	}
	text, err := rulesIn(s.Policy)
	if err != nil {
		return err
	}
	return p.office.Do(ctx, "policy set", policy.Manager, func(o *settle.Session) error {
		return o.SetSetting(store.SettingPolicy, text)
	})
}

func (p *inProcess) connect(ctx context.Context, s Scenario, agent string) (*client.Client, error) {
	caller := tools.Caller{Token: s.token(), Customer: s.Customer, Door: audit.Eval, Session: audit.NewSession()}
	offered, err := tools.Toolsets(s.Toolsets)
	if err != nil {
		return nil, err
	}
	desk := tools.NewDesk(p.db, p.office.Rules, offered)
	desk.Faulted = func(action string, fault error) { fmt.Fprintln(&p.log, action, fault) }
	if s.EnvFile != nil {
		desk.EnvFile = &envfile.File{Path: envPath(p.db)}
	}
	requests, send := io.Pipe()
	answers, respond := io.Pipe()
	served := make(chan error, 1)
	p.served = append(p.served, served)
	go func() {
		err := server.Serve(context.WithoutCancel(ctx), server.New(desk, offered, caller, "evals"), requests, respond, desk.StopWaiting)
		respond.Close()
		served <- err
	}()
	session, err := client.Over(ctx, answers, send, agent)
	if err != nil {
		send.Close()
	}
	return session, err
}

func (p *inProcess) server(Scenario) *Server { return nil }

func (p *inProcess) decide(ctx context.Context, approval string, d Decision) (err error) {
	switch d.Verb {
	case approve:
		_, err = p.office.Approve(ctx, approval, d.Amount, d.Note)
	case reject:
		_, err = p.office.Reject(ctx, approval, d.Note)
	case answer:
		_, err = p.office.Answer(ctx, approval, d.Answers, d.Note)
	case decline:
		_, err = p.office.Decline(ctx, approval, d.Note)
	}
	var refused *settle.Error
	if errors.As(err, &refused) && refused.Kind == settle.Conflict {
		return nil
	}
	if refused != nil && refused.Kind == settle.Invalid && d.Verb == answer {
		return fmt.Errorf("%w: %w", errUnfit, err)
	}
	return err
}

func (p *inProcess) bring(ctx context.Context, rows Rows) error {
	batch, err := ingest.Read(strings.NewReader(string(rows)), p.db.Now())
	if err != nil {
		return err
	}
	return p.office.Do(ctx, "import native", policy.Manager, func(s *settle.Session) error {
		report, err := batch.Store(s.Tx, ingest.Options{})
		if err != nil {
			err = fmt.Errorf("shop: %w: %v", err, report.Problems)
		}
		return err
	})
}

func (p *inProcess) advance(d time.Duration) { p.clock.ahead.Add(int64(d)) }

func (p *inProcess) database() *store.DB { return p.db }

func (p *inProcess) said() string { return p.log.String() }

func (p *inProcess) close() (err error) {
	for _, served := range p.served {
		err = errors.Join(err, <-served)
	}
	return errors.Join(err, p.db.Close())
}
