//! Every condition that we write.

use rolewright_plan::kind::Reports;
use rolewright_plan::{Code, Kind, Severity};

use super::{head, row};

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
        "\n## Reasons\n\nThe message names the object and says what is wrong; [diagnostics.md](diagnostics.md) says \
                   what to do. A sync also says what became of each of its roles: [sync.md](../sync.md#what-came-of-it).\n\n",
    );
    page.push_str(&head(&["status", "reason", "code"]));
    page.push_str(&row(&["`True`", "`Applied`", ""]));
    for code in Code::ALL {
        let status = if code.severity() > Severity::Note { "`False`" } else { "`Unknown`" };
        page.push_str(&row(&[status, &format!("`{}`", code.reason()), &code.to_string()]));
    }
    page
}
