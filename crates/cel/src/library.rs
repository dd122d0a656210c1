//! The functions expressions may call.
pub(crate) mod base64;
pub(crate) mod call;
pub(crate) mod cost;
pub(crate) mod format;
mod ip;
mod lists;
pub(crate) mod opaque;
mod operators;
mod quantity;
pub(crate) mod regex;
mod semver;
pub(crate) mod stringformat;
mod strings;
mod times;
mod url;
