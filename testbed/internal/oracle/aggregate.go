package oracle

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	rbaclisters "k8s.io/client-go/listers/rbac/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
)

// defaultRounds ends the search for a fixpoint when the request sets no limit.
// Chains need as many rounds as they are deep; cycles may never end.
const defaultRounds = 100

type aggregateRequest struct {
	ClusterRoles []*rbacv1.ClusterRole `json:"clusterRoles"`
	MaxRounds    int                   `json:"max_rounds"`
}

type aggregateAnswer struct {
	Roles     map[string][]rbacv1.PolicyRule `json:"roles"`
	Rounds    int                            `json:"rounds"`
	Converged bool                           `json:"converged"`
	Writes    int                            `json:"writes"`
	// Requests counts every apply, Writes only those that changed something.
	Requests int `json:"requests"`
	// Errors holds the error of the last sync of each role that has one.
	Errors map[string]string `json:"errors"`
}

// aggregate calls the controller's sync for each aggregated role in the order
// given, round after round, until a round changes nothing. Each write is in the
// controller's cache before the next sync starts.
func aggregate(_ *session, in *aggregateRequest) (*aggregateAnswer, error) {
	store, err := newRoleStore(in.ClusterRoles)
	if err != nil {
		return nil, err
	}
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, role := range store.roles {
		if err := indexer.Add(role); err != nil {
			return nil, err
		}
	}
	// Update of an indexer fails only for objects without metadata.
	store.changed = func(role *rbacv1.ClusterRole) { _ = indexer.Update(role) }

	sync, err := newSync(indexer, store)
	if err != nil {
		return nil, err
	}
	limit := in.MaxRounds
	if limit <= 0 {
		limit = defaultRounds
	}
	out := &aggregateAnswer{Errors: map[string]string{}}
	for out.Rounds < limit && !out.Converged {
		before := store.writes
		for _, role := range in.ClusterRoles {
			if role.AggregationRule == nil {
				continue
			}
			if err := sync(context.Background(), role.Name); err != nil {
				out.Errors[role.Name] = err.Error()
			}
		}
		out.Rounds++
		out.Converged = store.writes == before
	}
	out.Roles, out.Writes, out.Requests = store.aggregated(), store.writes, store.requests
	return out, nil
}

// newSync returns the sync of a controller that reads from the indexer and
// writes to the store.
func newSync(indexer cache.Indexer, store *roleStore) (syncFunc, error) {
	informer := &roleInformer{
		SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, &rbacv1.ClusterRole{}, 0, cache.Indexers{}),
		lister:              rbaclisters.NewClusterRoleLister(indexer),
	}
	controller := clusterroleaggregation.NewClusterRoleAggregation(informer, &roleClient{store: store})
	sync, err := privateField[syncFunc](controller, "syncHandler")
	if err != nil {
		return nil, fmt.Errorf("reach sync: %w", err)
	}
	queue, err := privateField[workQueue](controller, "queue")
	if err != nil {
		return nil, fmt.Errorf("reach work queue: %w", err)
	}
	// Its goroutines would outlive the controller.
	(*queue).ShutDown()
	return *sync, nil
}

// roleInformer is an informer with a lister of our choice.
type roleInformer struct {
	cache.SharedIndexInformer
	lister rbaclisters.ClusterRoleLister
}

func (i *roleInformer) Informer() cache.SharedIndexInformer   { return i.SharedIndexInformer }
func (i *roleInformer) Lister() rbaclisters.ClusterRoleLister { return i.lister }
