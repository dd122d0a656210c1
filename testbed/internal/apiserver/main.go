package apiserver

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/component-base/version"

	"rolewright.io/testbed/internal/controllers"
	"rolewright.io/testbed/internal/lifetime"
)

// readiness is what Main prints when the server can be used.
type readiness struct {
	Address    string `json:"address"`
	Kubeconfig string `json:"kubeconfig"`
	Token      string `json:"token"`
	CA         string `json:"ca"`
	PID        int    `json:"pid"`
	Version    string `json:"version"`
}

// repeated is a flag that may be given several times.
type repeated []string

func (r *repeated) String() string { return strings.Join(*r, " ") }

func (r *repeated) Set(value string) error {
	*r = append(*r, value)
	return nil
}

// Main is the entry point of `testbed apiserver`.
func Main(args []string) error {
	var options Options
	set := flag.NewFlagSet("apiserver", flag.ExitOnError)
	withControllers := set.Bool("controllers", false, "also run Kubernetes' own "+strings.Join(controllers.Names(), ", "))
	qps := set.Float64("controllers-qps", 0, "requests per second of the controllers' clients; 0 means no limit")
	set.StringVar(&options.Dir, "dir", "", "`directory` of the data; default a temporary one, removed at the end")
	set.StringVar(&options.FeatureGates, "feature-gates", "", "kube-apiserver's flag of this name")
	set.Var((*repeated)(&options.Args), "arg", "another flag of kube-apiserver, as `name=value`; may be repeated")
	set.BoolVar(&options.Fsync, "fsync", false, "writes wait for the disk, as they do in a cluster")
	verbose := set.Bool("verbose", false, "log to stderr instead of a file in the data directory")
	// The set exits on errors.
	_ = set.Parse(args)
	if set.NArg() > 0 {
		return fmt.Errorf("unknown argument `%s`", set.Arg(0))
	}
	if *verbose {
		options.Log = os.Stderr
	}
	var managed *controllers.Options
	if *withControllers {
		managed = &controllers.Options{QPS: float32(*qps)}
	}
	return serve(lifetime.Context(), options, managed)
}

// serve runs until ctx ends. Server and controllers get a context that never
// does: they end with the process, see Close.
func serve(ctx context.Context, options Options, managed *controllers.Options) error {
	server, err := New(options)
	if err != nil {
		return err
	}
	defer server.Close()

	started := make(chan error, 1)
	go func() {
		err := server.Start(context.Background())
		if err == nil && managed != nil {
			managed.TokenKey, managed.RootCA = server.tokenKey, server.CA
			_, err = controllers.Start(context.Background(), server.Client, *managed)
		}
		started <- err
	}()
	select {
	case err = <-started:
	case <-ctx.Done():
		err = fmt.Errorf("stopped before the server was ready: %w", context.Cause(ctx))
	}
	if err != nil {
		return err
	}
	if err := server.announce(); err != nil {
		return err
	}
	select {
	case err := <-server.Failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

func (s *Server) announce() error {
	return json.NewEncoder(os.Stdout).Encode(readiness{
		Address:    s.Client.Host,
		Kubeconfig: s.Kubeconfig,
		Token:      s.Client.BearerToken,
		CA:         s.CA,
		PID:        os.Getpid(),
		Version:    version.Get().GitVersion,
	})
}
