//! Who may do what: subjects and scopes (sections 2.2, 2.5, 2.6 and 8.2 of the Kubernetes facts).

use rolewright_core::authorize::Reach;
use rolewright_core::{Authorizer, Binding, NameList, Request, Role, RoleKey, RoleRef, Rule, Subject, User, World};

fn read_pods() -> [Rule; 1] {
    [Rule::resources([""], ["pods"], ["get"])]
}

/// One binding of one role that reads pods.
fn one(binding: Binding) -> Authorizer {
    let roles = [Role::cluster("reader", read_pods()), Role::namespaced("dev", "local", read_pods())];
    Authorizer::new(&World::new(roles, [binding]))
}

fn in_dev(subject: Subject) -> Authorizer {
    one(Binding::namespaced("dev", "b", RoleRef::cluster_role("reader"), [subject]))
}

fn everywhere(subject: Subject) -> Authorizer {
    one(Binding::cluster("b", RoleRef::cluster_role("reader"), [subject]))
}

#[test]
fn scope_of_bindings() {
    let alice = || User::new("alice", ["devs"]);
    let pods = |namespace| Request::resource("get", "", "pods").in_namespace(namespace);
    let local = one(Binding::namespaced("dev", "b", RoleRef::role("local"), [Subject::user("alice")]));
    let elsewhere = one(Binding::namespaced("ops", "b", RoleRef::role("local"), [Subject::user("alice")]));
    let impossible = one(Binding::cluster("b", RoleRef::role("local"), [Subject::user("alice")]));
    let unknown_kind = RoleRef { kind: "Widget".into(), ..RoleRef::cluster_role("reader") };
    let cases = [
        ("cluster binding, some namespace", everywhere(Subject::user("alice")), pods("any"), true),
        ("cluster binding, cluster scope", everywhere(Subject::user("alice")), pods(""), true),
        ("role binding to cluster role, its namespace", in_dev(Subject::user("alice")), pods("dev"), true),
        ("role binding to cluster role, other namespace", in_dev(Subject::user("alice")), pods("ops"), false),
        ("role binding to cluster role, cluster scope", in_dev(Subject::user("alice")), pods(""), false),
        ("role binding to role", local.clone(), pods("dev"), true),
        ("role binding to role, cluster scope", local, pods(""), false),
        ("role binding to a role of another namespace", elsewhere, pods("ops"), false),
        ("cluster binding to a role", impossible, pods("dev"), false),
        ("unknown kind", one(Binding::cluster("b", unknown_kind, [Subject::user("alice")])), pods("dev"), false),
    ];
    for (what, authorizer, request, allowed) in cases {
        assert_eq!(authorizer.allows(&alice(), &request), allowed, "{what}");
        assert_eq!(authorizer.explain(&alice(), &request).allowed, allowed, "{what}, explained");
    }
}

#[test]
fn subjects() {
    let ci = || User::service_account("dev", "ci");
    let none: [&str; 0] = [];
    let robot = Subject { kind: "Robot".into(), ..Subject::user("alice") };
    let cases = [
        ("user by name", in_dev(Subject::user("alice")), User::new("alice", none), true),
        ("another user", in_dev(Subject::user("alice")), User::new("bob", none), false),
        ("case matters", in_dev(Subject::user("alice")), User::new("Alice", none), false),
        ("star is a name", in_dev(Subject::user("*")), User::new("alice", none), false),
        ("star itself", in_dev(Subject::user("*")), User::new("*", none), true),
        ("any of the groups", in_dev(Subject::group("ops")), User::new("alice", ["devs", "ops"]), true),
        ("not a group", in_dev(Subject::group("ops")), User::new("ops", ["devs"]), false),
        ("a user is not a group", in_dev(Subject::user("ops")), User::new("alice", ["ops"]), false),
        ("account, own namespace", in_dev(Subject::service_account("", "ci")), ci(), true),
        ("account, named namespace", in_dev(Subject::service_account("dev", "ci")), ci(), true),
        ("account of another namespace", in_dev(Subject::service_account("ops", "ci")), ci(), false),
        (
            "account named from afar",
            in_dev(Subject::service_account("ops", "ci")),
            User::service_account("ops", "ci"),
            true,
        ),
        ("account without namespace, cluster", everywhere(Subject::service_account("", "ci")), ci(), false),
        ("account as user", in_dev(Subject::user("system:serviceaccount:dev:ci")), ci(), true),
        ("all accounts", in_dev(Subject::group("system:serviceaccounts")), ci(), true),
        ("accounts of the namespace", in_dev(Subject::group("system:serviceaccounts:dev")), ci(), true),
        ("accounts of another", in_dev(Subject::group("system:serviceaccounts:ops")), ci(), false),
        ("everyone logged in", in_dev(Subject::group("system:authenticated")), ci(), true),
        ("nobody logged in", in_dev(Subject::group("system:unauthenticated")), ci(), false),
        ("unknown kind", in_dev(robot), User::new("alice", none), false),
        ("empty user", in_dev(Subject::user("alice")), User::default(), false),
        ("superuser", in_dev(Subject::user("alice")), User::new("x", ["system:masters"]), true),
    ];
    let request = Request::resource("get", "", "pods").in_namespace("dev");
    for (what, authorizer, user, allowed) in cases {
        assert_eq!(authorizer.allows(&user, &request), allowed, "{what}");
        assert_eq!(authorizer.explain(&user, &request).allowed, allowed, "{what}, explained");
        let held = !authorizer.rules_for(&user, "dev").held.is_empty();
        assert_eq!(held, allowed && !user.is_superuser(), "{what}, effective rules");
    }
}

#[test]
fn urls_have_no_effect_through_a_role_binding() {
    let role = Role::cluster("health", [Rule::urls(["/healthz"], ["get"])]);
    let bind = |binding| Authorizer::new(&World::new([role.clone()], [binding]));
    let local = bind(Binding::namespaced("dev", "b", RoleRef::cluster_role("health"), [Subject::user("alice")]));
    let global = bind(Binding::cluster("b", RoleRef::cluster_role("health"), [Subject::user("alice")]));
    let alice = User::new("alice", ["devs"]);
    assert!(!local.allows(&alice, &Request::url("get", "/healthz")));
    assert!(global.allows(&alice, &Request::url("get", "/healthz")));
}

#[test]
fn changes_count_at_once() {
    let alice = User::new("alice", ["devs"]);
    let request = Request::resource("get", "", "pods").in_namespace("dev");
    let mut authorizer = Authorizer::default();
    let empty = authorizer.index_sizes();
    let binding = Binding::namespaced("dev", "b", RoleRef::cluster_role("reader"), [Subject::group("devs")]);
    authorizer.set_binding(binding.clone());
    assert!(!authorizer.allows(&alice, &request), "the role does not exist yet");
    authorizer.set_role(Role::cluster("reader", read_pods()));
    assert!(authorizer.allows(&alice, &request));
    authorizer.set_role(Role::cluster("reader", [Rule::resources([""], ["secrets"], ["get"])]));
    assert!(!authorizer.allows(&alice, &request), "the rule was replaced");
    authorizer.set_role(Role::cluster("reader", read_pods()));
    authorizer.set_binding(Binding { subjects: vec![Subject::group("ops")], ..binding.clone() });
    assert!(!authorizer.allows(&alice, &request), "the group was replaced");
    authorizer.set_binding(binding.clone());
    authorizer.remove_role(&RoleKey::cluster("reader"));
    assert!(!authorizer.allows(&alice, &request), "the role is gone");
    authorizer.remove_binding(&binding.key);
    assert_eq!(authorizer.index_sizes(), empty, "nothing is left behind");
}

#[test]
fn a_rule_too_large_for_the_index_is_read() {
    let many: NameList = (0..300).map(|n| format!("r{n}").into()).collect();
    let wide = Rule { api_groups: many.clone(), resources: many, ..Rule::resources([""], [""], ["get"]) };
    let role = Role::cluster("wide", [wide]);
    let binding = Binding::cluster("b", RoleRef::cluster_role("wide"), [Subject::user("alice")]);
    let mut authorizer = Authorizer::new(&World::new([role], [binding]));
    let alice = User::new("alice", ["devs"]);
    let request = Request::resource("get", "r7", "r299");
    assert!(authorizer.allows(&alice, &request));
    assert!(!authorizer.allows(&alice, &Request::resource("get", "r7", "other")));
    let (holders, _) = authorizer.who_can(&request, Reach::Request);
    assert_eq!(holders.len(), 2);
    authorizer.remove_role(&RoleKey::cluster("wide"));
    assert!(!authorizer.allows(&alice, &request));
}

#[test]
fn who_can_names_everyone_with_the_binding() {
    let world = World::new(
        [Role::cluster("reader", read_pods()), Role::namespaced("dev", "local", read_pods())],
        [
            Binding::cluster("all", RoleRef::cluster_role("reader"), [Subject::group("ops")]),
            Binding::namespaced("dev", "one", RoleRef::role("local"), [Subject::user("alice"), Subject::user("bob")]),
            Binding::namespaced("prod", "two", RoleRef::cluster_role("reader"), [Subject::user("carol")]),
            Binding::namespaced("dev", "gone", RoleRef::role("ghost"), [Subject::user("dora")]),
        ],
    );
    let authorizer = Authorizer::new(&world);
    let names = |request: &Request<'_>, reach| {
        let (holders, unresolved) = authorizer.who_can(request, reach);
        (holders.into_iter().map(|h| h.subject.name.to_string()).collect::<Vec<_>>(), unresolved.len())
    };
    let pods = |namespace| Request::resource("get", "", "pods").in_namespace(namespace);
    assert_eq!(names(&pods("dev"), Reach::Request), (strings(["system:masters", "ops", "alice", "bob"]), 1));
    assert_eq!(names(&pods("prod"), Reach::Request), (strings(["system:masters", "ops", "carol"]), 0));
    assert_eq!(names(&pods(""), Reach::Request), (strings(["system:masters", "ops"]), 0));
    let anywhere = (strings(["system:masters", "ops", "alice", "bob", "carol"]), 1);
    assert_eq!(names(&pods(""), Reach::AnyNamespace), anywhere);
    assert_eq!(names(&Request::resource("delete", "", "pods"), Reach::AnyNamespace).0, strings(["system:masters"]));
}

fn strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(ToOwned::to_owned).to_vec()
}
