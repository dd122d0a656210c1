//! Cases that existing RBAC tools get wrong (section 3b of the survey of peers), each by its name there.

use rolewright_core::authorize::Reach;
use rolewright_core::{Authorizer, Binding, RBAC_GROUP, Request, Role, RoleRef, Rule, Subject, User, World};

struct Trap {
    name: &'static str,
    role: Role,
    binding: Binding,
    user: User,
    request: Request<'static>,
    allowed: bool,
}

fn in_dev(name: &'static str, rule: Rule, request: Request<'static>, allowed: bool) -> Trap {
    Trap {
        name,
        role: Role::cluster("r", [rule]),
        binding: Binding::namespaced("dev", "b", RoleRef::cluster_role("r"), [Subject::user("alice")]),
        user: User::authenticated("alice", [] as [&str; 0]),
        request: request.in_namespace("dev"),
        allowed,
    }
}

fn traps() -> Vec<Trap> {
    let everywhere = |trap: Trap| Trap {
        binding: Binding::cluster("b", RoleRef::cluster_role("r"), trap.binding.subjects.clone()),
        ..trap
    };
    let to = |subject: Subject, user: User, trap: Trap| Trap {
        binding: Binding { subjects: vec![subject], ..trap.binding.clone() },
        user,
        ..trap
    };
    let pods = || Rule::resources([""], ["pods"], ["get"]);
    let get_pods = || Request::resource("get", "", "pods");
    let ci = || User::service_account("dev", "ci");
    let secrets = |verb| Request::resource(verb, "", "secrets");
    let named = || Rule::resources([""], ["secrets"], ["*"]).named(["db"]);
    vec![
        in_dev(
            "*/scale matches any resource with that subresource",
            Rule::resources(["apps"], ["*/scale"], ["get"]),
            Request::resource("get", "apps", "deployments").subresource("scale"),
            true,
        ),
        everywhere(in_dev(
            "URL patterns match by prefix",
            Rule::urls(["/healthz/*"], ["get"]),
            Request::url("get", "/healthz/etcd"),
            true,
        )),
        in_dev(
            "pods/exec is a subresource, not an object called exec",
            Rule::resources([""], ["pods/exec"], ["create"]),
            Request::resource("create", "", "pods").subresource("exec").named("web"),
            true,
        ),
        in_dev(
            "pods/exec gives nothing on the pod called exec",
            Rule::resources([""], ["pods/exec"], ["get"]),
            get_pods().named("exec"),
            false,
        ),
        in_dev("named-only grants do not answer unnamed questions", named(), secrets("get"), false),
        in_dev("names have no effect on list", named(), secrets("list"), false),
        in_dev("but list with a field selector on the name", named(), secrets("list").named("db"), true),
        in_dev("names have no effect on create", named(), secrets("create"), false),
        in_dev("core is spelt \"\"", Rule::resources(["core"], ["pods"], ["get"]), get_pods(), false),
        in_dev(
            "the API group is compared",
            Rule::resources(["extensions"], ["deployments"], ["get"]),
            Request::resource("get", "apps", "deployments"),
            false,
        ),
        in_dev(
            "a wildcard includes the specific",
            Rule::resources(["*"], ["*"], ["*"]),
            secrets("get").named("db"),
            true,
        ),
        in_dev(
            "bind is asked on roles",
            Rule::resources([RBAC_GROUP], ["rolebindings"], ["bind"]),
            Request::resource("bind", RBAC_GROUP, "clusterroles"),
            false,
        ),
        in_dev("a RoleBinding to a ClusterRole grants in its namespace", pods(), get_pods(), true),
        to(
            Subject::group("system:authenticated"),
            User::authenticated("x", [] as [&str; 0]),
            in_dev("implicit group of everyone", pods(), get_pods(), true),
        ),
        to(
            Subject::group("system:serviceaccounts"),
            ci(),
            in_dev("implicit group of accounts", pods(), get_pods(), true),
        ),
        to(
            Subject::group("system:serviceaccounts:dev"),
            ci(),
            in_dev("implicit group of a namespace", pods(), get_pods(), true),
        ),
        Trap {
            user: User::new("root", ["system:masters"]),
            ..in_dev("system:masters needs no binding", pods(), secrets("delete"), true)
        },
        to(
            Subject::service_account("", "ci"),
            ci(),
            in_dev("an account subject defaults to the binding's namespace", pods(), get_pods(), true),
        ),
        everywhere(to(
            Subject::service_account("", "ci"),
            ci(),
            in_dev("but not in a ClusterRoleBinding", pods(), get_pods(), false),
        )),
        in_dev(
            "get nodes/proxy is its own right",
            Rule::resources([""], ["nodes/proxy"], ["get"]),
            Request::resource("get", "", "nodes").subresource("proxy").named("n1"),
            true,
        ),
        Trap {
            request: Request::resource("get", "", "nodes").named("n1"),
            ..in_dev(
                "a cluster-scoped kind is not granted by a RoleBinding",
                Rule::resources([""], ["nodes"], ["get"]),
                get_pods(),
                false,
            )
        },
    ]
}

#[test]
fn traps_of_other_tools() {
    for Trap { name, role, binding, user, request, allowed } in traps() {
        let authorizer = Authorizer::new(&World::new([role], [binding]));
        assert_eq!(authorizer.allows(&user, &request), allowed, "{name}");
        assert_eq!(authorizer.explain(&user, &request).allowed, allowed, "{name}, explained");
    }
}

#[test]
fn roles_are_told_apart_by_namespace() {
    let role = |namespace, verb| Role::namespaced(namespace, "same", [Rule::resources([""], ["pods"], [verb])]);
    let bind = |namespace| Binding::namespaced(namespace, "b", RoleRef::role("same"), [Subject::user("alice")]);
    let world = World::new([role("a", "get"), role("b", "delete")], [bind("a"), bind("b")]);
    let authorizer = Authorizer::new(&world);
    let alice = User::new("alice", ["devs"]);
    let may = |verb, namespace| authorizer.allows(&alice, &Request::resource(verb, "", "pods").in_namespace(namespace));
    assert!(may("get", "a") && may("delete", "b") && !may("get", "b") && !may("delete", "a"));
}

#[test]
fn asking_in_all_namespaces_keeps_role_bindings() {
    let role = Role::cluster("r", [Rule::resources([""], ["pods"], ["get"])]);
    let bind = |namespace, user| Binding::namespaced(namespace, "b", RoleRef::cluster_role("r"), [Subject::user(user)]);
    let authorizer = Authorizer::new(&World::new([role], [bind("a", "alice"), bind("b", "bob")]));
    let (holders, _) = authorizer.who_can(&Request::resource("get", "", "pods"), Reach::AnyNamespace);
    let found: Vec<String> = holders
        .iter()
        .filter_map(|h| h.binding.as_ref().map(|b| format!("{} in {}", h.subject.name, b.namespace())))
        .collect();
    assert_eq!(found, ["alice in a", "bob in b"]);
}
