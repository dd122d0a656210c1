//! HTTP: from a request to what it asks for, and from an answer to bytes.

pub(crate) mod auditing;
pub(crate) mod discovery;
pub(crate) mod dispatch;
pub(crate) mod negotiate;
pub(crate) mod plain;
pub(crate) mod request;
pub(crate) mod respond;
mod routes;
