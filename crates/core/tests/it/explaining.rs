//! Why and why not.

use rolewright_core::aggregate::Aggregation;
use rolewright_core::authorize::Obstacle;
use rolewright_core::{Authorizer, Binding, LabelSelector, Request, Role, RoleRef, Rule, Subject, User, World};

fn pods(namespace: &str) -> Request<'_> {
    Request::resource("get", "", "pods").in_namespace(namespace)
}

#[test]
fn every_reason_is_given_in_a_fixed_order() {
    let read = || Rule::resources([""], ["pods"], ["get"]);
    let roles = [
        Role::cluster("reader", [read(), Rule::resources(["*"], ["*"], ["*"])]),
        Role::namespaced("dev", "local", [Rule::urls(["/x"], ["get"]), read()]),
    ];
    let bindings = [
        Binding::namespaced("dev", "z", RoleRef::role("local"), [Subject::service_account("", "ci")]),
        Binding::namespaced(
            "dev",
            "a",
            RoleRef::cluster_role("reader"),
            [Subject::group("system:serviceaccounts:dev")],
        ),
        Binding::cluster(
            "m",
            RoleRef::cluster_role("reader"),
            [Subject::user("someone"), Subject::service_account("dev", "ci")],
        ),
    ];
    let authorizer = Authorizer::new(&World::new(roles, bindings));
    let decision = authorizer.explain(&User::service_account("dev", "ci"), &pods("dev"));
    let texts: Vec<String> = decision.reasons.iter().map(|r| format!("{r}, rule {}", r.index)).collect();
    assert_eq!(
        texts,
        [
            r#"RBAC: allowed by ClusterRoleBinding "m" of ClusterRole "reader" to ServiceAccount "ci/dev", rule 0"#,
            r#"RBAC: allowed by ClusterRoleBinding "m" of ClusterRole "reader" to ServiceAccount "ci/dev", rule 1"#,
            r#"RBAC: allowed by RoleBinding "a/dev" of ClusterRole "reader" to Group "system:serviceaccounts:dev", rule 0"#,
            r#"RBAC: allowed by RoleBinding "a/dev" of ClusterRole "reader" to Group "system:serviceaccounts:dev", rule 1"#,
            r#"RBAC: allowed by RoleBinding "z/dev" of Role "local" to ServiceAccount "ci/dev", rule 1"#,
        ]
    );
    assert!(decision.allowed && decision.near_misses.is_empty());
}

#[test]
fn a_reason_names_the_roles_that_the_rule_came_through() {
    let selects = |label: &str| {
        [LabelSelector { match_labels: [(label.into(), "true".into())].into(), ..LabelSelector::default() }]
    };
    let read = [Rule::resources([""], ["pods"], ["get"])];
    let world = World::new(
        [
            Role::aggregated("admin", selects("to-admin")),
            Role::aggregated("edit", selects("to-edit")).label("to-admin", "true"),
            Role::cluster("pods-1", read.clone()).label("to-edit", "true"),
            Role::cluster("pods-2", read.clone()).label("to-admin", "true"),
            Role::cluster("other", [Rule::resources([""], ["secrets"], ["get"])]).label("to-edit", "true"),
            Role::cluster("plain", read),
        ],
        [
            Binding::cluster("a", RoleRef::cluster_role("admin"), [Subject::user("alice")]),
            Binding::cluster("b", RoleRef::cluster_role("plain"), [Subject::user("alice")]),
        ],
    )
    .aggregated();
    let aggregation = Aggregation::from_roles(world.roles.values());
    let alice = User::new("alice", ["devs"]);
    let decision = Authorizer::new(&world).explain(&alice, &pods("dev")).trace(&aggregation);
    let paths: Vec<Vec<String>> =
        decision.reasons.iter().map(|reason| reason.sources.iter().map(ToString::to_string).collect()).collect();
    assert_eq!(paths[0], ["admin[0] > pods-2", "admin[0] > edit[0] > pods-1"], "the shortest way first");
    assert_eq!(paths[1], ["plain"], "a plain role is its own source");
}

#[test]
fn the_superuser_passes_before_rbac() {
    let decision = Authorizer::default().explain(&User::new("root", ["system:masters"]), &pods(""));
    assert!(decision.allowed && decision.superuser && decision.reasons.is_empty() && decision.text().is_empty());
}

#[test]
fn near_misses_say_what_is_in_the_way() {
    let cases: Vec<(&str, Rule, Request<'_>, Option<Obstacle>)> = vec![
        (
            "verb",
            Rule::resources([""], ["pods"], ["list", "watch"]),
            pods("dev"),
            Some(Obstacle::Verb { held: vec!["list".into(), "watch".into()] }),
        ),
        (
            "named only",
            Rule::resources([""], ["pods"], ["get"]).named(["web"]),
            pods("dev").named("db"),
            Some(Obstacle::NamedOnly { names: vec!["web".into()] }),
        ),
        (
            "another group",
            Rule::resources(["extensions"], ["deployments"], ["get"]),
            Request::resource("get", "apps", "deployments").in_namespace("dev"),
            Some(Obstacle::Group { held: vec!["extensions".into()] }),
        ),
        (
            "the resource without its subresource",
            Rule::resources([""], ["pods", "secrets"], ["get"]),
            pods("dev").subresource("log"),
            Some(Obstacle::Subresource { held: vec!["pods".into()] }),
        ),
        (
            "the inert star",
            Rule::resources([""], ["pods/*"], ["get"]),
            pods("dev").subresource("log"),
            Some(Obstacle::Subresource { held: vec!["pods/*".into()] }),
        ),
        (
            "another namespace",
            Rule::resources([""], ["pods"], ["get"]),
            pods("prod"),
            Some(Obstacle::OtherNamespace("dev".into())),
        ),
        (
            "cluster scope",
            Rule::resources([""], ["pods"], ["get"]),
            pods(""),
            Some(Obstacle::OtherNamespace("dev".into())),
        ),
        ("a URL", Rule::urls(["/x"], ["get"]), Request::url("get", "/x"), Some(Obstacle::UrlThroughRoleBinding)),
        ("two things at once", Rule::resources(["apps"], ["pods"], ["list"]), pods("dev"), None),
        ("everything of another group", Rule::resources(["apps"], ["*"], ["*"]), pods("dev"), None),
    ];
    let alice = User::new("alice", ["devs"]);
    for (what, rule, request, expected) in cases {
        let role = Role::cluster("near", [Rule::default(), rule]);
        let binding = Binding::namespaced("dev", "b", RoleRef::cluster_role("near"), [Subject::group("devs")]);
        let authorizer = Authorizer::new(&World::new([role], [binding]));
        let decision = authorizer.explain(&alice, &request);
        assert!(!decision.allowed, "{what}");
        let found = decision.near_misses.first();
        assert_eq!(found.map(|miss| miss.obstacle.clone()), expected, "{what}");
        assert!(found.is_none_or(|miss| miss.rule == Some(1)), "{what}");
    }
}

#[test]
fn a_dangling_reference_is_reported_and_stops_nothing() {
    let roles = [Role::cluster("reader", [Rule::resources([""], ["pods"], ["get"])])];
    let bindings = [
        Binding::cluster("a", RoleRef::cluster_role("ghost"), [Subject::user("alice")]),
        Binding::namespaced("dev", "b", RoleRef::role("ghost"), [Subject::user("alice")]),
        Binding::cluster("c", RoleRef::cluster_role("reader"), [Subject::user("alice")]),
        Binding::cluster("d", RoleRef { kind: "Widget".into(), ..RoleRef::role("x") }, [Subject::user("alice")]),
    ];
    let authorizer = Authorizer::new(&World::new(roles, bindings));
    let alice = User::new("alice", ["devs"]);
    assert!(authorizer.allows(&alice, &pods("dev")));
    let denied = authorizer.explain(&alice, &Request { verb: "delete", ..pods("dev") });
    assert_eq!(
        denied.text(),
        "RBAC: [clusterrole.rbac.authorization.k8s.io \"ghost\" not found, unsupported role reference kind: \"Widget\", \
         role.rbac.authorization.k8s.io \"ghost\" not found]"
    );
    let missing: Vec<_> = denied.near_misses.iter().filter(|miss| miss.obstacle == Obstacle::RoleMissing).collect();
    assert_eq!(missing.len(), 2, "{missing:?}");
}
