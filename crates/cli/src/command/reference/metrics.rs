//! Every metric there is.

use rolewright_controller::metrics::SCRAPE;

use super::{head, row};

pub(super) fn page() -> String {
    let mut page =
        "# Metrics\n\n`rolewright run` serves them on `/metrics` of `--listen`, in the format of OpenMetrics.\n\n"
            .to_owned();
    page.push_str(&head(&["metric", "type", "labels", "what it tells"]));
    let mut lines = SCRAPE.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|line| line.split_once(' ')) else { continue };
        let mut kind = "";
        let mut labels = String::new();
        let mut sample = name;
        while let Some(line) = lines.next_if(|line| !line.starts_with("# HELP ")) {
            match line.strip_prefix("# TYPE ").and_then(|line| line.split_once(' ')) {
                Some((_, word)) => kind = word,
                None if line.starts_with('#') => {}
                None => {
                    sample = line.split(['{', ' ']).next().unwrap_or(name);
                    labels = labels_of(line);
                }
            }
        }
        let shown = if kind == "histogram" { name } else { sample };
        page.push_str(&row(&[&format!("`{shown}`"), kind, &labels, help]));
    }
    page
}

/// `` `module`, `outcome` ``
fn labels_of(sample: &str) -> String {
    let within = sample.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |(labels, _)| labels);
    let names = within.split(',').filter_map(|label| label.split_once('=')).map(|(name, _)| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}
