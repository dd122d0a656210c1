//! The rows as a table that fits a terminal.

use super::row::Row;
use super::unit;

const WIDTH: usize = 100;
const GAP: &str = "  ";
const HEADINGS: [&str; 6] = ["name", "ours", "peer", "ratio", "budget", "ok"];

/// One line per row under a line of headings; no line is wider than the terminal we promise.
pub(super) fn render(rows: &[Row]) -> Vec<String> {
    let mut lines = vec![HEADINGS.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    // The name gives way: numbers cut short would be wrong numbers.
    let others: usize = widths.iter().skip(1).map(|width| width + GAP.len()).sum();
    if let Some(name) = widths.first_mut() {
        *name = (*name).min(WIDTH.saturating_sub(others));
    }
    lines.iter().map(|line| layout(line, widths)).collect()
}

fn cells(row: &Row) -> [String; 6] {
    let dash = || "-".to_owned();
    [
        row.name.clone(),
        unit::measured(row.ours, &row.unit),
        row.peer.map_or_else(dash, |peer| unit::measured(peer, &row.unit)),
        row.ratio.map_or_else(dash, unit::times),
        row.budget.clone().unwrap_or_else(dash),
        match (row.ok, &row.budget) {
            (Some(false), _) => "NO".to_owned(),
            (Some(true), Some(_)) => "yes".to_owned(),
            // Nothing was promised, so nothing was kept.
            _ => dash(),
        },
    ]
}

/// Names and verdicts to the left, numbers to the right.
fn layout(line: &[String; 6], widths: [usize; 6]) -> String {
    let [name, ours, peer, ratio, budget, ok] = line;
    let [w_name, w_ours, w_peer, w_ratio, w_budget, w_ok] = widths;
    let name = shortened(name, w_name);
    let text = format!(
        "{name:<w_name$}{GAP}{ours:>w_ours$}{GAP}{peer:>w_peer$}{GAP}{ratio:>w_ratio$}{GAP}{budget:<w_budget$}{GAP}{ok:<w_ok$}"
    );
    text.trim_end().to_owned()
}

/// Names begin with what they share, so the cut is in the middle.
fn shortened(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let kept = width.saturating_sub(2);
    let head: String = name.chars().take(kept / 2).collect();
    let tail: String = name.chars().skip(length - (kept - kept / 2)).collect();
    format!("{head}..{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, peer: Option<f64>, ok: Option<bool>) -> Row {
        Row {
            name: name.to_owned(),
            unit: "ns".to_owned(),
            ours: 38.0,
            peer,
            ratio: peer.map(|peer| peer / 38.0),
            budget: ok.map(|_| ">= 1000x".to_owned()),
            ok,
        }
    }

    #[test]
    fn table_is_aligned() {
        let rows = [row("decision/10k", Some(2_800_000.0), Some(true)), row("memory", None, None)];
        assert_eq!(
            render(&rows),
            [
                "name           ours     peer    ratio  budget    ok",
                "decision/10k  38 ns  2.80 ms  73,684x  >= 1000x  yes",
                "memory        38 ns        -        -  -         -",
            ]
        );
    }

    #[test]
    fn miss_is_loud() {
        assert!(render(&[row("a", Some(40.0), Some(false))])[1].ends_with("NO"));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = format!("aggregate/{}/cold", "x".repeat(120));
        let lines = render(&[row(&long, Some(2_800_000.0), Some(true))]);
        assert_eq!(lines[1].chars().count(), WIDTH);
        assert!(lines[1].starts_with("aggregate/") && lines[1].contains(".."), "{}", lines[1]);
        assert!(lines[1].contains("/cold"), "{}", lines[1]);
    }
}
