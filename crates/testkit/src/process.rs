//! What a process takes, as Linux tells it.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Resident megabytes.
pub fn resident(process: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("memory is read from /proc")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("/proc tells the resident memory")?;
    let kilobytes = line.split_whitespace().next().context("a number of kB")?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}

/// Time on a processor so far, of all threads that live. To the nanosecond, where `/proc/PID/stat` counts hundredths of a
/// second; threads that ended are missing.
pub fn cpu(process: u32) -> Result<Duration> {
    let mut total = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task")).context("time is read from /proc")? {
        // A thread may end while we look.
        let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        let nanoseconds = text.split_whitespace().next().context("/proc tells the time on a processor")?;
        total += nanoseconds.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(total))
}
