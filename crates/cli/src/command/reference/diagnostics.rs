//! Every code there is.

use std::fmt::Write as _;

use rolewright_plan::{Code, Severity};

pub(super) fn page() -> String {
    let mut page =
        "# Diagnostics\n\nProblems have codes that stay. They are in events, conditions, metrics and plans; \
                    `rolewright explain RW0101` prints one.\n"
            .to_owned();
    for code in Code::ALL {
        let severity = match code.severity() {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        // Writing to a `String` cannot fail.
        let _ = write!(
            page,
            "\n## {code}: {}\n\n{severity}, reason `{}`\n\n{}\n",
            code.title(),
            code.reason(),
            code.help()
        );
    }
    page
}
