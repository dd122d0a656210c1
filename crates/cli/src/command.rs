//! One module per command.

pub(crate) mod server;
pub(crate) mod up;
