//! Creating.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{Call, meta, set_meta};
use crate::cluster::Entry;
use crate::http::respond::Answer;
use crate::query::WriteOptions;
use crate::status::Failure;
use crate::strategy::{self, Object};
use crate::{managed, time, uid};

/// How often a generated name is drawn again when it is taken.
const DRAWS: usize = 8;

impl Call<'_> {
    pub(crate) fn create(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = WriteOptions::create(&self.query)?;
        let (object, warnings) = self.decode(options.field_validation)?;
        let given = meta(&object, "namespace");
        if self.served.namespaced && !given.is_empty() && given != self.info.namespace {
            return Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        let (entry, more) = self.store_new(object, &options)?;
        self.answer(StatusCode::CREATED, &entry, &[warnings, more].concat())
    }

    /// Stores an object that is not there yet. Returns it, and warnings.
    pub(super) fn store_new(&self, mut object: Object, options: &WriteOptions) -> Result<(Arc<Entry>, Vec<String>), Failure> {
        let stored = self.stored();
        strategy::wipe_system_fields(&mut object);
        let name = meta(&object, "name").to_owned();
        self.admit_namespace(&self.server.cluster().read(), &name)?;
        if self.served.namespaced {
            set_meta(&mut object, "namespace", self.info.namespace.as_str());
        }
        if !meta(&object, "resourceVersion").is_empty() {
            return Err(Failure::internal("resourceVersion should not be set on objects to be created"));
        }
        let now = time::now();
        set_meta(&mut object, "uid", uid::uuid_v4());
        set_meta(&mut object, "creationTimestamp", time::seconds(now));
        managed::update(
            self.served,
            stored,
            None,
            &mut object,
            &self.manager(&options.field_manager),
            &self.info.subresource,
            &time::seconds(now),
        );
        let prefix = meta(&object, "generateName").to_owned();
        let generated = name.is_empty() && !prefix.is_empty();
        if generated {
            set_meta(&mut object, "name", generate(&prefix));
        }
        self.guard(&self.server.cluster().read(), &mut object, None)?;
        strategy::before_create(stored.facts, &mut object, self.namespace())?;
        let warnings = self.served.strategy.warnings(&object, None);
        let mut last = Failure::already_exists(self.served.group_resource(), meta(&object, "name"));
        for _ in 0..DRAWS {
            match self.commit_new(&object, options.dry_run) {
                Err(failure) if generated && failure.reason == "AlreadyExists" => {
                    set_meta(&mut object, "name", generate(&prefix));
                    last = failure;
                }
                done => return Ok((done?, warnings)),
            }
        }
        last.message = format!("{}, the server was not able to generate a unique name for the object", last.message);
        Err(last)
    }

    fn commit_new(&self, object: &Object, dry_run: bool) -> Result<Arc<Entry>, Failure> {
        let draft = self.draft(object)?;
        let name = meta(object, "name");
        let taken = || Failure::already_exists(self.served.group_resource(), name);
        let collection = self.served.collection;
        if dry_run {
            let state = self.server.cluster().read();
            if state.table(collection).get(self.namespace(), name).is_some() {
                return Err(taken());
            }
            return Ok(Arc::new(Entry::shown(object)));
        }
        self.server.cluster().write(|transaction| {
            if transaction.state().table(collection).get(self.namespace(), name).is_some() {
                return Err(taken());
            }
            self.admit_namespace(transaction.state(), name)?;
            let entry = transaction.put(collection, &draft);
            self.server.note_namespace(transaction, collection, &entry);
            Ok(entry)
        })
    }
}

/// A name from a prefix, as Kubernetes draws them: no vowels and no look-alikes.
fn generate(prefix: &str) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut end = prefix.len().min(58);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = prefix.get(..end).unwrap_or_default().to_owned();
    for _ in 0..5 {
        let at = uid::random_below(27) as usize;
        name.push(ALPHABET.get(at).copied().map_or('x', char::from));
    }
    name
}
