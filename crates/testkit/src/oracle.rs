//! Kubernetes' own RBAC code as an oracle. `testbed/README.md` lists what can be asked.

use std::process::Command;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::testbed::{self, Lines};

/// A running `testbed oracle`.
#[derive(Debug)]
pub struct Oracle(Lines);

impl Oracle {
    /// Starts the oracle; nothing, with a word on stderr, where there is no testbed.
    pub fn start(suite: &str) -> Result<Option<Self>> {
        let Some(binary) = testbed::binary(suite)? else { return Ok(None) };
        Ok(Some(Self(Lines::start(Command::new(binary).arg("oracle"))?)))
    }

    /// Asks one thing. The answer's fields are read into `T`.
    pub fn ask<T: DeserializeOwned>(&mut self, op: &str, fields: impl Serialize) -> Result<T> {
        let mut request = serde_json::to_value(fields)?;
        request.as_object_mut().context("a request is an object")?.insert("op".into(), json!(op));
        self.0.ask(request).with_context(|| format!("`{op}`"))
    }
}
