//! What one rule allows: section 2.3 and 2.4 of the Kubernetes facts, case by case.

use rolewright_core::rule::url_matches;
use rolewright_core::{Request, Rule};

#[test]
fn resource_rules() {
    let pods = || Request::resource("get", "", "pods");
    let scale = |resource| Request::resource("get", "apps", resource).subresource("scale");
    let rule = |resource| Rule::resources([""], [resource], ["get"]);
    let apps = |resource| Rule::resources(["apps"], [resource], ["get"]);
    let cases = [
        // verbs and groups: exact text, or the star of that list alone
        (rule("pods"), pods(), true),
        (rule("pods"), Request { verb: "list", ..pods() }, false),
        (rule("pods"), Request { verb: "GET", ..pods() }, false),
        (Rule::resources([""], ["pods"], ["*"]), Request { verb: "frobnicate", ..pods() }, true),
        (Rule::resources(["*"], ["pods"], ["get"]), Request::resource("get", "acme.io", "pods"), true),
        (Rule::resources(["*"], ["pods"], ["get"]), Request::resource("get", "acme.io", "widgets"), false),
        (rule("pods"), Request::resource("get", "apps", "pods"), false),
        (rule("*"), Request::resource("get", "", "anything"), true),
        (rule("*"), Request::resource("get", "apps", "deployments"), false),
        (rule("pods"), Request::resource("get", "", "Pods"), false),
        // subresources
        (rule("pods"), pods().subresource("log"), false),
        (rule("pods/log"), pods().subresource("log"), true),
        (rule("pods/log"), pods(), false),
        (rule("pods/log"), pods().subresource("exec"), false),
        (rule("pods/log"), Request::resource("get", "", "nodes").subresource("log"), false),
        (rule("*"), pods().subresource("log"), true),
        (apps("*/scale"), scale("deployments"), true),
        (apps("*/scale"), scale("anything"), true),
        (apps("*/scale"), Request::resource("get", "apps", "deployments"), false),
        (apps("*/scale"), Request::resource("get", "apps", "scale"), false),
        (apps("*/scale"), Request::resource("get", "apps", "deployments").subresource("status"), false),
        (apps("*/scale"), Request::resource("get", "apps", "x").subresource("upscale"), false),
        // `pods/*` and `*/*` are inert: they match only a subresource called `*`
        (rule("pods/*"), pods().subresource("log"), false),
        (rule("pods/*"), pods(), false),
        (rule("pods/*"), pods().subresource("*"), true),
        (rule("*/*"), pods().subresource("log"), false),
        (rule("*/*"), pods().subresource("*"), true),
        // deeper and odd texts compare as they are
        (rule("pods/a/b"), pods().subresource("a/b"), true),
        (rule("pods/a/b"), Request::resource("get", "", "pods/a").subresource("b"), true),
        (rule("pods/log"), Request::resource("get", "", "pods/log"), true),
        (rule("*/log"), Request::resource("get", "", "pods/log"), false),
        (rule("pods/"), pods(), false),
        (rule(""), Request::resource("get", "", ""), true),
    ];
    for (rule, request, allowed) in cases {
        assert_eq!(rule.allows(&request), allowed, "{rule} {request:?}");
    }
}

#[test]
fn resource_names() {
    let named = Rule::resources([""], ["secrets"], ["*"]).named(["db"]);
    let on = |verb| Request::resource(verb, "", "secrets");
    let cases = [
        (on("get").named("db"), true),
        (on("get").named("other"), false),
        // no name in the request: create, list, watch, deletecollection
        (on("create"), false),
        (on("list"), false),
        (on("watch"), false),
        (on("deletecollection"), false),
        // list and watch with a field selector on metadata.name carry the name
        (on("list").named("db"), true),
        (on("watch").named("db"), true),
        // a subresource is posted to a name
        (Request::resource("create", "", "secrets").subresource("x").named("db"), false),
    ];
    for (request, allowed) in cases {
        assert_eq!(named.allows(&request), allowed, "{request:?}");
    }
    let token = Rule::resources([""], ["serviceaccounts/token"], ["create"]).named(["ci"]);
    assert!(token.allows(&Request::resource("create", "", "serviceaccounts").subresource("token").named("ci")));
    let unnamed = Rule::resources([""], ["secrets"], ["get"]);
    assert!(unnamed.allows(&on("get").named("db")), "no names means every name");
    let empty = unnamed.named([""]);
    assert!(empty.allows(&on("get")), "the empty name is a name");
    assert!(!empty.allows(&on("get").named("db")));
}

#[test]
fn url_patterns() {
    let cases = [
        ("/apis", "/apis", true),
        ("/apis", "/apis/", false),
        ("/apis/*", "/apis/v1", true),
        ("/apis/*", "/apis/", true),
        ("/apis/*", "/apis", false),
        ("/apis/*", "/api/v1", false),
        ("/api*", "/apis/x", true),
        ("*", "/anything", true),
        ("*", "", true),
        ("/healthz/**", "/healthz/etcd", true),
        ("/*/v1/*", "/api/v1/x", false),
        ("/*/v1/*", "/*/v1/x", true),
        ("/a*b", "/axb", false),
        ("/a*b", "/a*b", true),
        ("", "", true),
        ("", "/", false),
    ];
    for (pattern, path, matched) in cases {
        assert_eq!(url_matches(pattern, path), matched, "{pattern} {path}");
        assert_eq!(Rule::urls([pattern], ["get"]).allows(&Request::url("get", path)), matched, "{pattern} {path}");
    }
    assert!(!Rule::urls(["*"], ["get"]).allows(&Request::url("post", "/x")), "the verb must match as well");
    let all_resources = Rule::resources(["*"], ["*"], ["*"]);
    assert!(!all_resources.allows(&Request::url("get", "/x")), "resources give no URL");
    assert!(!Rule::urls(["*"], ["*"]).allows(&Request::resource("get", "", "pods")), "URLs give no resource");
}
