package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"countersign/approvals/envfile"
	"countersign/cmd/internal/setup"
	"countersign/tools"
)

type options struct {
	setup.Settings
	customer string
	logLevel slog.Level
	tools    []*tools.Tool
	envFile  *envfile.File // where answered secrets go; nil: nowhere
}

// parse reads the flags, then the environment for what they leave open.
func parse(args []string, env setup.Getenv, stderr io.Writer) (*options, error) {
	o := &options{}
	var level, toolsets, envPath string
	var followLink bool
	flags := pflag.NewFlagSet("countersign-mcp", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	o.Settings.Flags(flags)
	flags.StringVar(&o.customer, "customer", env("COUNTERSIGN_CUSTOMER"), "the `id` of the customer this server acts for ($COUNTERSIGN_CUSTOMER)")
	flags.StringVar(&level, "log-level", env("COUNTERSIGN_LOG"), "debug, info, warn or error, on stderr ($COUNTERSIGN_LOG)")
	flags.StringVar(&toolsets, "toolsets", env("COUNTERSIGN_TOOLSETS"), "support (the default), or human, or both with a comma ($COUNTERSIGN_TOOLSETS)")
	flags.StringVar(&envPath, "env-file", env("COUNTERSIGN_ENV_FILE"), "the .env `file` that takes the secrets people enter ($COUNTERSIGN_ENV_FILE)")
	flags.BoolVar(&followLink, "env-file-follow", false, "allow the .env file to be a symbolic link")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if err := setup.CheckGiven(flags); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	if level != "" {
		if err := o.logLevel.UnmarshalText([]byte(level)); err != nil {
			return nil, fmt.Errorf("--log-level must be debug, info, warn or error")
		}
	}
	err := o.Settings.Fill(env)
	if err != nil {
		return nil, err
	}
	if o.tools, err = tools.Toolsets(toolsets); err != nil {
		return nil, fmt.Errorf("--toolsets: %w", err)
	}
	if o.envFile, err = o.Settings.EnvFile(envPath, followLink); err != nil {
		return nil, err
	}
	return o, nil
}
