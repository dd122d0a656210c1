//! Paths of fields as Kubernetes writes them.

/// The parts of `rules[0].verbs` or `metadata.labels[a.b/c]`; what is in brackets is one part.
pub(super) fn parts(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if rest.is_empty() {
            return None;
        }
        let (part, after) = match rest.strip_prefix('[') {
            Some(inside) => inside.split_once(']').unwrap_or((inside, "")),
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn brackets_hold_one_part() {
        for (path, want) in [
            ("", &[][..]),
            ("kind", &["kind"]),
            ("rules[0].verbs", &["rules", "0", "verbs"]),
            ("metadata.labels[a.b/c]", &["metadata", "labels", "a.b/c"]),
            ("rules[0][1", &["rules", "0", "1"]),
        ] {
            assert_eq!(parts(path).collect::<Vec<_>>(), want, "{path}");
        }
    }
}
