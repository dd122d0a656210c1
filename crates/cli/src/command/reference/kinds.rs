//! The kinds that the manager reads and writes.

use std::fmt::Write as _;

use rolewright_plan::Module;

use super::{head, row};

pub(super) fn page(modules: &[Box<dyn Module>]) -> String {
    let mut page = "# Kinds\n\nWhat each module of the manager reads, and where. There are no kinds of our own: a module \
                    wakes when the kinds that it needs are served. What the manager may write is printed by `rolewright \
                    manifests rbac`.\n"
        .to_owned();
    for module in modules {
        // Writing to a `String` cannot fail.
        let _ = write!(page, "\n## {}\n\n{}", module.name(), head(&["kind", "group", "versions", "scope", ""]));
        for watch in module.watches() {
            let kind = watch.kind;
            let group = if kind.group.is_empty() { "core".to_owned() } else { format!("`{}`", kind.group) };
            let scope = if kind.namespaced { "namespaced" } else { "cluster" };
            let needed = if watch.needed { "needed" } else { "used where it is served" };
            page.push_str(&row(&[&format!("`{}`", kind.kind), &group, &kind.versions.join(", "), scope, needed]));
        }
    }
    page
}
