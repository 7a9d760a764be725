package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"countersign/cmd/internal/setup"
)

type options struct {
	setup.Settings
	customer string
	logLevel slog.Level
}

// parse reads the flags, then the environment for what they leave open.
func parse(args []string, env setup.Getenv, stderr io.Writer) (*options, error) {
	o := &options{}
	var level string
	flags := pflag.NewFlagSet("countersign-mcp", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	o.Settings.Flags(flags)
	flags.StringVar(&o.customer, "customer", env("COUNTERSIGN_CUSTOMER"), "the `id` of the customer this server acts for ($COUNTERSIGN_CUSTOMER)")
	flags.StringVar(&level, "log-level", env("COUNTERSIGN_LOG"), "debug, info, warn or error, on stderr ($COUNTERSIGN_LOG)")
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
	o.Settings.Fill(env)
	return o, nil
}
