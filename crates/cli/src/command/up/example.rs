//! The example platform: a shop with developers, a viewer and a pipeline.

use rolewright_core::{Binding, Request, Role, RoleRef, Rule, Subject, User, World};

const AGGREGATE_TO_EDIT: &str = "rbac.authorization.k8s.io/aggregate-to-edit";

/// Bindings to Kubernetes' own user-facing roles.
pub(super) fn platform() -> World {
    let bind =
        |name: &str, role: &str, subject| Binding::namespaced("shop", name, RoleRef::cluster_role(role), [subject]);
    World::new(
        [],
        [
            bind("admins", "admin", Subject::user("ada")),
            bind("developers", "edit", Subject::group("shop-devs")),
            bind("pipeline", "view", Subject::service_account("", "ci")),
        ],
    )
}

/// What ships beside the new API.
pub(super) fn cache_editor() -> Role {
    let all = Rule::resources(["acme.io"], ["caches"], ["get", "list", "watch", "create", "update", "patch", "delete"]);
    Role::cluster("cache-editor", [all]).label(AGGREGATE_TO_EDIT, "true")
}

/// The same role, narrowed.
pub(super) fn cache_reader() -> Role {
    let read = Rule::resources(["acme.io"], ["caches"], ["get", "list", "watch"]);
    Role { rules: vec![read], ..cache_editor() }
}

/// Who asks what, again and again.
pub(super) fn questions() -> [(User, Request<'static>); 4] {
    let caches = |namespace| Request::resource("create", "acme.io", "caches").in_namespace(namespace);
    let none: [&str; 0] = [];
    let dev = || User::authenticated("dee", ["shop-devs"]);
    [
        (User::authenticated("ada", none), caches("shop")),
        (dev(), caches("shop")),
        (dev(), caches("bank")),
        (User::service_account("shop", "ci"), caches("shop")),
    ]
}
