//! The bootstrap policy, checked against section 5 of the Kubernetes facts.

use rolewright_core::{Authorizer, Name, Request, Role, RoleKey, RuleSet, User, World, bootstrap};

fn cluster_role<'a>(world: &'a World, name: &str) -> &'a Role {
    &world.roles[&RoleKey::cluster(name)]
}

#[test]
fn a_fresh_cluster_has_this_many_objects() {
    let world = bootstrap::world();
    let (cluster_roles, roles): (Vec<_>, Vec<_>) = world.roles.keys().partition(|key| key.namespace().is_empty());
    let (cluster_bindings, bindings): (Vec<_>, Vec<_>) =
        world.bindings.keys().partition(|key| key.namespace().is_empty());
    let counts = [cluster_roles.len(), cluster_bindings.len(), roles.len(), bindings.len()];
    assert_eq!(counts, COUNTS, "ClusterRoles, ClusterRoleBindings, Roles, RoleBindings of {}", bootstrap::VERSION);
    let controllers = cluster_roles.iter().filter(|key| key.name().starts_with("system:controller:")).count();
    assert_eq!(controllers, CONTROLLERS);
    for role in world.roles.values() {
        let label = role.labels.get(bootstrap::LABEL.0).map(Name::as_str);
        assert_eq!(label, Some(bootstrap::LABEL.1), "{}", role.key);
    }
}

/// As a server of that version answers; the facts of 1.37-dev count 73, 54, 7, 7.
const COUNTS: [usize; 4] = [69, 50, 7, 7];
const CONTROLLERS: usize = 38;

#[test]
fn admin_edit_and_view_follow_from_their_parts() {
    let fresh = bootstrap::world();
    for name in ["admin", "edit", "view"] {
        assert!(cluster_role(&fresh, name).rules.is_empty(), "{name} is empty until it is aggregated");
    }
    let world = fresh.aggregated();
    let rules = |name| &cluster_role(&world, name).rules;
    let lengths = ["view", "edit", "admin"].map(|name| rules(name).len());
    assert_eq!(lengths, [12, 27, 29]);
    let parts = |first, second| [rules(first).as_slice(), rules(second).as_slice()].concat();
    assert_eq!(*rules("view"), *rules("system:aggregate-to-view"));
    assert_eq!(*rules("edit"), parts("system:aggregate-to-edit", "view"));
    assert_eq!(*rules("admin"), parts("edit", "system:aggregate-to-admin"));
    let sets = ["view", "edit", "admin", "cluster-admin"].map(|name| RuleSet::new(rules(name)));
    for pair in sets.windows(2) {
        assert!(pair[0].implies(&pair[1]) && !pair[1].implies(&pair[0]), "view <= edit <= admin <= cluster-admin");
    }
    let reading = |verb: &Name| ["get", "list", "watch"].contains(&verb.as_str());
    assert!(rules("view").iter().flat_map(|rule| &rule.verbs).all(reading), "view only reads");
    let secrets = Request::resource("get", "", "secrets");
    assert!(!rules("view").iter().any(|rule| rule.allows(&secrets)), "view reads no secrets");
    assert!(rules("edit").iter().any(|rule| rule.allows(&secrets)));
}

#[test]
fn everyone_may_what_a_fresh_cluster_lets_them() {
    let authorizer = Authorizer::new(&bootstrap::world().aggregated());
    let anonymous = User::new("system:anonymous", ["system:unauthenticated"]);
    let somebody = User::authenticated("somebody", [] as [&str; 0]);
    let admin = User::authenticated("root", ["system:masters"]);
    let account = User::service_account("kube-system", "namespace-controller");
    let review = Request::resource("create", "authorization.k8s.io", "selfsubjectaccessreviews");
    let cases = [
        (&anonymous, Request::url("get", "/version"), true),
        (&anonymous, Request::url("get", "/apis"), false),
        (&somebody, Request::url("get", "/apis/apps"), true),
        (&somebody, Request::url("get", "/metrics"), false),
        (&somebody, review, true),
        (&anonymous, review, false),
        (&somebody, Request::resource("list", "", "pods").in_namespace("default"), false),
        (&account, Request::resource("delete", "", "namespaces"), true),
        (&account, Request::resource("create", "", "secrets").in_namespace("default"), false),
        (&admin, Request::resource("delete", "", "nodes"), true),
    ];
    for (user, request, allowed) in cases {
        assert_eq!(authorizer.allows(user, &request), allowed, "{} {request:?}", user.name);
    }
    let decision = authorizer.explain(&admin, &Request::resource("delete", "", "nodes"));
    assert_eq!(decision.reasons.len(), 1, "beside the superuser's pass, the binding of cluster-admin");
}
