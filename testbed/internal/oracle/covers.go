package oracle

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	componentvalidation "k8s.io/component-helpers/auth/rbac/validation"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
)

type coversRequest struct {
	Pairs []coverPair `json:"pairs"`
}

type coverPair struct {
	Owner   []rbacv1.PolicyRule `json:"owner"`
	Servant []rbacv1.PolicyRule `json:"servant"`
}

type coversAnswer struct {
	Results []coverage `json:"results"`
}

type coverage struct {
	Covered bool                `json:"covered"`
	Missing []rbacv1.PolicyRule `json:"missing"`
}

func covers(_ *session, in *coversRequest) (*coversAnswer, error) {
	out := &coversAnswer{Results: make([]coverage, len(in.Pairs))}
	for i, pair := range in.Pairs {
		covered, missing := componentvalidation.Covers(pair.Owner, pair.Servant)
		out.Results[i] = coverage{Covered: covered, Missing: orEmpty(missing)}
	}
	return out, nil
}

type compactRequest struct {
	Rules [][]rbacv1.PolicyRule `json:"rules"`
}

type compactAnswer struct {
	Results [][]rbacv1.PolicyRule `json:"results"`
}

func compact(_ *session, in *compactRequest) (*compactAnswer, error) {
	out := &compactAnswer{Results: make([][]rbacv1.PolicyRule, len(in.Rules))}
	for i, rules := range in.Rules {
		compacted, err := validation.CompactRules(rules)
		if err != nil {
			return nil, err
		}
		sortMerged(compacted)
		out.Results[i] = orEmpty(compacted)
	}
	return out, nil
}

// sortMerged orders the merged rules, which Kubernetes appends to the others in
// random order, by group, resource and name.
func sortMerged(rules []rbacv1.PolicyRule) {
	first := len(rules)
	for first > 0 && mergeable(&rules[first-1]) {
		first--
	}
	slices.SortFunc(rules[first:], func(a, b rbacv1.PolicyRule) int {
		return cmp.Or(
			cmp.Compare(a.APIGroups[0], b.APIGroups[0]),
			cmp.Compare(a.Resources[0], b.Resources[0]),
			slices.Compare(a.ResourceNames, b.ResourceNames),
		)
	})
}

// mergeable says whether Kubernetes may have merged the rule with its like. An
// empty list of URLs that is not nil, as `[]` decodes to, keeps a rule apart.
func mergeable(rule *rbacv1.PolicyRule) bool {
	return len(rule.APIGroups) == 1 && len(rule.Resources) == 1 && len(rule.ResourceNames) <= 1 && rule.NonResourceURLs == nil
}
