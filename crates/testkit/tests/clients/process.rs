//! Subcommands of the testbed that run beside the tests.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use rolewright_testkit::testbed::{Lines, known};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::servers::Home;

/// A running subcommand. It ends when this is dropped.
pub(crate) struct Process(Lines);

impl Process {
    /// Starts `testbed COMMAND --kubeconfig .. ARGUMENTS`.
    pub(crate) fn start(home: &Home, command: &str, arguments: &[&str]) -> Result<Self> {
        let binary = known().context("there is a testbed, since the real server runs")?;
        let mut process = Command::new(binary);
        process.arg(command).arg("--kubeconfig").arg(&home.kubeconfig).args(arguments);
        tokio::task::block_in_place(|| Lines::start(&mut process)).map(Self)
    }

    /// The next line that it prints.
    pub(crate) fn line(&mut self) -> Result<Value> {
        tokio::task::block_in_place(|| self.0.line())
    }

    /// Reads on until it prints this.
    pub(crate) fn until(&mut self, wanted: &Value) -> Result<()> {
        // Whoever says so much else will never say it.
        for _ in 0..50 {
            if self.line()? == *wanted {
                return Ok(());
            }
        }
        ensure!(false, "it never prints {wanted}");
        Ok(())
    }

    pub(crate) fn ask<T: DeserializeOwned>(&mut self, request: Value) -> Result<T> {
        tokio::task::block_in_place(|| self.0.ask(request))
    }

    /// Ends it and waits for that.
    pub(crate) fn end(mut self) -> Result<()> {
        tokio::task::block_in_place(|| self.0.end())
    }
}
