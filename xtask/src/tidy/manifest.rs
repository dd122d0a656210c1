//! Cargo manifests line by line.
//!
//! `cargo metadata` tells values but not where they came from: whether a crate inherits them, in which order they stand,
//! on which line. This reads the part of TOML that manifests use and keeps exactly that.

/// One `key = value` of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) line: usize,
    /// The table it stands in, such as `workspace.dependencies`.
    pub(super) table: String,
    pub(super) key: String,
    /// The value as written, on one line and without comments.
    pub(super) value: String,
    /// Entries with nothing but comments between them share a block; a blank line or a table begins a new one.
    pub(super) block: usize,
}

/// Reads a manifest that cargo has already accepted.
pub(super) fn read(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut table = String::new();
    let mut block = 0;
    let mut open = 0_usize;
    for (index, raw) in text.lines().enumerate() {
        let line = without_comment(raw).trim();
        if open > 0 {
            if let Some(entry) = entries.last_mut() {
                entry.value.push(' ');
                entry.value.push_str(line);
            }
            open = (open + opened(line)).saturating_sub(closed(line));
        } else if raw.trim().is_empty() {
            block += 1;
        } else if let Some(name) = line.strip_prefix('[') {
            name.trim_matches(['[', ']']).trim().clone_into(&mut table);
            block += 1;
        } else if let Some((key, value)) = line.split_once('=') {
            open = opened(value).saturating_sub(closed(value));
            let (key, value) = (key.trim().replace('"', ""), value.trim().to_owned());
            entries.push(Entry { line: index + 1, table: table.clone(), key, value, block });
        }
    }
    entries
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '#' => return line.get(..at).unwrap_or(line),
            _ => {}
        }
    }
    line
}

fn opened(text: &str) -> usize {
    text.matches(['[', '{']).count()
}

fn closed(text: &str) -> usize {
    text.matches([']', '}']).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_know_table_block_and_line() {
        let entries = read("[a]\nx = 1 # one\n# why\ny.z = \"#\"\n\nw = [\n  1,\n  2,\n]\n[b.'c']\nv = { k = true }\n");
        let seen: Vec<_> =
            entries.iter().map(|e| (e.line, e.table.as_str(), e.key.as_str(), e.value.as_str(), e.block)).collect();
        assert_eq!(
            seen,
            [
                (2, "a", "x", "1", 1),
                (4, "a", "y.z", "\"#\"", 1),
                (6, "a", "w", "[ 1, 2, ]", 2),
                (11, "b.'c'", "v", "{ k = true }", 3),
            ]
        );
    }
}
