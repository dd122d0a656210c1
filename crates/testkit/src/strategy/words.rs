//! The words that random worlds are made of.

use proptest::prelude::*;
use proptest::sample::select;
use rolewright_core::Name;

/// User names, service accounts' among them; `*` is a name like any other.
pub const USERS: &[&str] = &[
    "alice",
    "bob",
    "carol",
    "*",
    "system:anonymous",
    "system:serviceaccount:team-a:ci",
    "system:serviceaccount:team-b:ci",
    "system:serviceaccount:team-a:web",
];
/// Groups, implicit ones among them.
pub const GROUPS: &[&str] = &[
    "devs",
    "ops",
    "system:authenticated",
    "system:unauthenticated",
    "system:serviceaccounts",
    "system:serviceaccounts:team-a",
    "*",
];
/// Namespaces.
pub const NAMESPACES: &[&str] = &["team-a", "team-b", "team-c"];
/// API groups as rules write them.
pub const API_GROUPS: &[&str] = &["", "", "", "apps", "apps", "acme.io", "rbac.authorization.k8s.io", "*", "Apps"];
/// Resource patterns, inert and odd ones among them.
pub const RESOURCES: &[&str] = &[
    "pods",
    "pods",
    "pods",
    "secrets",
    "secrets",
    "deployments",
    "deployments",
    "widgets",
    "clusterroles",
    "roles",
    "*",
    "*",
    "pods/log",
    "pods/exec",
    "pods/status",
    "deployments/scale",
    "widgets/scale",
    "*/scale",
    "*/log",
    "pods/*",
    "*/*",
    "widgets/a/b",
    "*/a/b",
    "Pods",
    "",
    "pods/",
];
/// Object names.
pub const OBJECTS: &[&str] = &["web", "web", "db", "ci", "*", ""];
/// Verbs.
pub const VERBS: &[&str] = &[
    "get",
    "get",
    "get",
    "list",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "*",
    "*",
    "escalate",
    "bind",
    "impersonate",
    "use",
    "GET",
];
/// URL patterns.
pub const URLS: &[&str] = &[
    "*",
    "/",
    "/*",
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/apis/apps/*",
    "/healthz",
    "/healthz*",
    "/healthz/**",
    "/metrics",
    "/*/v1/*",
    "",
];
/// Paths that requests name.
pub const PATHS: &[&str] = &[
    "/",
    "/api",
    "/api/",
    "/api/v1",
    "/apis",
    "/apis/apps/v1",
    "/apis/acme.io",
    "/healthz",
    "/healthz/etcd",
    "/healthzz",
    "/metrics",
    "/x/v1/y",
    "*",
    "",
];
/// Role names; some of them no role has.
pub const ROLES: &[&str] = &["viewer", "editor", "admin", "ops", "base", "leaf", "ghost"];
/// Label keys of ClusterRoles.
pub const LABEL_KEYS: &[&str] = &["to-view", "to-edit", "to-admin", "acme.io/team"];
/// Label values.
pub const LABEL_VALUES: &[&str] = &["true", "false", "blue", ""];

/// One of these words.
pub fn word(words: &'static [&'static str]) -> impl Strategy<Value = Name> {
    select(words).prop_map(Name::new_static)
}

/// A few of these words; repetitions happen.
pub fn some(words: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<Name>> {
    prop::collection::vec(word(words), 1..=most)
}
