//! What we link must be free to use under terms that we chose.

use super::{Finding, spdx};
use crate::metadata::{Metadata, Package};

const ALLOWED: &[&str] = &[
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

const FIX: &str = "use another crate, or decide that the terms suit us and add them to `xtask/src/tidy/licence.rs`";

pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    metadata.foreign().filter_map(check_package).collect()
}

fn check_package(package: &Package) -> Option<Finding> {
    let Some(expression) = &package.license else {
        return Some(finding(package, "names no licence"));
    };
    match spdx::satisfied(expression, ALLOWED) {
        Ok(true) => None,
        Ok(false) => Some(finding(package, &format!("has the licence `{expression}`, which is not allowed"))),
        Err(reason) => Some(finding(package, &format!("has the licence `{expression}`: {reason}"))),
    }
}

fn finding(package: &Package, what: &str) -> Finding {
    Finding::new("Cargo.lock", None, format!("`{} {}` {what}", package.name, package.version), FIX)
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    fn messages(licence: Option<&str>) -> Vec<String> {
        let metadata = Fake::new().member("rolewright-core", &[]).foreign("x", "1.0.0", licence).metadata();
        check(&metadata).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn allowed_licences_pass() {
        assert_eq!(messages(Some("GPL-3.0-only OR MIT")), [""; 0]);
        assert_eq!(messages(Some("(MIT OR Apache-2.0) AND Unicode-3.0")), [""; 0]);
    }

    #[test]
    fn other_licences_fail() {
        assert_eq!(
            messages(Some("AGPL-3.0-only")),
            ["`x 1.0.0` has the licence `AGPL-3.0-only`, which is not allowed"]
        );
    }

    #[test]
    fn missing_or_unreadable_licences_fail() {
        assert_eq!(messages(None), ["`x 1.0.0` names no licence"]);
        assert_eq!(messages(Some("MIT OR")), ["`x 1.0.0` has the licence `MIT OR`: a licence is missing at the end"]);
    }
}
