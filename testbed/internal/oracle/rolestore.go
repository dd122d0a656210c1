package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
)

// aggregator is the field manager under which the aggregation controller writes.
const aggregator = "clusterrole-aggregation-controller"

// roleStore keeps ClusterRoles in memory and stands in for the API server of
// the aggregation controller. It serves the one request that the controller
// sends, a forced server-side apply of `rules`.
//
// Ownership is modelled for `rules` alone, which server-side apply treats as
// one atomic value:
//   - an apply with rules that differ from the stored ones replaces them and
//     leaves its manager as the only owner;
//   - an apply without rules gives up the manager's ownership, and the rules
//     vanish if that leaves them without an owner. Rules that the manager never
//     owned stay.
//
// At the start the owners of a role are those its managedFields name; rules
// without an entry there belong to somebody else than the controller.
type roleStore struct {
	mu       sync.Mutex
	roles    map[string]*rbacv1.ClusterRole
	owners   map[string]map[string]bool
	version  int
	requests int
	writes   int
	// changed is told of every new state of a role, in order.
	changed func(*rbacv1.ClusterRole)
}

func newRoleStore(roles []*rbacv1.ClusterRole) (*roleStore, error) {
	s := &roleStore{
		roles:   make(map[string]*rbacv1.ClusterRole, len(roles)),
		owners:  map[string]map[string]bool{},
		changed: func(*rbacv1.ClusterRole) {},
	}
	for i, role := range roles {
		if role == nil {
			return nil, fmt.Errorf("cluster role at index %d is null", i)
		}
		if role.Name == "" {
			return nil, fmt.Errorf("cluster role at index %d has no name", i)
		}
		if _, exists := s.roles[role.Name]; exists {
			return nil, fmt.Errorf("cluster role `%s` is given twice", role.Name)
		}
		s.owners[role.Name] = rulesOwners(role.ManagedFields)
		s.put(role)
	}
	return s, nil
}

// own makes the controller the owner of the rules of every aggregated role, as
// after a sync that wrote them.
func (s *roleStore) own() {
	for name, role := range s.roles {
		if role.AggregationRule != nil && len(role.Rules) > 0 {
			s.owners[name] = map[string]bool{aggregator: true}
		}
	}
}

// put stores a private copy under the next version and returns it.
func (s *roleStore) put(role *rbacv1.ClusterRole) *rbacv1.ClusterRole {
	s.version++
	stored := role.DeepCopy()
	stored.ResourceVersion = strconv.Itoa(s.version)
	s.roles[stored.Name] = stored
	return stored
}

// replace stores a new state of a role, as an update by a user would.
func (s *roleStore) replace(role *rbacv1.ClusterRole) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed(s.put(role))
}

// apply is the forced apply described at roleStore.
func (s *roleStore) apply(manager string, config *rbacv1ac.ClusterRoleApplyConfiguration) (*rbacv1.ClusterRole, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	current, ok := s.roles[*config.Name]
	if !ok {
		return nil, fmt.Errorf("apply to unknown cluster role `%s`", *config.Name)
	}
	owners := s.owners[current.Name]
	if owners == nil {
		owners = map[string]bool{}
	}
	next := *current
	switch {
	case len(config.Rules) == 0:
		if !owners[manager] {
			return current, nil
		}
		delete(owners, manager)
		if len(owners) == 0 {
			next.Rules = nil
		}
	case equality.Semantic.DeepEqual(policyRules(config.Rules), current.Rules):
		if owners[manager] {
			return current, nil
		}
		owners[manager] = true
	default:
		next.Rules = policyRules(config.Rules)
		owners = map[string]bool{manager: true}
	}
	s.owners[current.Name] = owners
	s.writes++
	stored := s.put(&next)
	s.changed(stored)
	return stored, nil
}

// aggregated returns the rules of every role with an aggregation rule.
func (s *roleStore) aggregated() map[string][]rbacv1.PolicyRule {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules := map[string][]rbacv1.PolicyRule{}
	for name, role := range s.roles {
		if role.AggregationRule != nil {
			rules[name] = orEmpty(role.Rules)
		}
	}
	return rules
}

func policyRules(configs []rbacv1ac.PolicyRuleApplyConfiguration) []rbacv1.PolicyRule {
	rules := make([]rbacv1.PolicyRule, len(configs))
	for i, config := range configs {
		rules[i] = rbacv1.PolicyRule{
			Verbs:           config.Verbs,
			APIGroups:       config.APIGroups,
			Resources:       config.Resources,
			ResourceNames:   config.ResourceNames,
			NonResourceURLs: config.NonResourceURLs,
		}
	}
	return rules
}

// rulesOwners names the managers whose entry holds `rules`.
func rulesOwners(entries []metav1.ManagedFieldsEntry) map[string]bool {
	owners := map[string]bool{}
	for _, entry := range entries {
		var fields map[string]json.RawMessage
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.Raw, &fields) != nil {
			continue
		}
		if _, ok := fields["f:rules"]; ok {
			owners[entry.Manager] = true
		}
	}
	return owners
}

// roleClient gives the controller access to the store. The embedded interface
// stays nil: a call of any other method is a change in the controller that this
// package has to learn about, and panics.
type roleClient struct {
	rbacclient.ClusterRoleInterface
	store *roleStore
}

func (c *roleClient) ClusterRoles() rbacclient.ClusterRoleInterface { return c }

func (c *roleClient) Apply(_ context.Context, config *rbacv1ac.ClusterRoleApplyConfiguration, options metav1.ApplyOptions) (*rbacv1.ClusterRole, error) {
	if !options.Force {
		return nil, fmt.Errorf("apply by `%s` without force is not modelled", options.FieldManager)
	}
	return c.store.apply(options.FieldManager, config)
}
