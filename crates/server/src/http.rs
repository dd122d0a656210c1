//! HTTP: from a request to what it asks for, and from an answer to bytes.

pub(crate) mod negotiate;
pub(crate) mod request;
pub(crate) mod respond;
