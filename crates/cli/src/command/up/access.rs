//! How to get in: a kubeconfig, and what becomes of it in the end.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rolewright_server::Listening;

use super::commands::Shell;
use super::kubeconfig::{Added, Mark, Ours};
use super::{USUAL_PORT, UpArgs};
use crate::output;

/// How to get in.
pub(super) struct Access {
    pub(super) shell: Shell,
    after: After,
}

/// What becomes of the kubeconfig in the end.
enum After {
    /// The cluster comes back, and it is good again.
    Stays,
    /// It was made for a cluster that is gone.
    Goes(PathBuf),
    /// Our context in somebody's kubeconfig goes.
    Leaves(Box<Added>),
}

impl Access {
    pub(super) fn give(args: &UpArgs, listening: &Listening) -> Result<Self> {
        let port = listening.address.port();
        if let Some(file) = &args.kubeconfig {
            let name = if port == USUAL_PORT { "rolewright".to_owned() } else { format!("rolewright-{port}") };
            let mark = Mark {
                server: listening.url(),
                data: args.whole_data().map(|data| data.display().to_string()),
                process: std::process::id(),
            };
            let added = Added::to(file, Ours::new(name.clone(), mark, &listening.kubeconfig(&name)))?;
            let shell = Shell::here(file.clone(), (!added.is_current).then_some(name));
            let after = if args.data.is_some() { After::Stays } else { After::Leaves(Box::new(added)) };
            return Ok(Self { shell, after });
        }
        let (file, after) = if let Some(data) = &args.data {
            (data.join("admin.kubeconfig"), After::Stays)
        } else {
            let file = std::env::temp_dir().join(format!("rolewright-{port}.kubeconfig"));
            (file.clone(), After::Goes(file))
        };
        listening.write_kubeconfig(&file).with_context(|| {
            format!("cannot write the kubeconfig `{}`; hint: choose another with --kubeconfig", file.display())
        })?;
        Ok(Self { shell: Shell::here(file, None), after })
    }

    /// Leaves nothing behind that leads nowhere.
    pub(super) fn take(&self) {
        let done = match &self.after {
            After::Stays => Ok(()),
            After::Goes(file) => std::fs::remove_file(file).context("cannot remove the kubeconfig"),
            After::Leaves(added) => added.take_back(),
        };
        if let Err(error) = done {
            let file = self.shell.kubeconfig.display();
            output::note(format!("`{file}` is left as it is: {}", output::in_words(&error)));
        }
    }
}
