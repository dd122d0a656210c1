//! `rolewright reference`: the pages of docs/reference and the manual, made from the code. Only `cargo xtask gen` runs it.

mod commands;
mod conditions;
mod diagnostics;
mod kinds;
mod metrics;

use std::io::Write;

use anyhow::Result;
use rolewright_plan::Module;
use serde_json::{Map, Value};

use crate::modules::ModuleArgs;

const MADE: &str = "<!-- Made from the code by `cargo xtask gen`. -->\n\n";

/// Prints all pages as one object: where each belongs, and its text.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let modules = ModuleArgs::of_a_sandbox()?.build();
    let command = crate::args::command();
    let mut pages: Vec<(String, String)> = vec![
        ("docs/reference/commands.md".to_owned(), commands::page(&command)),
        ("docs/reference/conditions.md".to_owned(), conditions::page(&kinds_of(&modules))),
        ("docs/reference/diagnostics.md".to_owned(), diagnostics::page()),
        ("docs/reference/kinds.md".to_owned(), kinds::page(&modules)),
        ("docs/reference/metrics.md".to_owned(), metrics::page()),
    ];
    for (_, text) in &mut pages {
        text.insert_str(0, MADE);
    }
    pages.extend(commands::manual(&command)?);
    let pages: Map<String, Value> = pages.into_iter().map(|(path, text)| (path, Value::String(text))).collect();
    serde_json::to_writer(&mut *out, &pages)?;
    Ok(writeln!(out)?)
}

fn kinds_of(modules: &[Box<dyn Module>]) -> Vec<&'static rolewright_plan::Kind> {
    let mut kinds: Vec<_> = modules.iter().flat_map(|module| module.watches()).map(|watch| watch.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// A row of a table: bars within cells would end them.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a table.
fn head(names: &[&str]) -> String {
    format!("{}{}\n", row(names), "|---".repeat(names.len()) + "|")
}
