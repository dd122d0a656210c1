//! Every condition that we write.

use rolewright_plan::kind::Reports;
use rolewright_plan::{Code, Kind, Severity};

use super::{head, row};

/// What is told of Crossplane's objects: the worst that was found.
const OF_CROSSPLANE: [Code; 11] = [
    Code::Invalid,
    Code::Paused,
    Code::NameTaken,
    Code::Refused,
    Code::Ineffective,
    Code::PeerActive,
    Code::ResourcesUnlisted,
    Code::FamilyStranger,
    Code::BeyondBoundary,
    Code::ResourceRefused,
    Code::ServedByAnother,
];

/// What is told of syncs, with the codes that say more.
const OF_SYNCS: [(&str, &str, &[Code]); 16] = [
    ("True", "Bound", &[]),
    ("True", "BoundByDefault", &[Code::ClusterAdminByDefault]),
    ("True", "BaseOnly", &[]),
    ("False", "Pending", &[]),
    ("False", "Forbidden", &[Code::RoleNotBindable, Code::Refused]),
    ("False", "NamespaceMissing", &[Code::NamespaceMissing]),
    ("False", "RoleMissing", &[Code::RoleMissing]),
    ("False", "NameTaken", &[Code::NameTaken]),
    ("False", "Refused", &[Code::Refused]),
    ("False", "RoleRefInvalid", &[Code::RoleRefInvalid]),
    ("False", "OverridesMisspelt", &[Code::OverridesMisspelt]),
    ("False", "SyncMisplaced", &[Code::SyncMisplaced]),
    ("False", "AccountTaken", &[Code::AccountTaken]),
    ("False", "SharedBindingForeign", &[Code::SharedBindingForeign]),
    ("False", "Invalid", &[Code::Invalid]),
    ("Unknown", "Paused", &[Code::Paused]),
];

pub(super) fn page(kinds: &[&'static Kind]) -> String {
    let mut page = "# Conditions\n\nWhat came of an object is a condition in its status, written by the field manager \
                    `rolewright-status`.\n\n"
        .to_owned();
    page.push_str(&head(&["kind", "condition", "when"]));
    for kind in kinds {
        let (name, when) = match kind.reports {
            Reports::Never => continue,
            Reports::Always(name) => (name, "always"),
            Reports::Trouble(name) => (name, "once something was wrong"),
        };
        let of = if kind.group.is_empty() { kind.kind.to_owned() } else { format!("{}.{}", kind.kind, kind.group) };
        page.push_str(&row(&[&format!("`{of}`"), &format!("`{name}`"), when]));
    }
    page.push_str(
        "\nThe message names the object and says what is wrong; [diagnostics.md](diagnostics.md) says what to do. What \
         is wrong with other kinds is told in events and in the log.\n",
    );
    page.push_str(&of_crossplane());
    page.push_str(&of_syncs());
    page
}

fn of_crossplane() -> String {
    let mut text = format!("\n## Reasons on Crossplane's objects\n\n{}", head(&["status", "reason", "code"]));
    text.push_str(&row(&["`True`", "`Applied`", ""]));
    for code in OF_CROSSPLANE {
        let status = if code.severity() > Severity::Note { "`False`" } else { "`Unknown`" };
        text.push_str(&row(&[status, &format!("`{}`", code.reason()), &code.to_string()]));
    }
    text
}

fn of_syncs() -> String {
    let list = |codes: &[Code]| codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut text = format!("\n## Reasons on syncs\n\n{}", head(&["status", "reason", "code"]));
    for (status, reason, codes) in OF_SYNCS {
        text.push_str(&row(&[&format!("`{status}`"), &format!("`{reason}`"), &list(codes)]));
    }
    let has_reason = |code: &Code| OF_SYNCS.iter().any(|(_, _, codes)| codes.contains(code));
    let beside = |code: &Code| code.number() / 100 == 3 && !has_reason(code);
    let beside: Vec<Code> = Code::ALL.iter().copied().filter(beside).collect();
    let beside = list(&beside);
    text + "\nThe message has each role with its state: [sync.md](../sync.md#what-came-of-it). "
        + &beside
        + " may be told beside any of these.\n"
}
