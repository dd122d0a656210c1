//! `rolewright up`: how soon its example is there, and what it takes.

use anyhow::Result;

use crate::process::Running;

/// Milliseconds until it is ready, the better of two starts, and megabytes at rest.
pub(crate) async fn measured() -> Result<(f64, f64)> {
    let folder = std::env::temp_dir().join(format!("rolewright-bench-up-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    // The first start finds the program on the disk, the second in memory.
    let (first, _) = Running::sandbox(&folder).await?;
    let (second, memory) = Running::sandbox(&folder).await?;
    std::fs::remove_dir_all(&folder)?;
    Ok((first.min(second).as_secs_f64() * 1e3, memory))
}
