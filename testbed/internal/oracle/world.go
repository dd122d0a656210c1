package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	rbaclisters "k8s.io/client-go/listers/rbac/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// world holds the loaded objects as an informer would.
type world struct {
	size  int
	roles *rbac.RoleGetter
	// INVARIANT: the bindings behind byName are those of the listers, in
	// ascending order of their names.
	byName              *sortedBindings
	roleBindings        *rbac.RoleBindingLister
	clusterRoles        *rbac.ClusterRoleGetter
	clusterRoleBindings *rbac.ClusterRoleBindingLister
}

type loadRequest struct {
	World worldObjects `json:"world"`
}

type worldObjects struct {
	ClusterRoles        []*rbacv1.ClusterRole        `json:"clusterRoles"`
	Roles               []*rbacv1.Role               `json:"roles"`
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding `json:"clusterRoleBindings"`
	RoleBindings        []*rbacv1.RoleBinding        `json:"roleBindings"`
}

type loadAnswer struct {
	Loaded int `json:"loaded"`
}

func load(s *session, request *loadRequest) (*loadAnswer, error) {
	loaded := newWorld()
	if err := loaded.fill(&request.World); err != nil {
		return nil, err
	}
	s.world = loaded
	return &loadAnswer{Loaded: loaded.size}, nil
}

func newWorld() *world {
	w := &world{}
	// An empty world cannot hold a duplicate.
	_ = w.fill(&worldObjects{})
	return w
}

func (w *world) fill(objects *worldObjects) error {
	clusterRoles, err := index(objects.ClusterRoles)
	if err != nil {
		return err
	}
	roles, err := index(objects.Roles)
	if err != nil {
		return err
	}
	clusterRoleBindings, err := index(objects.ClusterRoleBindings)
	if err != nil {
		return err
	}
	roleBindings, err := index(objects.RoleBindings)
	if err != nil {
		return err
	}
	w.size = len(objects.ClusterRoles) + len(objects.Roles) + len(objects.ClusterRoleBindings) + len(objects.RoleBindings)
	w.clusterRoles = &rbac.ClusterRoleGetter{Lister: rbaclisters.NewClusterRoleLister(clusterRoles)}
	w.roles = &rbac.RoleGetter{Lister: rbaclisters.NewRoleLister(roles)}
	w.clusterRoleBindings = &rbac.ClusterRoleBindingLister{Lister: rbaclisters.NewClusterRoleBindingLister(clusterRoleBindings)}
	w.roleBindings = &rbac.RoleBindingLister{Lister: rbaclisters.NewRoleBindingLister(roleBindings)}
	w.byName, err = sortBindings(w.clusterRoleBindings.Lister, w.roleBindings.Lister)
	return err
}

func index[T metav1.Object](objects []T) (cache.Indexer, error) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for i, object := range objects {
		if any(object) == any(*new(T)) {
			return nil, fmt.Errorf("%T at index %d is null", object, i)
		}
		if _, exists, _ := indexer.Get(object); exists {
			return nil, fmt.Errorf("%T `%s` is given twice", object, cache.MetaObjectToName(object))
		}
		if err := indexer.Add(object); err != nil {
			return nil, err
		}
	}
	return indexer, nil
}

// resolver visits bindings by name.
//
// WHY: an informer's lister returns them in random order, and the first match
// gives the reason of an answer. Any order is one that Kubernetes may take;
// this one makes the answers reproducible.
func (w *world) resolver() *validation.DefaultRuleResolver {
	return validation.NewDefaultRuleResolver(w.roles, w.byName, w.clusterRoles, w.byName)
}

// sortedBindings lists bindings in ascending order of their names.
type sortedBindings struct {
	cluster    []*rbacv1.ClusterRoleBinding
	namespaced map[string][]*rbacv1.RoleBinding
}

func sortBindings(clusterLister rbaclisters.ClusterRoleBindingLister, lister rbaclisters.RoleBindingLister) (*sortedBindings, error) {
	cluster, err := clusterLister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	all, err := lister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(cluster, func(a, b *rbacv1.ClusterRoleBinding) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(all, func(a, b *rbacv1.RoleBinding) int { return cmp.Compare(a.Name, b.Name) })
	namespaced := map[string][]*rbacv1.RoleBinding{}
	for _, binding := range all {
		namespaced[binding.Namespace] = append(namespaced[binding.Namespace], binding)
	}
	return &sortedBindings{cluster: cluster, namespaced: namespaced}, nil
}

func (b *sortedBindings) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return b.cluster, nil
}

func (b *sortedBindings) ListRoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return b.namespaced[namespace], nil
}
