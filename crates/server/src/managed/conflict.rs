//! Fields that somebody else manages.

use super::entries::Identity;
use super::set::Set;
use crate::status::{Cause, Details, Failure};
use rolewright_core::quote::Quoted;

/// 409: the configuration would change what others own.
pub(super) fn conflicts(mut of: Vec<(Identity<'_>, Set)>) -> Failure {
    of.sort_by_cached_key(|(manager, _)| manager.text());
    let by_manager: Vec<(String, Vec<String>)> =
        of.iter().map(|(manager, fields)| (name(*manager), fields.paths())).collect();
    let causes: Vec<Cause> = by_manager
        .iter()
        .flat_map(|(manager, paths)| {
            paths.iter().map(move |path| Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: format!("conflict with {manager}"),
                field: path.clone(),
            })
        })
        .collect();
    let message = if let [cause] = causes.as_slice() {
        format!("Apply failed with 1 conflict: {}: {}", cause.message, cause.field)
    } else {
        let lines = by_manager.iter().flat_map(|(manager, paths)| {
            let head = format!("conflicts with {manager}:");
            std::iter::once(head).chain(paths.iter().map(|path| format!("- {path}")))
        });
        format!("Apply failed with {} conflicts: {}", causes.len(), lines.collect::<Vec<_>>().join("\n"))
    };
    Failure::new(409, "Conflict", message).about(Details { causes, ..Details::default() })
}

fn name(manager: Identity<'_>) -> String {
    let mut out = Quoted(manager.manager).to_string();
    if !manager.subresource.is_empty() {
        out.push_str(" with subresource ");
        out.push_str(&Quoted(manager.subresource).to_string());
    }
    if !manager.applied {
        out.push_str(" using ");
        out.push_str(manager.version);
    }
    out
}
