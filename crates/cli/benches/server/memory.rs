//! Memory of a process, as Linux tells it.

use anyhow::{Context, Result};

/// Resident megabytes.
pub(crate) fn resident(process: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).context("memory is read from /proc")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("/proc tells the resident memory")?;
    let kilobytes = line.split_whitespace().next().context("a number of kB")?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}
