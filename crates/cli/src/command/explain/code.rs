//! What a code means.

use std::io::Write;

use anyhow::Result;
use rolewright_plan::{Code, Severity};
use serde_json::json;

use crate::output::{self, HEADING};
use crate::render;

pub(super) fn print(code: Code, json: bool, out: &mut impl Write) -> Result<()> {
    let severity = match code.severity() {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    if json {
        let page = json!({
            "code": code.to_string(),
            "reason": code.reason(),
            "severity": severity,
            "title": code.title(),
            "help": code.help(),
        });
        serde_json::to_writer_pretty(&mut *out, &page)?;
        return Ok(writeln!(out)?);
    }
    writeln!(out, "{HEADING}{code}{HEADING:#} {} ({severity}, {})", code.title(), code.reason())?;
    writeln!(out)?;
    for line in render::wrapped(code.help(), output::width()) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
