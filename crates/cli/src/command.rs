//! One module per command.

pub(crate) mod completion;
pub(crate) mod down;
pub(crate) mod explain;
pub(crate) mod manifests;
pub(crate) mod plan;
pub(crate) mod reference;
pub(crate) mod run;
pub(crate) mod server;
pub(crate) mod uninstall;
pub(crate) mod up;
