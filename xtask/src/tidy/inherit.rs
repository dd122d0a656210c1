//! One version, one edition, one set of lints, one table of dependency versions: the workspace's.

use super::Finding;
use super::manifest::{self, Entry};

const PACKAGE_KEYS: &[&str] = &["version", "edition", "rust-version", "license", "publish"];
const VERSION_KEYS: &[&str] = &["version", "path", "git"];

/// Checks the manifest of one crate.
pub(super) fn check_member(file: &str, text: &str) -> Vec<Finding> {
    let entries = manifest::read(text);
    let mut findings: Vec<_> = PACKAGE_KEYS.iter().filter_map(|key| check_package_key(file, &entries, key)).collect();
    if !entries.iter().any(|e| e.table == "lints" && e.key == "workspace" && e.value == "true") {
        findings.push(Finding::new(
            file,
            None,
            "the crate does not use the workspace's lints",
            "add `[lints]` with `workspace = true`",
        ));
    }
    findings.extend(entries.iter().filter_map(|entry| check_dependency(file, &entries, entry)));
    findings
}

/// Checks the manifest of the workspace.
pub(super) fn check_root(file: &str, text: &str) -> Vec<Finding> {
    let entries = manifest::read(text);
    let pairs = entries.iter().zip(entries.iter().skip(1));
    pairs
        .filter(|(a, b)| a.table == "workspace.dependencies" && b.table == a.table && b.block == a.block)
        .filter(|(a, b)| a.key > b.key)
        .map(|(a, b)| {
            Finding::new(
                file,
                b.line,
                format!("`{}` stands after `{}`", b.key, a.key),
                "sort the block by name: two branches that add a line then rarely meet",
            )
        })
        .collect()
}

/// The line on which a manifest names a dependency.
pub(super) fn line_of(text: &str, dependency: &str) -> Option<usize> {
    let entries = manifest::read(text);
    let names_it = |entry: &&Entry| match dependency_table(&entry.table) {
        Some(Table::Whole) => entry.key.split('.').next() == Some(dependency),
        Some(Table::One(name)) => name == dependency,
        None => false,
    };
    entries.iter().find(names_it).map(|entry| entry.line)
}

fn check_package_key(file: &str, entries: &[Entry], key: &str) -> Option<Finding> {
    let own = entries.iter().filter(|entry| entry.table == "package");
    let found = own.clone().find(|entry| entry.key == key || entry.key == format!("{key}.workspace"));
    if found.is_some_and(inherits) {
        return None;
    }
    let line = found.or(own.clone().next()).map(|entry| entry.line);
    Some(Finding::new(file, line, format!("`{key}` is not the workspace's"), format!("write `{key}.workspace = true`")))
}

fn check_dependency(file: &str, entries: &[Entry], entry: &Entry) -> Option<Finding> {
    let (name, inherited) = match dependency_table(&entry.table)? {
        Table::Whole => {
            let name = entry.key.split('.').next().unwrap_or(&entry.key);
            (name, inherits(entry) && !names_version(entry))
        }
        // `[dependencies.foo]`: one finding, at the table's first entry.
        Table::One(name) => {
            let mut table = entries.iter().filter(|other| other.table == entry.table);
            if table.next() != Some(entry) {
                return None;
            }
            (name, entries.iter().any(|other| other.table == entry.table && inherits(other)))
        }
    };
    (!inherited).then(|| {
        Finding::new(
            file,
            entry.line,
            format!("the version of `{name}` is written here"),
            format!("put it into `[workspace.dependencies]` and write `{name}.workspace = true`"),
        )
    })
}

enum Table<'a> {
    Whole,
    One(&'a str),
}

fn dependency_table(table: &str) -> Option<Table<'_>> {
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        if table == kind || (table.starts_with("target.") && table.ends_with(&format!(".{kind}"))) {
            return Some(Table::Whole);
        }
        if let Some(name) = table.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.')) {
            return Some(Table::One(name));
        }
    }
    None
}

/// `x.workspace = true`, `x = { workspace = true, .. }`, or `workspace = true` in a table of its own.
fn inherits(entry: &Entry) -> bool {
    let plain = entry.key == "workspace" || entry.key.ends_with(".workspace");
    (plain && entry.value == "true") || fields(&entry.value).any(|field| field == ("workspace", "true"))
}

fn names_version(entry: &Entry) -> bool {
    fields(&entry.value).any(|(key, _)| VERSION_KEYS.contains(&key))
}

/// The fields of an inline table; good enough for keys, because no value that matters holds a comma.
fn fields(value: &str) -> impl Iterator<Item = (&str, &str)> {
    let inner = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    inner.split(',').filter_map(|field| field.split_once('=')).map(|(key, value)| (key.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\nversion.workspace = true\nedition = { workspace = true }\n\
        rust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n\
        [dependencies]\nserde = { workspace = true, optional = true, features = [\"rc\"] }\nanyhow.workspace = true\n\
        [dependencies.clap]\nworkspace = true\nfeatures = [\"env\"]\n\
        [target.'cfg(unix)'.dev-dependencies]\nproptest.workspace = true\n\
        [lints]\nworkspace = true\n";

    fn broken(from: &str, to: &str) -> Vec<(Option<usize>, String)> {
        assert_eq!(GOOD.matches(from).count(), 1, "{from}");
        let findings = check_member("Cargo.toml", &GOOD.replace(from, to));
        findings.into_iter().map(|finding| (finding.line, finding.message)).collect()
    }

    #[test]
    fn inheriting_crate_is_fine() {
        assert_eq!(check_member("Cargo.toml", GOOD), []);
    }

    #[test]
    fn own_or_missing_package_keys_are_found() {
        let version = (Some(3), "`version` is not the workspace's".to_owned());
        assert_eq!(broken("version.workspace = true\nedition", "version = \"1.0.0\"\nedition"), [version]);
        assert_eq!(broken("edition = { workspace = true }\n", "").len(), 1);
        assert_eq!(broken("license.workspace = true", "license = \"MIT\"").len(), 1);
    }

    #[test]
    fn own_lints_are_found() {
        assert_eq!(broken("[lints]\nworkspace = true\n", "[lints.rust]\nunsafe_code = \"allow\"\n").len(), 1);
        assert_eq!(broken("[lints]\nworkspace = true\n", "").len(), 1);
    }

    #[test]
    fn own_dependency_versions_are_found() {
        let anyhow = (Some(10), "the version of `anyhow` is written here".to_owned());
        assert_eq!(broken("anyhow.workspace = true", "anyhow = \"1\""), [anyhow]);
        assert_eq!(broken("{ workspace = true, optional", "{ version = \"1\", optional").len(), 1);
        assert_eq!(broken("{ workspace = true, optional", "{ path = \"../x\", workspace = true, optional").len(), 1);
        assert_eq!(broken("[dependencies.clap]\nworkspace = true", "[dependencies.clap]\nversion = \"4\"").len(), 1);
        assert_eq!(broken("proptest.workspace = true", "proptest = { git = \"x\" }").len(), 1);
    }

    #[test]
    fn dependency_is_found_by_line() {
        for (name, line) in [("serde", Some(9)), ("anyhow", Some(10)), ("clap", Some(12)), ("name", None)] {
            assert_eq!(line_of(GOOD, name), line, "{name}");
        }
    }

    #[test]
    fn unsorted_block_is_found() {
        let text = "[workspace.dependencies]\nzeta = \"1\"\n\nalpha = \"1\"\ngamma = \"1\"\nbeta = \"1\"\n";
        let found: Vec<_> = check_root("Cargo.toml", text).into_iter().map(|f| (f.line, f.message)).collect();
        assert_eq!(found, [(Some(6), "`beta` stands after `gamma`".to_owned())]);
    }
}
