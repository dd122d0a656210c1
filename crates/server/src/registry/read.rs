//! Getting, listing, watching.

use axum::http::StatusCode;

use super::{Call, Filter, list, watch};
use crate::http::negotiate::Form;
use crate::http::respond::Answer;
use crate::query::{GetOptions, ListOptions};
use crate::status::Failure;

/// Only lists check a version before the storage fails on it.
fn unexpected(failure: Failure) -> Failure {
    Failure::new(500, "", failure.message)
}

impl Call<'_> {
    pub(crate) fn get(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = GetOptions::from_query(&self.query)?;
        let asked = if self.served.is_cached() {
            list::revision(&options.resource_version).map_err(unexpected)?
        } else {
            list::named_revision(&options.resource_version)?
        };
        let current = self.server.cluster().read().revision();
        if asked > current {
            return Err(list::too_new(asked, current));
        }
        let entry = self.current().ok_or_else(|| self.not_found())?;
        self.answer(StatusCode::OK, &entry)
    }

    pub(crate) fn list(&self) -> Result<Answer, Failure> {
        let render = self.render()?;
        let mut query = self.query.clone();
        if self.info.verb == "watch" {
            query.set("watch", "true");
        }
        let options = ListOptions::from_query(&query)?;
        let filter = self.filter(&options)?;
        if options.watch {
            list::revision(&options.resource_version).map_err(unexpected)?;
            return watch::watch(self.server, self.served, filter, render, &options);
        }
        let found = list::list(&self.server.cluster().read(), self.served, &filter, &options)?;
        if self.form()? == Form::Metadata {
            return Err(self.not_a_list(false));
        }
        Ok(found.answer(&render))
    }

    /// 406: metadata of one was asked of many, or the other way round.
    pub(super) fn not_a_list(&self, one: bool) -> Failure {
        // Named after the form that Kubernetes works with, which is that of the group where objects are stored.
        let stored = self.stored();
        let group = &stored.group;
        let package = if group.is_empty() { "core" } else { group.split('.').next().unwrap_or_default() };
        let kind = &self.served.kind;
        if one {
            return no_list(package, kind);
        }
        let message =
            format!("you requested PartialObjectMetadata, but the requested object is a list (*{package}.{kind}List)");
        Failure::new(406, "NotAcceptable", message)
    }

    pub(super) fn filter(&self, options: &ListOptions) -> Result<Filter, Failure> {
        Filter::new(self.served, self.namespace(), &self.info.name, options)
    }
}

/// 406: one object is no list of them.
pub(super) fn no_list(package: &str, kind: &str) -> Failure {
    let message =
        format!("you requested PartialObjectMetadataList, but the requested object is not a list (*{package}.{kind})");
    Failure::new(406, "NotAcceptable", message)
}
