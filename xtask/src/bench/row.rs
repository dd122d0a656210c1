//! One measured line.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What a bench reports. The same object, in the same order, is an element of `target/bench.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) name: String,
    /// Of `ours` and `peer`: a unit of time (`ns us ms s`), `bytes`, or any word.
    pub(super) unit: String,
    pub(super) ours: f64,
    /// Kubernetes' own code on the same input, where there is one.
    pub(super) peer: Option<f64>,
    /// How many times better than the peer.
    pub(super) ratio: Option<f64>,
    /// What was promised, such as `>= 1000x`.
    pub(super) budget: Option<String>,
    /// Whether the promise holds; nothing where there is none.
    pub(super) ok: Option<bool>,
}

/// The rows of one bench, one JSON object per line.
pub(super) fn parse(lines: &str) -> Result<Vec<Row>> {
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).with_context(|| format!("not a bench row: `{line}`"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_line_by_line() {
        let rows = parse(concat!(
            r#"{"name":"a","unit":"ns","ours":1,"peer":2000.5,"ratio":2000.5,"budget":">= 1000x","ok":true}"#,
            "\n\n",
            r#"{"name":"b","unit":"bytes","ours":48,"peer":null,"ratio":null,"budget":null,"ok":null}"#,
        ))
        .unwrap();
        assert_eq!(rows.iter().map(|row| row.peer).collect::<Vec<_>>(), [Some(2000.5), None]);
    }

    #[test]
    fn broken_row_is_shown() {
        let error = parse("{\"name\":\"a\"}").unwrap_err().to_string();
        assert_eq!(error, "not a bench row: `{\"name\":\"a\"}`");
    }
}
