//! The texts are those of kube-apiserver v1.36.3, asked as a service account that was replaced by `sub`.

use rolewright_core::{Authorizer, Binding, Role, Rule, Subject, World};

use super::*;

const AUTHN: &str = "authentication.k8s.io";

fn granted(rules: Vec<Rule>) -> Authorizer {
    let binding = Binding::cluster("b", rolewright_core::RoleRef::cluster_role("r"), [Subject::user("sub")]);
    Authorizer::new(&World::new([Role::cluster("r", rules)], [binding]))
}

fn wanted(user: &str) -> Impersonation {
    Impersonation { user: user.into(), ..Impersonation::default() }
}

fn with_groups(user: &str, groups: &[&str]) -> Impersonation {
    Impersonation { groups: groups.iter().map(|group| (*group).to_owned()).collect(), ..wanted(user) }
}

fn with_extra(key: &str, value: &str) -> Impersonation {
    Impersonation { extra: Extra::from([(key.to_owned(), vec![value.to_owned()])]), ..wanted("alice") }
}

fn pods() -> Request<'static> {
    Request::resource("list", "", "pods").in_namespace("default")
}

fn sub() -> Identity {
    Identity::new(User::authenticated("sub", [] as [&str; 0]))
}

struct Asked {
    modes: ImpersonationModes,
    authorizer: Authorizer,
    requestor: Identity,
}

impl Asked {
    fn with(rules: Vec<Rule>) -> Self {
        Self { modes: ImpersonationModes::default(), authorizer: granted(rules), requestor: sub() }
    }

    fn ask(&self, wanted: &Impersonation, request: &Request<'_>) -> Result<Impersonated, Failure> {
        self.modes.impersonate(&self.requestor, wanted, request, |user, request| {
            if user.is_superuser() || self.authorizer.allows(user, request) { Ok(()) } else { Err(String::new()) }
        })
    }

    fn refusal(&self, wanted: &Impersonation) -> String {
        let failure = self.ask(wanted, &pods()).unwrap_err();
        assert_eq!((failure.code, failure.reason), (403, "Forbidden"));
        failure.message
    }
}

fn on(verb: &str) -> Rule {
    Rule::resources([""], ["pods"], [verb])
}

fn constrained(resource: &str, verb: &str) -> Rule {
    Rule::resources([AUTHN], [resource], [verb])
}

#[test]
fn the_first_mode_that_applies_tells_the_refusal() {
    let nothing = Asked::with(vec![]);
    let on_pods = |mode: &str| {
        format!(
            "pods is forbidden: User \"sub\" cannot impersonate-on:{mode}:list resource \"pods\" in API group \"\" in the \
             namespace \"default\""
        )
    };
    for (wanted, expected) in [
        (wanted("alice"), on_pods("user-info")),
        (wanted("system:serviceaccount:default:x"), on_pods("serviceaccount")),
        (wanted("system:node:n1"), on_pods("arbitrary-node")),
        (with_groups("alice", &["system:masters"]), on_pods("user-info")),
        (
            with_groups("system:serviceaccount:default:x", &["g"]),
            "serviceaccounts \"x\" is forbidden: User \"sub\" cannot impersonate resource \"serviceaccounts\" in API group \
             \"\" in the namespace \"default\""
                .into(),
        ),
    ] {
        assert_eq!(nothing.refusal(&wanted), expected);
    }
    let path = nothing.ask(&wanted("alice"), &Request::url("get", "/healthz")).unwrap_err();
    assert_eq!(path.message, "forbidden: User \"sub\" cannot impersonate-on:user-info:get path \"/healthz\"");
    let get = Request::resource("get", "", "pods").in_namespace("default").named("x");
    let named = nothing.ask(&wanted("alice"), &get).unwrap_err().to_json();
    assert_eq!(named["details"], serde_json::json!({"name": "x", "kind": "pods"}));
}

#[test]
fn every_part_is_asked_for() {
    let alice = constrained("users", "impersonate:user-info").named(["alice"]);
    let asked = Asked::with(vec![on("impersonate-on:user-info:list"), alice]);
    let refused = |resource: &str, name: &str, part: &str, why: &str| {
        let name = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        format!(
            "{resource}.authentication.k8s.io{name} is forbidden: User \"sub\" cannot impersonate:user-info resource \
             \"{part}\" in API group \"authentication.k8s.io\" at the cluster scope{why}"
        )
    };
    let no_path = |key: &str| {
        format!(
            ": impersonating an invalid key in extra is not allowed: extra.key: Invalid value: \"{key}\": must be a \
             domain-prefixed path (such as \"acme.io/foo\")"
        )
    };
    for (wanted, expected) in [
        (wanted("bob"), refused("users", "bob", "users", "")),
        (Impersonation { uid: "1".into(), ..wanted("alice") }, refused("uids", "1", "uids", "")),
        (with_groups("alice", &["g"]), refused("groups", "g", "groups", "")),
        (with_groups("alice", &["g", "h", "i", "j"]), refused("groups", "g", "groups", "")),
        (
            with_groups("alice", &[""]),
            refused("groups", "", "groups", ": impersonating the empty string group is not allowed"),
        ),
        (
            with_groups("alice", &["system:masters"]),
            refused("groups", "system:masters", "groups", ": impersonating the system:masters group is not allowed"),
        ),
        (with_extra("acme.io/foo", "v"), refused("userextras", "v", "userextras/acme.io/foo", "")),
        (with_extra("acme/foo", "v"), refused("userextras", "v", "userextras/acme/foo", "")),
        (with_extra("foo", "v"), refused("userextras", "", "userextras", &no_path("foo"))),
        (with_extra("acme.io/", "v"), refused("userextras", "", "userextras", &no_path("acme.io/"))),
        (with_extra("/foo", "v"), refused("userextras", "", "userextras", &no_path("/foo"))),
        (with_extra("%zz", "v"), refused("userextras", "", "userextras", &no_path("%zz"))),
        (
            with_extra("acme.io/f x", "v"),
            refused(
                "userextras",
                "",
                "userextras",
                ": impersonating an invalid key in extra is not allowed: extra.key: Invalid value: \"f x\": Invalid path \
                 (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
            ),
        ),
        (
            with_extra("", "v"),
            refused("userextras", "", "userextras", ": impersonating the empty string key in extra is not allowed"),
        ),
        (
            with_extra("acme.io/foo", ""),
            refused("userextras", "", "userextras", ": impersonating the empty string value in extra is not allowed"),
        ),
    ] {
        assert_eq!(asked.refusal(&wanted), expected);
    }
    let allowed = asked.ask(&wanted("alice"), &pods()).unwrap();
    assert_eq!(allowed.constraint, "impersonate:user-info");
    assert_eq!(allowed.identity, Identity::new(User::new("alice", ["system:authenticated"])));
}

#[test]
fn the_last_mode_is_tried_first() {
    let old = Asked::with(vec![Rule::resources([""], ["users"], ["impersonate"])]);
    let more = with_groups("alice", &["g"]);
    assert!(old.refusal(&more).starts_with("pods is forbidden: User \"sub\" cannot impersonate-on:user-info:list"));
    assert_eq!(old.ask(&wanted("alice"), &pods()).unwrap().constraint, "");
    let at_cluster = "at the cluster scope";
    for (wanted, expected) in [
        (
            more,
            format!(
                "groups \"g\" is forbidden: User \"sub\" cannot impersonate resource \"groups\" in API group \"\" {at_cluster}"
            ),
        ),
        (
            Impersonation { uid: "7".into(), ..wanted("alice") },
            format!(
                "uids.authentication.k8s.io \"7\" is forbidden: User \"sub\" cannot impersonate resource \"uids\" in API \
                 group \"authentication.k8s.io\" {at_cluster}"
            ),
        ),
        (
            with_extra("foo", "7"),
            format!(
                "userextras.authentication.k8s.io \"7\" is forbidden: User \"sub\" cannot impersonate resource \
                 \"userextras/foo\" in API group \"authentication.k8s.io\" {at_cluster}"
            ),
        ),
    ] {
        assert_eq!(old.refusal(&wanted), expected);
    }
    let no_account = old.ask(&wanted("system:serviceaccount:Default:x"), &pods()).unwrap();
    assert_eq!(no_account.identity.user, User::new("system:serviceaccount:Default:x", ["system:authenticated"]));
}

#[test]
fn groups_follow_from_the_name() {
    let root = || Asked { requestor: Identity::new(User::new("root", ["system:masters"])), ..Asked::with(vec![]) };
    let account = "system:serviceaccount:default:x";
    for (wanted, groups) in [
        (wanted("alice"), vec!["system:authenticated"]),
        (wanted("system:anonymous"), vec!["system:unauthenticated"]),
        (with_groups("alice", &["system:unauthenticated"]), vec!["system:unauthenticated"]),
        (with_groups("alice", &["system:masters"]), vec!["system:masters", "system:authenticated"]),
        (wanted(account), vec!["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]),
        (with_groups(account, &["g"]), vec!["g", "system:authenticated"]),
        (wanted("system:node:n1"), vec!["system:nodes", "system:authenticated"]),
        (with_groups("system:node:n1", &["g"]), vec!["g", "system:authenticated"]),
    ] {
        let found = root().ask(&wanted, &pods()).unwrap().identity.user;
        assert_eq!(found, User::new(wanted.user.as_str(), groups));
    }
    let root = root();
    root.ask(&with_groups("alice", &["system:masters"]), &pods()).unwrap();
    let node = root.ask(&wanted("system:node:n1"), &pods()).unwrap();
    assert_eq!(node.identity.user.groups, ["system:authenticated"], "the old mode knows no nodes");
}

#[test]
fn a_pod_may_become_its_own_node() {
    let rules = vec![on("impersonate-on:associated-node:list"), constrained("nodes", "impersonate:associated-node")];
    let mut asked = Asked::with(rules.clone());
    let own = |node: &str| Extra::from([(crate::authn::identity::NODE_NAME.to_owned(), vec![node.to_owned()])]);
    asked.requestor.extra = own("n1");
    assert!(asked.ask(&wanted("system:node:n1"), &pods()).is_err(), "only service accounts have a node");
    let account = User::service_account("default", "agent");
    let binding = Binding::cluster(
        "b",
        rolewright_core::RoleRef::cluster_role("r"),
        [Subject::service_account("default", "agent")],
    );
    asked.authorizer = Authorizer::new(&World::new([Role::cluster("r", rules)], [binding]));
    asked.requestor = Identity { extra: own("n1"), ..Identity::new(account) };
    let node = asked.ask(&wanted("system:node:n1"), &pods()).unwrap();
    assert_eq!(node.constraint, "impersonate:associated-node");
    assert_eq!(node.identity.user, User::new("system:node:n1", ["system:nodes", "system:authenticated"]));
    assert!(asked.ask(&wanted("system:node:n2"), &pods()).is_err());
}
