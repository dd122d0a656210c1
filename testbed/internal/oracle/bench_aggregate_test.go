package oracle

import (
	"context"
	"fmt"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pyramid has `width` leaves, each aggregated into its own middle role, and one
// role on top of all of those.
func pyramid(width int) []*rbacv1.ClusterRole {
	roles := []*rbacv1.ClusterRole{aggregated("top", "", "top")}
	for i := range width {
		roles = append(roles,
			aggregated(fmt.Sprintf("mid-%d", i), "top", fmt.Sprintf("mid-%d", i)),
			leaf(i, "get"))
	}
	return roles
}

func leaf(i int, verb string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("leaf-%d", i), Labels: map[string]string{"to": fmt.Sprintf("mid-%d", i)}},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{verb}, APIGroups: []string{""}, Resources: []string{fmt.Sprintf("r%d", i)}}},
	}
}

func aggregated(name, to, from string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta:      metav1.ObjectMeta{Name: name, Labels: map[string]string{"to": to}},
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"to": from}}}},
	}
}

// converge fills in the rules of the aggregated roles.
func converge(t *testing.T, roles []*rbacv1.ClusterRole) {
	t.Helper()
	answer, err := aggregate(nil, &aggregateRequest{ClusterRoles: roles})
	if err != nil || !answer.Converged {
		t.Fatalf("no fixpoint: %+v, %v", answer, err)
	}
	for _, role := range roles {
		if role.AggregationRule != nil {
			role.Rules = answer.Roles[role.Name]
		}
	}
}

func TestBenchAggregateReachesTheFixpoint(t *testing.T) {
	roles := pyramid(50)
	converge(t, roles)
	got, err := benchAggregate(nil, &benchAggregateRequest{ClusterRoles: roles, Change: leaf(7, "list")})
	if err != nil {
		t.Fatal(err)
	}
	changed := pyramid(50)
	changed[2+2*7] = leaf(7, "list")
	answer, err := aggregate(nil, &aggregateRequest{ClusterRoles: changed})
	if err != nil {
		t.Fatal(err)
	}
	want, err := digest(answer.Roles)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != want || got.Writes != 2 || got.WallNs <= 0 {
		t.Errorf("answer is %+v, want 2 writes and digest %s", got, want)
	}
}

func TestQuietMeansThatNothingFollows(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	roles := pyramid(20)
	converge(t, roles)
	store, err := newRoleStore(roles)
	if err != nil {
		t.Fatal(err)
	}
	store.own()
	running, err := startController(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer running.stop()
	for round := range 20 {
		store.replace(leaf(round, fmt.Sprintf("verb-%d", round)))
		if err := running.settle(ctx); err != nil {
			t.Fatal(err)
		}
		before := running.activity.read()
		store.mu.Lock()
		writes := store.writes
		store.mu.Unlock()
		if want := 2 * (round + 1); writes != want {
			t.Fatalf("round %d is quiet after %d writes, want %d", round, writes, want)
		}
		time.Sleep(5 * time.Millisecond)
		if after := running.activity.read(); after != before {
			t.Fatalf("round %d was not quiet: %+v became %+v", round, before, after)
		}
	}
}

func TestBenchAggregateGivesUp(t *testing.T) {
	roles := []*rbacv1.ClusterRole{{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, AggregationRule: &rbacv1.AggregationRule{
		ClusterRoleSelectors: []metav1.LabelSelector{{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Gt"}}}},
	}}}
	if _, err := benchAggregate(nil, &benchAggregateRequest{ClusterRoles: roles, Change: leaf(0, "get")}); err == nil {
		t.Error("a selector that never converts was accepted")
	}
	if _, err := benchAggregate(nil, &benchAggregateRequest{ClusterRoles: pyramid(1)}); err == nil {
		t.Error("a request without a change was accepted")
	}
}

// The bytes behind the digest are part of the protocol.
func TestDigest(t *testing.T) {
	got, err := digest(map[string][]rbacv1.PolicyRule{
		"b": nil,
		"a": {{Verbs: []string{"<get>"}, APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{}}},
	})
	// sha256sum of: a\n[{"apiGroups":[""],"resources":["pods"],"verbs":["<get>"]}]\nb\n[]\n
	if want := "ffa25f21168b9caf078f4082a85ea28736b634e1708d6e598a932f93c13c9fd3"; err != nil || got != want {
		t.Errorf("digest is %s (%v), want %s", got, err, want)
	}
}
