// Command countersign-mcp is the MCP server: it speaks JSON-RPC on stdin and
// stdout and logs on stderr.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"countersign/approvals/push"
	"countersign/audit"
	"countersign/cmd/internal/setup"
	"countersign/store"
	"countersign/tools"
	"countersign/tools/server"
)

// version is set by the build.
var version = "dev"

func main() {
	if os.Getenv("GOGC") == "" { // with 100 the collector runs every 170 calls, which shows in the slowest ones
		debug.SetGCPercent(150)
	}
	signal.Ignore(syscall.SIGPIPE) // a client that closes its end is an error of a write, not our end
	err := run(os.Args[1:], os.Getenv, os.Stderr)
	if err != nil && !errors.Is(err, context.Canceled) { // by a signal, which asked for the end
		fmt.Fprintln(os.Stderr, "countersign-mcp:", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}

func run(args []string, env setup.Getenv, stderr io.Writer) (err error) {
	opts, err := parse(args, env, stderr)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // to listen starts a thread, and the start needn't wait for that
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, setup.Signals()...)
		<-signals
		cancel()
	}()
	courier := &push.Courier{Targets: opts.Push}
	courier.Prepare()
	opts.Announced = courier.Wake
	db, err := opts.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rules, err := opts.Rulebook(ctx, db)
	if err != nil {
		return err
	}
	caller := tools.Caller{Token: opts.Token, Customer: opts.customer, Door: audit.MCP, Session: audit.NewSession()}
	if err := checkCustomer(ctx, db, caller); err != nil {
		return err
	}
	if err := warnOfAge(ctx, db, stderr); err != nil {
		return err
	}
	if opts.envFile != nil {
		if err := opts.envFile.Sweep(); err != nil {
			fmt.Fprintf(stderr, "countersign-mcp: --env-file: a draft with secrets, which a killed server left beside %s, can't be removed: %v\n", opts.envFile.Name(), err)
		}
	}
	desk := tools.NewDesk(db, rules, opts.tools)
	desk.EnvFile = opts.envFile
	log := newLineLog(stderr)
	defer log.close()
	courier.DB = db
	logTo(log, db, desk, courier, opts.logLevel)
	srv := server.New(desk, opts.tools, caller, version)
	srv.OnFirst(courier.Begin)
	err = server.ServeStdio(ctx, srv, desk.StopWaiting)
	// Neither a call that hangs on another process nor a client that doesn't read
	// stderr may keep this one: what is written happens whole or not at all.
	time.AfterFunc(closeFor, func() { os.Exit(0) })
	courier.End()
	return err
}

// closeFor is how long the database may take to close once the client is gone.
const closeFor = time.Second

// checkCustomer refuses a customer that the token is not pinned to, or that
// doesn't exist: it would only show as refusals later.
func checkCustomer(ctx context.Context, db *store.DB, caller tools.Caller) error {
	if caller.Customer == "" {
		return nil
	}
	return db.View(ctx, func(v *store.View) error {
		claimed, err := v.CustomerByID(caller.Customer)
		if errors.Is(err, store.ErrNotFound) {
			return errors.New("--customer names a customer that isn't in the database")
		}
		if err != nil {
			return err
		}
		p, err := v.PrincipalByToken(caller.Token)
		if err == nil && p.Customer != "" && p.Customer != claimed.Key {
			return errors.New("the token is pinned to another customer than --customer names")
		}
		return err
	})
}

// warnOfAge says that a demo shop's dates have become old.
func warnOfAge(ctx context.Context, db *store.DB, stderr io.Writer) error {
	const old = 14 * 24 * time.Hour
	return db.View(ctx, func(v *store.View) error {
		text, err := v.Setting(store.SettingDemo)
		if err != nil || text == "" {
			return err
		}
		seeded, err := time.Parse(time.RFC3339, text)
		if err == nil && v.Now.Sub(seeded) > old {
			fmt.Fprintln(stderr, "countersign-mcp: this demo shop is older than two weeks and its refund windows close; refresh it with: countersign demo reset")
		}
		return err
	})
}
