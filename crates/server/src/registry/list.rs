//! Listing: now, at an earlier revision, page by page.

use std::sync::Arc;

use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::filter::Filter;
use super::render::Render;
use crate::catalog::Served;
use crate::cluster::{Entry, Page, State};
use crate::http::respond::{self, Answer};
use crate::json::put;
use crate::query::{ListOptions, VersionMatch};
use crate::status::{Cause, Details, Failure};

/// Where the next page starts.
#[derive(Clone, Serialize, Deserialize)]
struct Token {
    v: String,
    rv: i64,
    start: String,
}

/// The version of a token that goes on with whatever is there.
const NOW: i64 = -1;

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

/// The objects that a list finds.
pub(crate) struct Found {
    pub(crate) entries: Vec<Arc<Entry>>,
    metadata: Value,
}

pub(crate) fn list(state: &State, served: &Served, filter: &Filter, options: &ListOptions) -> Result<Found, Failure> {
    let limit = usize::try_from(options.limit).ok().filter(|limit| *limit > 0);
    let token = (!options.continue_token.is_empty()).then(|| Token::read(&options.continue_token)).transpose()?;
    let revision = at_revision(state, options, token.as_ref())?;
    // Answers from a cache are whole, says Kubernetes of lists at version 0.
    let limit = limit.filter(|_| options.resource_version != "0" || !served.is_cached());
    let after = token.as_ref().and_then(|token| token.start.trim_end_matches('\0').rsplit_once('/'));
    let page = Page { namespace: &filter.namespace, after };
    let table = state.table(served.collection);
    let matching = |entry: &Arc<Entry>| filter.matches(served, entry);
    let take = limit.map_or(usize::MAX, |limit| limit + 1);
    let alone = filter.name().is_some() && (!served.namespaced || !filter.namespace.is_empty());
    let (mut entries, remaining): (Vec<Arc<Entry>>, usize) = match revision {
        Some(revision) => {
            let all = table.entries_at(&page, revision).ok_or_else(|| gone(token.as_ref()))?;
            let total = all.len();
            (all.into_iter().filter(matching).take(take).collect(), total)
        }
        None => match filter.name() {
            Some(name) if alone => {
                let entry = table.get(&filter.namespace, name).filter(|entry| matching(entry));
                (entry.cloned().into_iter().collect(), 0)
            }
            _ => {
                let found: Vec<_> = table.entries(&page).filter(|entry| matching(entry)).take(take).cloned().collect();
                let total = if found.len() == take { table.entries(&page).count() } else { 0 };
                (found, total)
            }
        },
    };
    // One by its name is no page.
    let limit = limit.filter(|_| revision.is_some() || !alone);
    // Like etcd, a page ends with its limit as soon as anything follows, whether that matches or not.
    let follows = |entries: &[Arc<Entry>]| {
        let last = entries.last().map(|last| (last.namespace.as_str(), last.name.as_str()));
        last.is_some() && table.entries(&Page { namespace: &filter.namespace, after: last }).next().is_some()
    };
    let listed_at = revision.unwrap_or(state.revision());
    let mut metadata = json!({"resourceVersion": listed_at.to_string()});
    if let Some(limit) = limit.filter(|limit| entries.len() > *limit || entries.len() == *limit && follows(&entries)) {
        entries.truncate(limit);
        if let Some(last) = entries.last() {
            let start = format!("{}/{}\0", last.namespace, last.name);
            let token = Token { v: TOKEN_VERSION.to_owned(), rv: i64::try_from(listed_at).unwrap_or(i64::MAX), start };
            put(&mut metadata, "continue", token.text());
        }
        if filter.is_whole() {
            put(&mut metadata, "remainingItemCount", remaining.saturating_sub(limit));
        }
    }
    Ok(Found { entries, metadata })
}

/// The revision that must be shown exactly; `None` for now.
fn at_revision(state: &State, options: &ListOptions, token: Option<&Token>) -> Result<Option<u64>, Failure> {
    if let Some(token) = token {
        if !options.resource_version.is_empty() && options.resource_version != "0" {
            return Err(Failure::bad_request("specifying resource version is not allowed when using continue"));
        }
        return Ok(u64::try_from(token.rv).ok().filter(|revision| *revision > 0));
    }
    let asked = named_revision(&options.resource_version)?;
    if asked > state.revision() {
        return Err(too_new(asked, state.revision()));
    }
    match options.resource_version_match {
        Some(VersionMatch::Exact) => Ok(Some(asked)),
        // A first page at a version is a page of exactly that version.
        None if options.limit > 0 && asked > 0 => Ok(Some(asked)),
        _ => Ok(None),
    }
}

/// Reads a resource version that goes to the storage.
pub(crate) fn named_revision(text: &str) -> Result<u64, Failure> {
    revision(text).map_err(|mut failure| {
        failure.message = format!("invalid resource version: {}", failure.message);
        failure
    })
}

/// Reads a resource version; empty and `0` are 0.
pub(crate) fn revision(text: &str) -> Result<u64, Failure> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        let why = if text.bytes().all(|byte| byte.is_ascii_digit()) { "value out of range" } else { "invalid syntax" };
        let error = rolewright_core::validate::FieldError::invalid(
            rolewright_core::validate::Path::field("resourceVersion"),
            text,
            format!("strconv.ParseUint: parsing {text:?}: {why}"),
        );
        Failure::bad_request(error.to_string())
    })
}

/// 504: the version asked for is not there yet.
pub(crate) fn too_new(asked: u64, current: u64) -> Failure {
    let cause = Cause {
        reason: "ResourceVersionTooLarge".into(),
        message: "Too large resource version".into(),
        ..Cause::default()
    };
    let details = Details { causes: vec![cause], retry_after_seconds: 1, ..Details::default() };
    let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
    Failure::new(504, "Timeout", message).about(details)
}

/// 410: that version is forgotten. Who was reading page by page may go on with what is there now.
fn gone(token: Option<&Token>) -> Failure {
    match token {
        Some(token) => {
            let mut failure = Failure::expired(
                "The provided continue parameter is too old to display a consistent list result. You can start a new list \
                 without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
                 results. Continuing with the provided token results in an inconsistent list - objects that were created, \
                 modified, or deleted between the time the first chunk was returned and now may show up in the list.",
            );
            failure.continue_token = Token { rv: NOW, ..token.clone() }.text();
            failure
        }
        None => Failure::expired("The resourceVersion for the provided list is too old."),
    }
}

impl Token {
    fn read(text: &str) -> Result<Self, Failure> {
        let invalid =
            |why: &str| Failure::bad_request(format!("invalid continue token: continue key is not valid: {why}"));
        let bytes = crate::codec::from_url(text).map_err(|error| invalid(&error))?;
        crate::codec::syntax(&bytes).map_err(|error| invalid(&error))?;
        let token: Self = serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
        if token.v != TOKEN_VERSION {
            return Err(invalid("server does not recognize this encoded version"));
        }
        if token.rv == 0 {
            return Err(invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
        }
        Ok(token)
    }

    fn text(&self) -> String {
        // Serializing three plain members cannot fail.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }
}

impl Found {
    pub(crate) fn answer(&self, render: &Render) -> Answer {
        respond::json(StatusCode::OK, render.list(&self.entries, &self.metadata))
    }
}
