// Crossplane's RBAC manager, v2.4.0, as its own command runs it: `crossplane rbac start --provider-clusterrole=NAME`.
// Only the surroundings are ours: no metrics are served, because every manager would take the same port, and the process
// ends with its standard input, so that none outlives its test.
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		Debug bool         `help:"Log to standard error."`
		Rbac  rbac.Command `cmd:""`
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
	parsed.FatalIfErrorf(parsed.Run(scheme))
}
