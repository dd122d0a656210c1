// Package controllers runs Kubernetes' own controllers, those that an RBAC
// control plane meets, against any API server.
//
// They run with the worker counts of kube-controller-manager, but without
// leader election and under one identity.
package controllers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
)

// Options selects controllers and sets their pace.
type Options struct {
	// Only names the controllers to run; empty stands for all.
	Only []string
	// QPS limits the requests per second of each client; 0 means no limit.
	QPS float32
	// TokenKey is the file of the key that signs tokens in secrets; without it,
	// nobody does. RootCA is the file of the certificates beside them.
	TokenKey, RootCA string
}

// controller is one that this package can run.
type controller struct {
	name string
	// build returns the loop of the controller and whether its caches, those
	// outside the shared informers, are filled.
	build func(*environment) (run func(context.Context), synced func() bool, err error)
}

// known holds every controller, by name.
var known = []controller{
	{"clusterrole-aggregation", buildAggregation},
	{"garbage-collector", buildGarbageCollector},
	{"namespace", buildNamespace},
	{"serviceaccount", buildServiceAccount},
}

// Names lists the controllers that Options.Only may name.
func Names() []string {
	names := make([]string, len(known))
	for i, c := range known {
		names[i] = c.name
	}
	return names
}

// environment is what the controllers share.
type environment struct {
	ctx       context.Context
	config    *rest.Config
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
	metadata  metadatainformer.SharedInformerFactory
	// started is closed when all informers run.
	started chan struct{}
	// tokenKey and rootCA are files.
	tokenKey, rootCA string
}

// Start returns the names of the controllers that run once their caches are
// filled. They run until ctx ends.
func Start(ctx context.Context, config *rest.Config, o Options) ([]string, error) {
	selected, err := selectControllers(o.Only)
	if err != nil {
		return nil, err
	}
	env, err := newEnvironment(ctx, config, o.QPS)
	if err != nil {
		return nil, err
	}
	if o.TokenKey != "" {
		env.tokenKey, env.rootCA = o.TokenKey, o.RootCA
		selected = append(slices.Clone(selected), controller{"serviceaccount-token", buildTokens})
	}
	var loops []func(context.Context)
	var synced []func() bool
	var names []string
	for _, c := range selected {
		loop, filled, err := c.build(env)
		if err != nil {
			return nil, fmt.Errorf("create controller `%s`: %w", c.name, err)
		}
		loops, synced, names = append(loops, loop), append(synced, filled), append(names, c.name)
	}
	for _, loop := range loops {
		go loop(ctx)
	}
	env.informers.Start(ctx.Done())
	env.metadata.Start(ctx.Done())
	close(env.started)

	env.informers.WaitForCacheSync(ctx.Done())
	err = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(synced, func(filled func() bool) bool { return !filled() }), nil
	})
	return names, err
}

func selectControllers(only []string) ([]controller, error) {
	if len(only) == 0 {
		return known, nil
	}
	var selected []controller
	for _, name := range only {
		i := slices.IndexFunc(known, func(c controller) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown controller `%s`; known: %s", name, strings.Join(Names(), ", "))
		}
		selected = append(selected, known[i])
	}
	return selected, nil
}

func newEnvironment(ctx context.Context, config *rest.Config, qps float32) (*environment, error) {
	limited := rest.CopyConfig(config)
	// A negative rate switches client-go's limiter off.
	limited.QPS, limited.Burst = -1, 0
	if qps > 0 {
		// kube-controller-manager's proportion.
		limited.QPS, limited.Burst = qps, int(math.Ceil(float64(qps)*1.5))
	}
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(rest.CopyConfig(limited), "controllers"))
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(limited)
	if err != nil {
		return nil, err
	}
	return &environment{
		ctx:       ctx,
		config:    limited,
		client:    client,
		informers: informers.NewSharedInformerFactory(client, 0),
		metadata:  metadatainformer.NewSharedInformerFactory(metadataClient, 0),
		started:   make(chan struct{}),
	}, nil
}

// faster returns the configuration of a client with a multiple of the shared
// rate, for controllers to which kube-controller-manager gives one.
func (e *environment) faster(name string, qps float32, burst int) *rest.Config {
	config := rest.AddUserAgent(rest.CopyConfig(e.config), name)
	if config.QPS > 0 {
		config.QPS *= qps
		config.Burst *= burst
	}
	return config
}
