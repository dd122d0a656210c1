package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"rolewright.io/testbed/internal/lifetime"
	"rolewright.io/testbed/internal/logs"
)

// readiness is what Main prints when the controllers run.
type readiness struct {
	Controllers []string `json:"controllers"`
	Server      string   `json:"server"`
	PID         int      `json:"pid"`
}

// Main is the entry point of `testbed controllers`.
func Main(args []string) error {
	set := flag.NewFlagSet("controllers", flag.ExitOnError)
	kubeconfig := set.String("kubeconfig", "", "`file` that says how to reach the API server")
	only := set.String("only", "", "comma-separated `names` of the controllers to run; default all of "+strings.Join(Names(), ","))
	qps := set.Float64("qps", 0, "requests per second of each client; 0 means no limit")
	verbose := set.Bool("verbose", false, "log to stderr")
	// The set exits on errors.
	_ = set.Parse(args)
	if set.NArg() > 0 {
		return fmt.Errorf("unknown argument `%s`", set.Arg(0))
	}
	if *kubeconfig == "" {
		return errors.New("`--kubeconfig` is missing")
	}
	var log io.Writer = io.Discard
	if *verbose {
		log = os.Stderr
	}
	logs.To(log)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	options := Options{QPS: float32(*qps)}
	if *only != "" {
		options.Only = strings.Split(*only, ",")
	}
	return serve(lifetime.Context(), config, options)
}

func serve(ctx context.Context, config *rest.Config, options Options) error {
	names, err := Start(ctx, config, options)
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped before the controllers ran: %w", context.Cause(ctx))
	}
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(readiness{Controllers: names, Server: config.Host, PID: os.Getpid()}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
