package facts

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// policy is the set of RBAC objects that a new cluster has.
type policy struct {
	clusterRoles        []rbacv1.ClusterRole
	clusterRoleBindings []rbacv1.ClusterRoleBinding
	roles               []rbacv1.Role
	roleBindings        []rbacv1.RoleBinding
}

// bootstrap takes the policy from Kubernetes' tables and makes sure that the
// server has created exactly these objects.
func bootstrap(ctx context.Context, server *rest.Config) ([]byte, error) {
	declared := declaredPolicy()
	created, err := createdPolicy(ctx, server)
	if err != nil {
		return nil, err
	}
	for _, err := range []error{
		same("cluster roles", declared.clusterRoles, created.clusterRoles),
		same("cluster role bindings", declared.clusterRoleBindings, created.clusterRoleBindings),
		same("roles", declared.roles, created.roles),
		same("role bindings", declared.roleBindings, created.roleBindings),
	} {
		if err != nil {
			return nil, err
		}
	}
	d := newDocument()
	list(d, "clusterRoles", declared.clusterRoles)
	list(d, "clusterRoleBindings", declared.clusterRoleBindings)
	list(d, "roles", declared.roles)
	list(d, "roleBindings", declared.roleBindings)
	return d.bytes()
}

func declaredPolicy() *policy {
	p := &policy{
		clusterRoles:        slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()),
		clusterRoleBindings: slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()),
	}
	for namespace, roles := range bootstrappolicy.NamespaceRoles() {
		for _, role := range roles {
			role.Namespace = namespace
			p.roles = append(p.roles, role)
		}
	}
	for namespace, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for _, binding := range bindings {
			binding.Namespace = namespace
			p.roleBindings = append(p.roleBindings, binding)
		}
	}
	return p.tidy()
}

func createdPolicy(ctx context.Context, server *rest.Config) (*policy, error) {
	client, err := kubernetes.NewForConfig(server)
	if err != nil {
		return nil, err
	}
	clusterRoles, err := client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	clusterRoleBindings, err := client.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	roles, err := client.RbacV1().Roles("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	roleBindings, err := client.RbacV1().RoleBindings("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	p := &policy{clusterRoles.Items, clusterRoleBindings.Items, roles.Items, roleBindings.Items}
	return p.tidy(), nil
}

// tidy sorts the objects, names their kinds and keeps only the metadata that
// their author chose.
func (p *policy) tidy() *policy {
	for i := range p.clusterRoles {
		r := &p.clusterRoles[i]
		r.TypeMeta, r.ObjectMeta = kind("ClusterRole"), chosen(&r.ObjectMeta)
	}
	for i := range p.clusterRoleBindings {
		b := &p.clusterRoleBindings[i]
		b.TypeMeta, b.ObjectMeta = kind("ClusterRoleBinding"), chosen(&b.ObjectMeta)
	}
	for i := range p.roles {
		r := &p.roles[i]
		r.TypeMeta, r.ObjectMeta = kind("Role"), chosen(&r.ObjectMeta)
	}
	for i := range p.roleBindings {
		b := &p.roleBindings[i]
		b.TypeMeta, b.ObjectMeta = kind("RoleBinding"), chosen(&b.ObjectMeta)
	}
	slices.SortFunc(p.clusterRoles, func(a, b rbacv1.ClusterRole) int { return byName(&a.ObjectMeta, &b.ObjectMeta) })
	slices.SortFunc(p.clusterRoleBindings, func(a, b rbacv1.ClusterRoleBinding) int { return byName(&a.ObjectMeta, &b.ObjectMeta) })
	slices.SortFunc(p.roles, func(a, b rbacv1.Role) int { return byName(&a.ObjectMeta, &b.ObjectMeta) })
	slices.SortFunc(p.roleBindings, func(a, b rbacv1.RoleBinding) int { return byName(&a.ObjectMeta, &b.ObjectMeta) })
	return p
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: name}
}

func chosen(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, Labels: m.Labels, Annotations: m.Annotations}
}

func byName(a, b *metav1.ObjectMeta) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func same[T any](what string, declared, created []T) error {
	if len(declared) != len(created) {
		return fmt.Errorf("%d %s are declared, the server has %d", len(declared), what, len(created))
	}
	for i := range declared {
		if !equality.Semantic.DeepEqual(declared[i], created[i]) {
			return fmt.Errorf("%s: declared is %+v, the server has %+v", what, declared[i], created[i])
		}
	}
	return nil
}
