//! Names of versions: which of two is preferred.

use std::cmp::Ordering;

/// How far a version is: `v1` before `v1beta1` before `v1alpha1`, and all other names after these.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Alpha,
    Beta,
    Stable,
}

/// Greater for the name that is preferred. Names that are no versions come last, by their letters.
pub fn priority(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => b.cmp(a),
    }
}

/// `v<major>`, `v<major>alpha<minor>`, `v<major>beta<minor>`; numbers have no leading zero.
fn parse(name: &str) -> Option<(Stage, u64, u64)> {
    let rest = name.strip_prefix('v')?;
    let (major, rest) = number(rest)?;
    if rest.is_empty() {
        return Some((Stage::Stable, major, 0));
    }
    let (stage, rest) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
        (Some(rest), _) => (Stage::Alpha, rest),
        (_, Some(rest)) => (Stage::Beta, rest),
        _ => return None,
    };
    let (minor, rest) = number(rest)?;
    rest.is_empty().then_some((stage, major, minor))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    (!digits.starts_with('0')).then(|| digits.parse().ok().map(|number| (number, rest)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_are_preferred_and_later_ones() {
        let mut names =
            ["foo1", "v1", "v1beta2", "v10", "v12alpha1", "v2", "foo10", "v11alpha2", "v3beta1", "v1beta1", "v01"];
        names.sort_by(|a, b| priority(b, a));
        let sorted =
            ["v10", "v2", "v1", "v3beta1", "v1beta2", "v1beta1", "v12alpha1", "v11alpha2", "foo1", "foo10", "v01"];
        assert_eq!(names, sorted);
    }
}
