package oracle

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// accessRequest is one thing that somebody wants to do. A non-empty Path makes
// it a request for a URL.
type accessRequest struct {
	User        string   `json:"user"`
	Groups      []string `json:"groups"`
	Verb        string   `json:"verb"`
	Group       string   `json:"group"`
	Resource    string   `json:"resource"`
	Subresource string   `json:"subresource"`
	Namespace   string   `json:"namespace"`
	Name        string   `json:"name"`
	Path        string   `json:"path"`
}

func (r *accessRequest) attributes() *authorizer.AttributesRecord {
	return &authorizer.AttributesRecord{
		User:            &user.DefaultInfo{Name: r.User, Groups: r.Groups},
		Verb:            r.Verb,
		Namespace:       r.Namespace,
		APIGroup:        r.Group,
		APIVersion:      "*",
		Resource:        r.Resource,
		Subresource:     r.Subresource,
		Name:            r.Name,
		ResourceRequest: r.Path == "",
		Path:            r.Path,
	}
}

// chain puts the members of system:masters before RBAC, as kube-apiserver does.
func chain(w *world, roleBindings validation.RoleBindingLister, clusterRoleBindings validation.ClusterRoleBindingLister) authorizer.Authorizer {
	return union.New(
		authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup),
		rbac.New(w.roles, roleBindings, w.clusterRoles, clusterRoleBindings),
	)
}

type authorizeRequest struct {
	Requests []accessRequest `json:"requests"`
}

type authorizeAnswer struct {
	Results []decision `json:"results"`
}

type decision struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
	Error   string `json:"error"`
}

func authorize(s *session, in *authorizeRequest) (*authorizeAnswer, error) {
	authz := chain(s.world, s.world.byName, s.world.byName)
	out := &authorizeAnswer{Results: make([]decision, len(in.Requests))}
	for i := range in.Requests {
		decided, reason, err := authz.Authorize(context.Background(), in.Requests[i].attributes())
		out.Results[i] = decision{Allowed: decided == authorizer.DecisionAllow, Reason: reason, Error: text(err)}
	}
	return out, nil
}

type whoCanAnswer struct {
	Results []subjects `json:"results"`
}

type subjects struct {
	Subjects []rbacv1.Subject `json:"subjects"`
	Error    string           `json:"error"`
}

func whoCan(s *session, in *authorizeRequest) (*whoCanAnswer, error) {
	w := s.world
	locator := rbac.NewSubjectAccessEvaluator(w.roles, w.byName, w.clusterRoles, w.byName, "")
	out := &whoCanAnswer{Results: make([]subjects, len(in.Requests))}
	for i := range in.Requests {
		found, err := locator.AllowedSubjects(context.Background(), in.Requests[i].attributes())
		out.Results[i] = subjects{Subjects: found, Error: text(err)}
	}
	return out, nil
}

type rulesForRequest struct {
	Queries []rulesQuery `json:"queries"`
}

type rulesQuery struct {
	User      string   `json:"user"`
	Groups    []string `json:"groups"`
	Namespace string   `json:"namespace"`
}

type rulesForAnswer struct {
	Results []heldRules `json:"results"`
}

type heldRules struct {
	Rules  []rbacv1.PolicyRule `json:"rules"`
	Errors []string            `json:"errors"`
}

func rulesFor(s *session, in *rulesForRequest) (*rulesForAnswer, error) {
	resolver := s.world.resolver()
	out := &rulesForAnswer{Results: make([]heldRules, len(in.Queries))}
	for i, query := range in.Queries {
		holder := &user.DefaultInfo{Name: query.User, Groups: query.Groups}
		rules, err := resolver.RulesFor(context.Background(), holder, query.Namespace)
		out.Results[i] = heldRules{Rules: orEmpty(rules), Errors: texts(err)}
	}
	return out, nil
}

type escalationRequest struct {
	Queries []escalationQuery `json:"queries"`
}

type escalationQuery struct {
	User      string              `json:"user"`
	Groups    []string            `json:"groups"`
	Namespace string              `json:"namespace"`
	Rules     []rbacv1.PolicyRule `json:"rules"`
}

type escalationAnswer struct {
	Results []escalation `json:"results"`
}

type escalation struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

func confirmNoEscalation(s *session, in *escalationRequest) (*escalationAnswer, error) {
	resolver := s.world.resolver()
	out := &escalationAnswer{Results: make([]escalation, len(in.Queries))}
	for i, query := range in.Queries {
		ctx := request.WithUser(context.Background(), &user.DefaultInfo{Name: query.User, Groups: query.Groups})
		ctx = request.WithNamespace(ctx, query.Namespace)
		err := validation.ConfirmNoEscalation(ctx, resolver, query.Rules)
		out.Results[i] = escalation{OK: err == nil, Message: text(err)}
	}
	return out, nil
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// texts splits an aggregate into the texts of its parts.
func texts(err error) []string {
	out := []string{}
	if err == nil {
		return out
	}
	if parts, ok := err.(utilerrors.Aggregate); ok {
		for _, part := range parts.Errors() {
			out = append(out, part.Error())
		}
		return out
	}
	return append(out, err.Error())
}

// orEmpty makes a nil list print as [] instead of null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
