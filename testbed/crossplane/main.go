// Crossplane's RBAC manager, v2.4.0, as its own command runs it: `crossplane rbac start --provider-clusterrole=NAME`.
// Only the surroundings are ours: no metrics are served, because every manager would take the same port; the process
// ends with its standard input, so that none outlives its test; and with `--elect-in=NAMESPACE` it holds the lease that
// `--leader-election` would, with the same client and timings. That flag itself works only in a pod, whose namespace it
// reads from the pod's files.
package main

import (
	"context"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane/apis/v2"
	"github.com/crossplane/crossplane/v2/cmd/crossplane/rbac"
	// Only its custom resource definitions are read.
	_ "open-cluster-management.io/api/work/v1"
)

func main() {
	var arguments struct {
		Debug   bool         `help:"Log to standard error."`
		ElectIn string       `help:"Work while holding the manager's lease in this namespace."`
		Rbac    rbac.Command `cmd:""`
	}
	metrics.DefaultBindAddress = "0"
	scheme := runtime.NewScheme()
	parsed := kong.Parse(&arguments, kong.Name("crossplane"))
	log := zap.New(zap.WriteTo(io.Discard))
	if arguments.Debug {
		log = zap.New(zap.UseDevMode(true), zap.WriteTo(os.Stderr))
	}
	ctrl.SetLogger(log)
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, extv1.AddToScheme, apis.AddToScheme,
	} {
		parsed.FatalIfErrorf(add(scheme))
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	parsed.BindTo(logging.NewLogrLogger(log), (*logging.Logger)(nil))
	work := func() { parsed.FatalIfErrorf(parsed.Run(scheme)) }
	if arguments.ElectIn == "" {
		work()
		return
	}
	parsed.FatalIfErrorf(elected(arguments.ElectIn, work))
}

// Works once the lease is held. Like Crossplane's manager, it ends when the lease is lost and leaves it behind when it ends.
func elected(namespace string, work func()) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	identity := resourcelock.ResourceLockConfig{Identity: host + "_" + strconv.Itoa(os.Getpid())}
	const renew = 10 * time.Second
	lock, err := resourcelock.NewFromKubeconfig(
		resourcelock.LeasesResourceLock, namespace, "crossplane-leader-election-rbac", identity, config, renew)
	if err != nil {
		return err
	}
	leaderelection.RunOrDie(context.Background(), leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: renew, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { work() },
			OnStoppedLeading: func() { os.Exit(1) },
		},
	})
	return nil
}
