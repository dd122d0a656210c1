//! stub
use axum::http::HeaderMap;
use crate::Server;
use crate::http::respond::Answer;
use crate::status::Failure;
pub(crate) fn answer(_: &Server, _: &HeaderMap, _: &[&str]) -> Result<Answer, Failure> { Err(Failure::no_such_resource()) }
