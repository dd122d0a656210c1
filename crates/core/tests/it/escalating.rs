//! Who may write which role and binding: section 3 of the Kubernetes facts.

use rolewright_core::escalation::{Refusal, RoleWrite, check_binding, check_role};
use rolewright_core::selector::LabelSelector;
use rolewright_core::{Authorizer, Binding, RBAC_GROUP, Role, RoleRef, Rule, Subject, User, World};

const NOBODY: [&str; 0] = [];

/// carol is cluster-admin, alice is so in `dev` only; `escalate` and `bind` go to those named after them.
fn authorizer() -> Authorizer {
    let all = [Rule::resources(["*"], ["*"], ["*"]), Rule::urls(["*"], ["*"])];
    let rbac = |resource, verb| Rule::resources([RBAC_GROUP], [resource], [verb]);
    let roles = [
        Role::cluster("cluster-admin", all),
        Role::cluster("reader", [Rule::resources([""], ["pods"], ["get", "list"])]),
        Role::cluster("health", [Rule::urls(["/healthz"], ["get"])]),
        Role::cluster("escalator", [rbac("clusterroles", "escalate"), rbac("roles", "escalate")]),
        Role::cluster("escalator-x", [rbac("clusterroles", "escalate").named(["x"])]),
        Role::cluster("binder", [rbac("clusterroles", "bind").named(["reader", "ghost"])]),
        Role::cluster("wrong-binder", [rbac("rolebindings", "bind"), rbac("clusterrolebindings", "bind")]),
    ];
    let cluster = |name: &str, user| Binding::cluster(name, RoleRef::cluster_role(name), [Subject::user(user)]);
    let local = |name: &str, user: &str| {
        Binding::namespaced("dev", format!("{name}-{user}"), RoleRef::cluster_role(name), [Subject::user(user)])
    };
    let bindings = [
        cluster("cluster-admin", "carol"),
        cluster("escalator", "escalate"),
        cluster("escalator-x", "escalate-x"),
        cluster("reader", "reader"),
        cluster("wrong-binder", "wrong-binder"),
        local("cluster-admin", "alice"),
        local("binder", "binder"),
        local("health", "urls"),
    ];
    Authorizer::new(&World::new(roles, bindings))
}

fn refused(result: &Result<(), Refusal>) -> &'static str {
    match result {
        Ok(()) => "ok",
        Err(Refusal::NotHeld { .. }) => "not held",
        Err(Refusal::AggregationNeedsAdmin) => "aggregation",
        Err(Refusal::Unresolved(_)) => "unresolved",
    }
}

#[test]
fn writing_roles() {
    let pods = || [Rule::resources([""], ["pods"], ["get"])];
    let plain = || Role::cluster("x", pods());
    let local = || Role::namespaced("dev", "x", pods());
    let other = || Role::namespaced("prod", "x", pods());
    let aggregated = || Role::aggregated("x", [LabelSelector::default()]);
    let no_selectors = || Role::aggregated("x", []);
    // user, role, old, name in the URL, expected
    let cases = [
        ("masters", plain(), None, "", "ok"),
        ("carol", plain(), None, "", "ok"),
        ("carol", aggregated(), None, "", "ok"),
        ("nobody", plain(), None, "", "not held"),
        ("nobody", Role::cluster("x", []), None, "", "ok"),
        ("reader", plain(), None, "", "ok"),
        ("reader", aggregated(), None, "", "aggregation"),
        ("reader", plain(), Some(aggregated()), "x", "aggregation"),
        ("reader", no_selectors(), None, "", "ok"),
        ("alice", plain(), None, "", "not held"),
        ("alice", local(), None, "", "ok"),
        ("alice", other(), None, "", "not held"),
        ("alice", aggregated(), None, "", "aggregation"),
        ("escalate", plain(), None, "", "ok"),
        ("escalate", aggregated(), None, "", "ok"),
        ("escalate", local(), None, "", "ok"),
        // `escalate` on a name cannot apply to POST, where the request has no name
        ("escalate-x", plain(), None, "", "not held"),
        ("escalate-x", plain(), None, "x", "ok"),
        ("escalate-x", local(), None, "x", "not held"),
    ];
    let authorizer = authorizer();
    for (name, role, old, request_name, expected) in cases {
        let groups: &[&str] = if name == "masters" { &["system:masters"] } else { &[] };
        let user = User::new(name, groups.iter().copied());
        let write = RoleWrite { role: &role, old: old.as_ref(), request_name };
        let result = check_role(&authorizer, &user, &write);
        assert_eq!(refused(&result), expected, "{name} writes {:?} by `{request_name}`", role.key);
    }
}

#[test]
fn writing_bindings() {
    let bind = |namespace: &str, role| match namespace {
        "" => Binding::cluster("x", role, [Subject::user("eve")]),
        _ => Binding::namespaced(namespace, "x", role, [Subject::user("eve")]),
    };
    let reader = || RoleRef::cluster_role("reader");
    let ghost = || RoleRef::cluster_role("ghost");
    let cases = [
        ("masters", bind("", ghost()), "ok"),
        ("carol", bind("", reader()), "ok"),
        ("carol", bind("", RoleRef::cluster_role("cluster-admin")), "ok"),
        ("nobody", bind("dev", reader()), "not held"),
        ("nobody", bind("dev", ghost()), "unresolved"),
        ("nobody", bind("dev", RoleRef { kind: "Widget".into(), ..reader() }), "unresolved"),
        ("reader", bind("", reader()), "ok"),
        ("reader", bind("dev", reader()), "ok"),
        ("alice", bind("dev", reader()), "ok"),
        ("alice", bind("dev", RoleRef::cluster_role("cluster-admin")), "ok"),
        ("alice", bind("prod", reader()), "not held"),
        ("alice", bind("", reader()), "not held"),
        // `bind` in a namespace is for RoleBindings there, by the role's name, even to a role that is not there yet
        ("binder", bind("dev", reader()), "ok"),
        ("binder", bind("dev", ghost()), "ok"),
        ("binder", bind("dev", RoleRef::cluster_role("health")), "not held"),
        ("binder", bind("dev", RoleRef::role("reader")), "unresolved"),
        ("binder", bind("prod", reader()), "not held"),
        ("binder", bind("", reader()), "not held"),
        // `bind` is asked of the role, not of the binding
        ("wrong-binder", bind("dev", reader()), "not held"),
        // URLs held through a RoleBinding count here, though they have no effect
        ("urls", bind("dev", RoleRef::cluster_role("health")), "ok"),
        ("urls", bind("", RoleRef::cluster_role("health")), "not held"),
    ];
    let authorizer = authorizer();
    for (name, binding, expected) in cases {
        let groups: &[&str] = if name == "masters" { &["system:masters"] } else { &[] };
        let user = User::new(name, groups.iter().copied());
        let result = check_binding(&authorizer, &user, &binding);
        assert_eq!(refused(&result), expected, "{name} binds {:?} in {}", binding.role_ref, binding.key);
    }
}

#[test]
fn refusals_name_exactly_what_is_missing() {
    let mut authorizer = authorizer();
    authorizer.set_binding(Binding::cluster("dangling", RoleRef::cluster_role("ghost"), [Subject::user("bob")]));
    let role = Role::cluster(
        "x1",
        [
            Rule::resources([""], ["pods"], ["get", "list"]),
            Rule::resources(["apps"], ["deployments"], ["get"]).named(["web"]),
            Rule::urls(["/metrics"], ["get"]),
        ],
    );
    let write = RoleWrite { role: &role, old: None, request_name: "" };
    let bob = User::new("bob", ["devs", "system:authenticated"]);
    let refusal = check_role(&authorizer, &bob, &write).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "user \"bob\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n\
         {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}\n\
         {APIGroups:[\"apps\"], Resources:[\"deployments\"], ResourceNames:[\"web\"], Verbs:[\"get\"]}\n\
         {NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}; \
         resolution errors: [clusterrole.rbac.authorization.k8s.io \"ghost\" not found]"
    );
    let Refusal::NotHeld { missing, .. } = refusal else { panic!("{refusal:?}") };
    assert_eq!(missing.len(), 4, "one atom per verb: {missing:?}");
    let nobody = User::new("nobody", NOBODY);
    let aggregated = Role::aggregated("x", [LabelSelector::default()]);
    let write = RoleWrite { role: &aggregated, old: None, request_name: "" };
    let refusal = check_role(&authorizer, &nobody, &write).unwrap_err();
    assert_eq!(refusal.to_string(), "must have cluster-admin privileges to use the aggregationRule");
}
