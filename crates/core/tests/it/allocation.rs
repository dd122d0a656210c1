//! A decision costs no allocation.

use rolewright_core::{Authorizer, Binding, Request, Role, RoleRef, Rule, Subject, User, World};

#[test]
fn deciding_allocates_nothing() {
    let rules = [
        Rule::resources(["apps"], ["deployments", "*/scale"], ["get", "list"]),
        Rule::resources([""], ["secrets"], ["get"]).named(["db"]),
        Rule::urls(["/healthz/*", "/version"], ["get"]),
    ];
    let bindings = [
        Binding::cluster("b", RoleRef::cluster_role("r"), [Subject::group("devs")]),
        Binding::namespaced("dev", "b", RoleRef::cluster_role("r"), [Subject::user("alice")]),
        Binding::namespaced("dev", "c", RoleRef::role("ghost"), [Subject::user("alice")]),
    ];
    let authorizer = Authorizer::new(&World::new([Role::cluster("r", rules)], bindings));
    let user = User::authenticated("alice", ["devs", "a-group-with-a-name-longer-than-what-fits-inline"]);
    let requests = [
        (Request::resource("get", "apps", "deployments").in_namespace("dev").named("web"), true),
        (Request::resource("get", "apps", "statefulsets").subresource("scale").in_namespace("dev"), true),
        (Request::resource("get", "", "secrets").in_namespace("dev").named("db"), true),
        (Request::resource("delete", "", "secrets").in_namespace("a-namespace-longer-than-what-fits-inline"), false),
        (Request::url("get", "/healthz/etcd"), true),
        (Request::url("get", "/metrics/of/some/length/that/does/not/fit"), false),
    ];
    for (request, allowed) in requests {
        let mut answer = !allowed;
        let cost = allocation_counter::measure(|| answer = authorizer.allows(&user, &request));
        assert_eq!((answer, cost.count_total), (allowed, 0), "{request:?}");
    }
}
