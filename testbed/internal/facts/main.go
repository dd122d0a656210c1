package facts

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"rolewright.io/testbed/internal/apiserver"
)

// timeout bounds the start of the server and all questions to it.
const timeout = 2 * time.Minute

// Main is the entry point of `testbed facts`.
func Main(args []string) error {
	set := flag.NewFlagSet("facts", flag.ExitOnError)
	out := set.String("out", "", "`directory` for the files; created if missing")
	// The set exits on errors.
	_ = set.Parse(args)
	if set.NArg() > 0 {
		return fmt.Errorf("unknown argument `%s`", set.Arg(0))
	}
	if *out == "" {
		return errors.New("`--out` is missing")
	}
	server, err := apiserver.New(apiserver.Options{})
	if err != nil {
		return err
	}
	defer server.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := server.Start(ctx); err != nil {
		return err
	}
	files, err := collect(ctx, server.Client)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(*out, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// collect returns the content of each file by its name.
func collect(ctx context.Context, server *rest.Config) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, produce := range map[string]func(context.Context, *rest.Config) ([]byte, error){
		"bootstrap.json":  bootstrap,
		"columns.json":    columns,
		"fields.json":     fields,
		"flows.json":      flows,
		"kinds.json":      kinds,
		"strategies.json": strategies,
	} {
		content, err := produce(ctx, server)
		if err != nil {
			return nil, fmt.Errorf("produce `%s`: %w", name, err)
		}
		files[name] = content
	}
	return files, nil
}
