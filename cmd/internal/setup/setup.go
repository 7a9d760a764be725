// Package setup is what the programs are told from outside: which database, who
// is calling, which policy, and when to end.
package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"countersign/approvals/push"
	"countersign/fixtures"
	"countersign/policy"
	"countersign/store"
	"countersign/tools"
)

// Settings come from flags, else from environment variables, else they have
// defaults.
type Settings struct {
	DB     string // path of the database file; "": the default one
	Token  string
	Policy string // path of a policy file, or ""
	Demo   bool

	Push      []push.Target // who is told of what starts to wait
	Announced func()        // as in [store.Options]

	env Getenv
}

// Getenv looks up an environment variable.
type Getenv func(string) string

// Flags declares the settings' flags.
func (s *Settings) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&s.DB, "db", "", "the SQLite `file` ($COUNTERSIGN_DB)")
	flags.StringVar(&s.Token, "token", "", "who is calling ($COUNTERSIGN_TOKEN; prefer the variable, flags show in process lists)")
	flags.StringVar(&s.Policy, "policy", "", "a policy `file`, for a demo database or one that stores none ($COUNTERSIGN_POLICY)")
	flags.BoolVar(&s.Demo, "demo", false, "work on the demo database, made when missing")
}

// CheckGiven refuses a flag that was given without a value: a script whose
// variable is unset would otherwise get what leaving the flag out means, such as
// a token for every customer or an approval of the whole amount.
func CheckGiven(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && err == nil {
			err = fmt.Errorf("--%s is empty; give it a value or leave it out", f.Name)
		}
	})
	return err
}

// Fill takes from the environment what no flag has set. Its error is for the
// person who set a variable to what can't be meant.
func (s *Settings) Fill(env Getenv) (err error) {
	s.env = env
	s.DB = firstOf(s.DB, env("COUNTERSIGN_DB"))
	s.Token = firstOf(s.Token, env("COUNTERSIGN_TOKEN"))
	s.Policy = firstOf(s.Policy, env("COUNTERSIGN_POLICY"))
	s.Push, err = push.Targets(env)
	return err
}

// Path returns the absolute path of the database: the one named, else the
// default one in the user's data folder.
func (s *Settings) Path() (string, error) {
	path := s.DB
	if path == "" {
		folder, err := dataFolder(s.env)
		if err != nil {
			return "", err
		}
		path = filepath.Join(folder, "countersign.db")
		if s.Demo {
			path = filepath.Join(folder, "demo.db")
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return abs, nil
}

// Open opens the database that the settings name. Its error tells what to do.
func (s *Settings) Open() (*store.DB, error) {
	path, err := s.Path()
	if err != nil {
		return nil, err
	}
	opts := store.Options{Outbox: push.Names(s.Push), Announced: s.Announced}
	if s.Demo {
		return fixtures.OpenDemo(path, opts)
	}
	db, err := store.Open(path, opts)
	if errors.Is(err, store.ErrMissing) {
		return nil, fmt.Errorf("%w; create one with: countersign init --db %s", err, ShellQuote(path))
	}
	return db, err
}

// Rulebook returns the rules in force on db: the policy file's where one is
// named and may be used.
func (s *Settings) Rulebook(ctx context.Context, db *store.DB) (*tools.Rulebook, error) {
	if s.Policy == "" {
		return tools.NewRulebook(ctx, db, nil)
	}
	rules, err := ReadPolicy(s.Policy)
	if err != nil {
		return nil, err
	}
	return tools.NewRulebook(ctx, db, &rules)
}

// ReadPolicy reads a policy file.
func ReadPolicy(path string) (policy.Rules, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return policy.Rules{}, fmt.Errorf("policy file: %w", err)
	}
	rules, err := policy.Parse(text)
	if err != nil {
		return policy.Rules{}, fmt.Errorf("%s: %w", path, err)
	}
	return rules, nil
}

// dataFolder is where the user's data belongs on this system.
func dataFolder(env Getenv) (string, error) {
	const name = "countersign"
	if folder := env("XDG_DATA_HOME"); filepath.IsAbs(folder) {
		return filepath.Join(folder, name), nil
	}
	switch home := env("HOME"); {
	case runtime.GOOS == "windows" && env("LocalAppData") != "":
		return filepath.Join(env("LocalAppData"), name), nil
	case runtime.GOOS == "windows" || home == "":
		return "", errors.New("no home folder is set, so there is no default database; name one with --db or COUNTERSIGN_DB")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", name), nil
	default:
		return filepath.Join(home, ".local", "share", name), nil
	}
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// ShellQuote makes a text safe to paste into a shell.
func ShellQuote(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@"
	if strings.Trim(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
