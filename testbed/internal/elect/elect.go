// Package elect is a candidate in an election of client-go, over a Lease.
package elect

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"rolewright.io/testbed/internal/lifetime"
	"rolewright.io/testbed/internal/logs"
)

// event is one line of output: `leader` tells who leads, `leading` and
// `stopped` that this candidate begins and ends to.
type event struct {
	Event    string `json:"event"`
	Identity string `json:"identity"`
}

// Main is the entry point of `testbed elect`.
func Main(args []string) error {
	set := flag.NewFlagSet("elect", flag.ExitOnError)
	kubeconfig := set.String("kubeconfig", "", "`file` that says how to reach the API server")
	namespace := set.String("namespace", "default", "`namespace` of the lease")
	lease := set.String("lease", "leader", "`name` of the lease")
	identity := set.String("identity", "", "`name` of the candidate")
	contentType := set.String("content-type", "application/json", "what is sent and accepted")
	// The set exits on errors.
	_ = set.Parse(args)
	if set.NArg() > 0 {
		return fmt.Errorf("unknown argument `%s`", set.Arg(0))
	}
	if *kubeconfig == "" || *identity == "" {
		return errors.New("`--kubeconfig` or `--identity` is missing")
	}
	logs.To(io.Discard)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType, _, _ = strings.Cut(*contentType, ",")
	config.AcceptContentTypes = *contentType
	wire := &wire{}
	config.Wrap(wire.wrap)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return run(wire.idle(lifetime.Context()), client, *namespace, *lease, *identity)
}

// run takes part until ctx ends, and then gives the lease back.
func run(ctx context.Context, client kubernetes.Interface, namespace, lease, identity string) error {
	var lock sync.Mutex
	out := json.NewEncoder(os.Stdout)
	tell := func(name, who string) {
		lock.Lock()
		defer lock.Unlock()
		// Nobody reads on, so this ends soon.
		_ = out.Encode(event{Event: name, Identity: who})
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: lease},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		// Long enough for a machine that is busy.
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { tell("leading", identity) },
			OnStoppedLeading: func() { tell("stopped", identity) },
			OnNewLeader:      func(who string) { tell("leader", who) },
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	return nil
}
