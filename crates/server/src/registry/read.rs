//! Getting, listing, watching.

use axum::http::StatusCode;

use super::{Call, Filter, list, watch};
use crate::http::respond::Answer;
use crate::query::{GetOptions, ListOptions};
use crate::status::Failure;

impl Call<'_> {
    pub(crate) fn get(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = GetOptions::from_query(&self.query)?;
        let asked = list::revision(&options.resource_version)?;
        let current = self.server.cluster().read().revision();
        if asked > current {
            return Err(list::too_new(asked, current));
        }
        let entry = self.current().ok_or_else(|| self.not_found())?;
        self.answer(StatusCode::OK, &entry, &[])
    }

    pub(crate) fn list(&self) -> Result<Answer, Failure> {
        let render = self.render()?;
        let options = ListOptions::from_query(&self.query)?;
        let filter = self.filter(&options)?;
        if options.watch || self.info.verb == "watch" {
            return watch::watch(self.server, self.served, filter, render, &options);
        }
        let found = list::list(&self.server.cluster().read(), self.served, &filter, &options)?;
        Ok(found.answer(&render))
    }

    pub(super) fn filter(&self, options: &ListOptions) -> Result<Filter, Failure> {
        Filter::new(self.served, self.namespace(), &self.info.name, options)
    }
}
