package controllers

import (
	"context"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	tokens "k8s.io/kubernetes/pkg/serviceaccount"
)

// Worker counts of kube-controller-manager.
const (
	aggregationWorkers    = 5
	garbageWorkers        = 20
	namespaceWorkers      = 10
	serviceAccountWorkers = 1
	tokenWorkers          = 5
)

const (
	// garbageSyncPeriod is how often the collector looks for new kinds. It is
	// 30 s in kube-controller-manager; a test should not have to wait for that.
	garbageSyncPeriod   = 2 * time.Second
	namespaceSyncPeriod = 5 * time.Minute
)

func always() bool { return true }

func buildAggregation(e *environment) (func(context.Context), func() bool, error) {
	c := clusterroleaggregation.NewClusterRoleAggregation(e.informers.Rbac().V1().ClusterRoles(), e.client.RbacV1())
	return func(ctx context.Context) { c.Run(ctx, aggregationWorkers) }, always, nil
}

func buildServiceAccount(e *environment) (func(context.Context), func() bool, error) {
	c, err := serviceaccount.NewServiceAccountsController(
		klog.FromContext(e.ctx),
		e.informers.Core().V1().ServiceAccounts(),
		e.informers.Core().V1().Namespaces(),
		e.client,
		serviceaccount.DefaultServiceAccountsControllerOptions(),
	)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, serviceAccountWorkers) }, always, nil
}

func buildTokens(e *environment) (func(context.Context), func() bool, error) {
	key, err := keyutil.PrivateKeyFromFile(e.tokenKey)
	if err != nil {
		return nil, nil, err
	}
	rootCA, err := os.ReadFile(e.rootCA)
	if err != nil {
		return nil, nil, err
	}
	generator, err := tokens.JWTTokenGenerator(tokens.LegacyIssuer, key)
	if err != nil {
		return nil, nil, err
	}
	c, err := serviceaccount.NewTokensController(
		klog.FromContext(e.ctx),
		e.informers.Core().V1().ServiceAccounts(),
		e.informers.Core().V1().Secrets(),
		e.client,
		serviceaccount.TokensControllerOptions{TokenGenerator: generator, RootCA: rootCA},
	)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, tokenWorkers) }, always, nil
}

func buildNamespace(e *environment) (func(context.Context), func() bool, error) {
	config := e.faster("namespace-controller", 20, 100)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	c := namespace.NewNamespaceController(
		e.ctx,
		client,
		metadataClient,
		client.Discovery().ServerPreferredNamespacedResources,
		e.informers.Core().V1().Namespaces(),
		namespaceSyncPeriod,
		corev1.FinalizerKubernetes,
	)
	return func(ctx context.Context) { c.Run(ctx, namespaceWorkers) }, always, nil
}

func buildGarbageCollector(e *environment) (func(context.Context), func() bool, error) {
	config := e.faster("generic-garbage-collector", 2, 1)
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	// The mapper resets its client, so the search for new kinds has another.
	mapped, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	searched, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	c, err := garbagecollector.NewGarbageCollector(
		e.ctx,
		e.client,
		metadataClient,
		restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(mapped)),
		garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(e.informers, e.metadata),
		e.started,
	)
	if err != nil {
		return nil, nil, err
	}
	run := func(ctx context.Context) {
		go c.Sync(ctx, searched, garbageSyncPeriod)
		c.Run(ctx, garbageWorkers, garbageSyncPeriod)
	}
	return run, func() bool { return c.IsSynced(klog.FromContext(e.ctx)) }, nil
}
