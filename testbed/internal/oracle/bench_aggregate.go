package oracle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	rbaclisters "k8s.io/client-go/listers/rbac/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
)

const (
	// workers is how many kube-controller-manager starts.
	workers = 5
	// defaultTimeout ends a run that never gets quiet, e.g. in a cycle.
	defaultTimeout = 5 * time.Minute
)

type benchAggregateRequest struct {
	ClusterRoles   []*rbacv1.ClusterRole `json:"clusterRoles"`
	Change         *rbacv1.ClusterRole   `json:"change"`
	TimeoutSeconds int                   `json:"timeout_seconds"`
}

type benchAggregateAnswer struct {
	WallNs int64  `json:"wall_ns"`
	CPUNs  int64  `json:"cpu_ns"`
	Writes int    `json:"writes"`
	Digest string `json:"digest"`
}

// benchAggregate runs the controller as kube-controller-manager does, but on a
// store in memory, and measures from one change until nothing is under way.
func benchAggregate(_ *session, in *benchAggregateRequest) (*benchAggregateAnswer, error) {
	if in.Change == nil || in.Change.Name == "" {
		return nil, errors.New("`change` is missing or has no name")
	}
	store, err := newRoleStore(in.ClusterRoles)
	if err != nil {
		return nil, err
	}
	if err := usableSelectors(append(slices.Clone(in.ClusterRoles), in.Change)); err != nil {
		return nil, err
	}
	store.own()
	timeout := defaultTimeout
	if in.TimeoutSeconds > 0 {
		timeout = time.Duration(in.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()

	running, err := startController(ctx, store)
	if err != nil {
		return nil, err
	}
	defer running.stop()

	watch := startWatch()
	store.replace(in.Change)
	err = running.settle(ctx)
	wall, cpu := watch.elapsed()
	if err != nil {
		return nil, fmt.Errorf("controller is not quiet after %v: %w", timeout, err)
	}
	digest, err := digest(store.aggregated())
	if err != nil {
		return nil, err
	}
	return &benchAggregateAnswer{WallNs: int64(wall), CPUNs: int64(cpu), Writes: store.writes, Digest: digest}, nil
}

// usableSelectors refuses roles whose sync would fail and be tried again for
// ever.
func usableSelectors(roles []*rbacv1.ClusterRole) error {
	for _, role := range roles {
		if role.AggregationRule == nil {
			continue
		}
		for i := range role.AggregationRule.ClusterRoleSelectors {
			if _, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i]); err != nil {
				return fmt.Errorf("selector %d of cluster role `%s`: %w", i, role.Name, err)
			}
		}
	}
	return nil
}

// runningController is an aggregation controller with its informer.
type runningController struct {
	activity *activity
	cancel   context.CancelFunc
	ended    sync.WaitGroup
}

// startController returns when the informer has the whole store and all workers
// wait for a key.
func startController(ctx context.Context, store *roleStore) (*runningController, error) {
	ctx, cancel := context.WithCancel(ctx)
	running := &runningController{activity: newActivity(), cancel: cancel}
	source := newRoleSource(ctx, store, running.activity)
	informer := &countedInformer{
		SharedIndexInformer: cache.NewSharedIndexInformer(source, &rbacv1.ClusterRole{}, 0, cache.Indexers{}),
		activity:            running.activity,
	}
	controller := clusterroleaggregation.NewClusterRoleAggregation(informer, &roleClient{store: store})
	queue, err := privateField[workQueue](controller, "queue")
	if err != nil {
		cancel()
		return nil, fmt.Errorf("reach work queue: %w", err)
	}
	counted := newCountedQueue("ClusterRoleAggregator", running.activity)
	(*queue).ShutDown()
	*queue = counted

	running.activity.sent.Store(int64(len(store.roles)))
	running.ended.Go(func() { informer.RunWithContext(ctx) })
	if err := source.waitForWatch(ctx); err != nil {
		running.stop()
		return nil, fmt.Errorf("start informer: %w", err)
	}
	if err := running.waitFor(ctx, func(r reading) bool { return r.sent == r.handled }); err != nil {
		running.stop()
		return nil, fmt.Errorf("fill informer: %w", err)
	}
	// WHY: the roles have converged, so the first sync of each writes nothing;
	// the change will queue every aggregated role again.
	counted.drain()

	running.ended.Go(func() { controller.Run(ctx, workers) })
	for running.activity.waiting.Load() < workers {
		if ctx.Err() != nil {
			running.stop()
			return nil, fmt.Errorf("start workers: %w", ctx.Err())
		}
		time.Sleep(time.Millisecond)
	}
	return running, nil
}

// settle blocks until nothing is under way.
func (c *runningController) settle(ctx context.Context) error {
	for !c.activity.quiet() {
		select {
		case <-c.activity.stirred:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// waitFor polls, for conditions before the measurement.
func (c *runningController) waitFor(ctx context.Context, condition func(reading) bool) error {
	for !condition(c.activity.read()) {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *runningController) stop() {
	c.cancel()
	c.ended.Wait()
}

// countedInformer counts the events that its handlers have seen.
type countedInformer struct {
	cache.SharedIndexInformer
	activity *activity
}

func (i *countedInformer) Informer() cache.SharedIndexInformer { return i }

func (i *countedInformer) Lister() rbaclisters.ClusterRoleLister {
	return rbaclisters.NewClusterRoleLister(i.GetIndexer())
}

func (i *countedInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(&countedHandler{handler, i.activity})
}

// roleSource serves list and watch of a store to one informer.
type roleSource struct {
	cache.ListWatch
	events   chan watch.Event
	watching chan struct{}
	started  sync.Once
}

func newRoleSource(ctx context.Context, store *roleStore, activity *activity) *roleSource {
	s := &roleSource{events: make(chan watch.Event, 1024), watching: make(chan struct{})}
	store.changed = func(role *rbacv1.ClusterRole) {
		activity.sent.Add(1)
		select {
		case s.events <- watch.Event{Type: watch.Modified, Object: role}:
		case <-ctx.Done():
		}
	}
	s.ListWithContextFunc = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		store.mu.Lock()
		defer store.mu.Unlock()
		list := &rbacv1.ClusterRoleList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(store.version)}}
		for _, role := range store.roles {
			list.Items = append(list.Items, *role)
		}
		return list, nil
	}
	s.WatchFuncWithContext = func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		s.started.Do(func() { close(s.watching) })
		return watch.NewProxyWatcher(s.events), nil
	}
	return s
}

// IsWatchListSemanticsUnSupported makes the informer list before it watches.
func (s *roleSource) IsWatchListSemanticsUnSupported() bool { return true }

func (s *roleSource) waitForWatch(ctx context.Context) error {
	select {
	case <-s.watching:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// canonicalRule prints the members of a rule in alphabetical order and without
// empty lists, so that other JSON writers can print the same bytes.
type canonicalRule struct {
	APIGroups       []string `json:"apiGroups,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	Verbs           []string `json:"verbs,omitempty"`
}

// digest is the SHA-256 over a line with the name and a line with the rules of
// each role, sorted by name.
func digest(roles map[string][]rbacv1.PolicyRule) (string, error) {
	var all bytes.Buffer
	encoder := json.NewEncoder(&all)
	encoder.SetEscapeHTML(false)
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		all.WriteString(name + "\n")
		rules := make([]canonicalRule, len(roles[name]))
		for i, rule := range roles[name] {
			rules[i] = canonicalRule{rule.APIGroups, rule.NonResourceURLs, rule.ResourceNames, rule.Resources, rule.Verbs}
		}
		if err := encoder.Encode(rules); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256(all.Bytes())
	return hex.EncodeToString(sum[:]), nil
}
