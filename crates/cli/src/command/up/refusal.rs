//! What keeps a sandbox from starting, and the way out.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::anyhow;
use rolewright_server::store::StoreError;
use rolewright_server::{ListenError, StartError};
use serde_json::Value;

use super::instance::{self, Running};
use crate::command::server;

/// An error with the way out.
pub(super) fn explained(error: ListenError) -> anyhow::Error {
    match &error {
        ListenError::Bind { source, address } if source.kind() == ErrorKind::AddrInUse => {
            let hint = match running(|other| other.port == address.port()) {
                Some(Running { pid, port, .. }) => format!(
                    "by another `rolewright up` (process {pid}); hint: `rolewright down --port {port}` ends it, --port 0 \
                     takes a free port"
                ),
                None => "by somebody else; hint: --port 0 takes a free one".to_owned(),
            };
            anyhow!("the port {} is in use {hint}", address.port())
        }
        ListenError::Start(StartError::Store(StoreError::Busy { path })) => {
            let data =
                |other: &Running| other.record.get("data").and_then(Value::as_str).map(Path::new)?.canonicalize().ok();
            let own = path.canonicalize().ok();
            // We are among them, on a port of our own.
            match running(|other| data(other) == own && u32::try_from(other.pid) != Ok(std::process::id())) {
                Some(Running { pid, port, .. }) => anyhow!(
                    "the data folder `{}` is in use by another `rolewright up` (process {pid}); hint: `rolewright down \
                     --port {port}` ends it, or use another folder",
                    path.display()
                ),
                None => error.into(),
            }
        }
        ListenError::Start(StartError::Store(StoreError::Folder { path, source })) => anyhow!(
            "nothing can be kept in `{}`: {source}; hint: --data DIR with a folder that you may write to, or none to keep \
             nothing",
            path.display()
        ),
        _ => server::explained(error),
    }
}

fn running(is_it: impl FnMut(&Running) -> bool) -> Option<Running> {
    let mut is_it = is_it;
    let running = instance::folder().and_then(|folder| instance::running(&folder)).unwrap_or_default();
    running.into_iter().find(|other| is_it(other))
}
