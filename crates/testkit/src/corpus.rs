//! Counterexamples, kept as files and replayed by every later run.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn folder(suite: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(suite)
}

/// All kept cases of a suite, by file name.
pub fn load<T: DeserializeOwned>(suite: &str) -> Result<Vec<(String, T)>> {
    let Ok(entries) = fs::read_dir(folder(suite)) else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.map(|e| e.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path)?;
        let case = serde_json::from_str(&text).with_context(|| format!("`{}`", path.display()))?;
        Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), case))
    };
    paths.into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "json")).map(read).collect()
}

/// Keeps a shrunk counterexample; the path is for the failure message. The name follows from the content, so that the
/// same finding is kept once.
pub fn keep<T: Serialize>(suite: &str, case: &T) -> Result<PathBuf> {
    let text = serde_json::to_string_pretty(case)?;
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    // A planted mutant's findings say nothing about the real engine.
    let mutant = std::env::var_os("ROLEWRIGHT_MUTANT").is_some_and(|name| !name.is_empty());
    let folder = if mutant { std::env::temp_dir() } else { folder(suite) };
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{hash:016x}.json"));
    fs::write(&path, text + "\n")?;
    Ok(path)
}
