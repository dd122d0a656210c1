//! One crate, one major version: two of them do not exchange types, and cost build time and size.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::metadata::Metadata;

/// Crates that may occur in several major versions, each with the reason.
pub(super) const TOLERATED: &[(&str, &str)] = &[
    ("base64", "kube-client, pem and serde-saphyr are one ahead of the others"),
    ("bit-vec", "yasna, below rcgen, has not followed; only tests build it"),
    ("bitflags", "defmt, which is for other platforms, still wants 1"),
    ("getrandom", "ring stays at 0.2 until its next minor version"),
    ("hashbrown", "kube-runtime is one behind; only tests build it"),
    ("r-efi", "several getrandom want it for firmware, which nothing here is built for"),
    ("rand", "opentelemetry_sdk is one behind; only the feature `otel` builds it"),
    ("rand_core", "the same"),
    ("syn", "serde's macros are at 3, the other macros at 2; nothing of it is shipped"),
    ("windows-sys", "ring follows at its own pace; only Windows builds it"),
];

const HERE: &str = "xtask/src/tidy/duplicates.rs";

pub(super) fn check(metadata: &Metadata, tolerated: &[(&str, &str)]) -> Vec<Finding> {
    let mut majors: BTreeMap<&str, BTreeMap<String, BTreeSet<&str>>> = BTreeMap::new();
    for package in &metadata.packages {
        let versions = majors.entry(&package.name).or_default();
        versions.entry(major(&package.version)).or_default().insert(&package.version);
    }
    majors.retain(|_, versions| versions.len() > 1);

    let is_tolerated = |name: &str| tolerated.iter().any(|(known, _)| *known == name);
    let unexpected = majors.iter().filter(|(name, _)| !is_tolerated(name)).map(|(name, versions)| {
        let versions: Vec<_> = versions.values().flatten().copied().collect();
        Finding::new(
            "Cargo.lock",
            None,
            format!("`{name}` is there in {}", versions.join(" and ")),
            format!(
                "`cargo tree --invert {name}` shows who wants which; align them, or list it in `{HERE}` with a reason"
            ),
        )
    });
    let stale = tolerated.iter().filter(|(name, _)| !majors.contains_key(name)).map(|(name, _)| {
        Finding::new(
            HERE,
            None,
            format!("`{name}` is listed but has only one major version"),
            "remove it from the list",
        )
    });
    unexpected.chain(stale).collect()
}

/// The part of a version within which cargo picks freely: `1`, `0.3`, `0.0.7`.
fn major(version: &str) -> String {
    let release = version.split(['-', '+']).next().unwrap_or(version);
    let mut kept = Vec::new();
    for part in release.split('.') {
        kept.push(part);
        if part != "0" {
            break;
        }
    }
    kept.join(".")
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    fn two(a: &str, b: &str) -> Metadata {
        Fake::new().foreign("syn", a, Some("MIT")).foreign("syn", b, Some("MIT")).metadata()
    }

    #[test]
    fn two_majors_are_found() {
        let found = check(&two("2.0.1", "3.0.9"), &[]);
        assert_eq!(found.iter().map(|f| f.message.as_str()).collect::<Vec<_>>(), ["`syn` is there in 2.0.1 and 3.0.9"]);
        assert_eq!(check(&two("0.3.1", "0.4.0"), &[]).len(), 1);
    }

    #[test]
    fn one_major_is_fine() {
        assert_eq!(check(&two("2.0.1", "2.3.0"), &[]), []);
        assert_eq!(check(&two("0.3.1", "0.3.2-rc.1"), &[]), []);
    }

    #[test]
    fn listed_crate_is_tolerated() {
        assert_eq!(check(&two("2.0.1", "3.0.9"), &[("syn", "clap_derive is late")]), []);
    }

    #[test]
    fn list_must_not_outlive_its_reason() {
        let found = check(&two("2.0.1", "2.3.0"), &[("syn", "clap_derive is late")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].file, HERE);
    }

    #[test]
    fn major_is_the_first_number_that_is_not_zero() {
        for (version, expected) in [("1.2.3", "1"), ("0.3.7", "0.3"), ("0.0.7", "0.0.7"), ("2.0.0-beta.4", "2")] {
            assert_eq!(major(version), expected);
        }
    }
}
