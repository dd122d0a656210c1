// Package informers keeps client-go's informers over an API server, and tells
// what is in their stores.
package informers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"rolewright.io/testbed/internal/logs"
)

// resources are the kinds that are followed.
var resources = []schema.GroupVersionResource{
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
}

// request is one line of input.
type request struct {
	ID json.RawMessage `json:"id"`
	// Op is `stores`, `cut` or `rewind`.
	Op string `json:"op"`
}

// answer is one line of output; the first one has no id.
type answer struct {
	ID json.RawMessage `json:"id,omitempty"`
	// Stores has the objects of each resource by namespace and name.
	Stores map[string]map[string]any `json:"stores,omitempty"`
	// Events counts what handlers were told since the start, by resource and
	// kind of event.
	Events map[string]map[string]int `json:"events,omitempty"`
	// Requests counts what was sent, by kind of request.
	Requests map[string]int `json:"requests"`
	Error    string         `json:"error,omitempty"`
}

// Main is the entry point of `testbed informers`.
func Main(args []string) error {
	set := flag.NewFlagSet("informers", flag.ExitOnError)
	kubeconfig := set.String("kubeconfig", "", "`file` that says how to reach the API server")
	namespace := set.String("namespace", "default", "`namespace` of the objects")
	kind := set.String("kind", "typed", "`typed`, `dynamic` or `metadata`")
	contentType := set.String("content-type", "application/json", "what a typed client sends and accepts")
	watchList := set.Bool("watch-list", true, "begin with a watch instead of a list")
	seconds := set.Int("watch-seconds", 0, "`seconds` after which the server is to end each watch; 0 for client-go's own")
	// The set exits on errors.
	_ = set.Parse(args)
	if set.NArg() > 0 {
		return fmt.Errorf("unknown argument `%s`", set.Arg(0))
	}
	if *kubeconfig == "" {
		return errors.New("`--kubeconfig` is missing")
	}
	logs.To(io.Discard)
	if err := utilfeature.DefaultMutableFeatureGate.Set(fmt.Sprintf("WatchListClient=%v", *watchList)); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, 0
	if *kind == "typed" {
		config.ContentType, _, _ = strings.Cut(*contentType, ",")
		config.AcceptContentTypes = *contentType
	}
	wire := &wire{seconds: *seconds, counts: map[string]int{}}
	config.Wrap(wire.wrap)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	followed, err := follow(ctx, config, *kind, *namespace)
	if err != nil {
		return err
	}
	return serve(ctx, followed, wire)
}

// serve answers line by line until the input ends.
func serve(ctx context.Context, followed *followed, wire *wire) error {
	// A client that cannot get in sync says so instead of nothing.
	patient, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if !cache.WaitForCacheSync(patient.Done(), followed.synced...) {
		return errors.New("the informers are not in sync")
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(answer{Requests: wire.requests()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var in request
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
			return err
		}
		found := answer{ID: in.ID}
		switch in.Op {
		case "stores":
			found.Stores, found.Events = followed.stores(), followed.events()
		case "cut":
			wire.cut()
		case "rewind":
			wire.rewind()
			// The watches that are open have to end to be begun again.
			wire.cut()
			err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
				return wire.rewound(), nil
			})
			if err != nil {
				found.Error = err.Error()
			}
		default:
			found.Error = "unknown operation"
		}
		found.Requests = wire.requests()
		if err := out.Encode(found); err != nil {
			return err
		}
	}
	return lines.Err()
}
