//! Creating.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{Call, meta, set_meta};
use crate::cluster::Entry;
use crate::http::request::RequestInfo;
use crate::http::respond::Answer;
use crate::query::WriteOptions;
use crate::status::Failure;
use crate::strategy::{self, Object};
use crate::{codec, ownership, time, uid};

/// How often a generated name is drawn again when it is taken.
const DRAWS: usize = 8;

/// How an object comes into being.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is created.
    Post,
    /// It is to replace an object that is not there.
    Put,
    /// It was applied: who owns its fields is settled.
    Apply,
}

impl Call<'_> {
    pub(crate) fn create(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = WriteOptions::create(&self.query)?;
        let object = self.decode(options.field_validation)?;
        let given = meta(&object, "namespace");
        if self.served.namespaced && !given.is_empty() && given != self.info.namespace {
            return Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        let entry = self.store_new(object, &options, Origin::Post)?;
        self.answer(StatusCode::CREATED, &entry)
    }

    /// Stores an object that is not there yet.
    pub(super) fn store_new(
        &self,
        mut object: Object,
        options: &WriteOptions,
        origin: Origin,
    ) -> Result<Arc<Entry>, Failure> {
        let stored = self.stored();
        // Kubernetes takes these only from who creates outright.
        if origin == Origin::Post {
            strategy::wipe_system_fields(&mut object);
        }
        let name = meta(&object, "name").to_owned();
        self.admit_namespace(&self.server.cluster().read(), &name)?;
        if self.served.namespaced {
            set_meta(&mut object, "namespace", self.info.namespace.as_str());
        }
        let mut version = Some(meta(&object, "resourceVersion").to_owned()).filter(|version| !version.is_empty());
        self.warn(ownership::dedup_owners(&mut object));
        let now = time::now();
        set_meta(&mut object, "uid", uid::uuid_v4());
        set_meta(&mut object, "creationTimestamp", time::seconds(now));
        if origin != Origin::Apply {
            let manager = self.manager(&options.field_manager);
            ownership::track(self.served, None, &mut object, &manager, &self.info.subresource);
        }
        self.furnish(&mut object)?;
        // Before a name is drawn: a refusal names no object that nobody asked for.
        self.guard(&self.server.cluster().read(), &mut object, None)?;
        if origin != Origin::Post {
            let named = strategy::forget_version(&mut object)?;
            version = version.filter(|_| named);
        }
        let prefix = meta(&object, "generateName").to_owned();
        let generated = name.is_empty() && !prefix.is_empty();
        if generated {
            set_meta(&mut object, "name", generate(&prefix));
        }
        self.allocate(&mut object, None, options.dry_run)?;
        strategy::before_create(self.served.rules(), &mut object, self.namespace())?;
        if self.served.ending().is_some() {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(Failure::forbidden(self.served.group_resource(), meta(&object, "name"), why));
        }
        // What is only tried out is shown with the version that it came with, whatever that is.
        match version.filter(|_| options.dry_run) {
            Some(version) => set_meta(&mut object, "resourceVersion", version),
            None => strategy::refuse_version(&mut object)?,
        }
        if origin != Origin::Post {
            // INVARIANT: whoever may only change objects brings none into being. Kubernetes asks this last.
            self.server.authorize(self.identity, &RequestInfo { verb: "create".into(), ..self.info.clone() })?;
        }
        if !options.dry_run {
            strategy::forget_link(&mut object);
        }
        if let Some(built_in) = stored.built_in() {
            codec::as_stored(built_in.ty, &mut object);
        }
        self.warn(self.served.strategy().warnings(&object, None));
        for draw in 1.. {
            match self.commit_new(&object, options.dry_run) {
                Err(failure) if generated && failure.reason == "AlreadyExists" && draw < DRAWS => {
                    set_meta(&mut object, "name", generate(&prefix));
                }
                Err(mut failure) => {
                    if !prefix.is_empty() && failure.reason == "AlreadyExists" {
                        let why = "the server was not able to generate a unique name for the object";
                        failure.message = format!("{}, {why}", failure.message);
                        if let Some(details) = &mut failure.details {
                            details.retry_after_seconds = 1;
                        }
                    }
                    return Err(failure);
                }
                Ok(entry) => return Ok(entry),
            }
        }
        Err(Failure::already_exists(self.served.group_resource(), meta(&object, "name")))
    }

    fn commit_new(&self, object: &Object, dry_run: bool) -> Result<Arc<Entry>, Failure> {
        let draft = self.draft(&self.served.encoded(object))?;
        let name = meta(object, "name");
        let taken = |there: &Entry| {
            let mut failure = Failure::already_exists(self.served.group_resource(), name);
            if there.deleting {
                failure.message = format!("object is being deleted: {}", failure.message);
            }
            failure
        };
        let collection = self.served.collection;
        if dry_run {
            let state = self.server.cluster().read();
            if let Some(there) = state.table(collection).get(self.namespace(), name) {
                return Err(taken(there));
            }
            return Ok(self.served.shown(object).into());
        }
        self.server.cluster().write(|transaction| {
            if let Some(there) = transaction.state().table(collection).get(self.namespace(), name) {
                return Err(taken(there));
            }
            self.admit_namespace(transaction.state(), name)?;
            if transaction.state().table(collection).is_closed() {
                return Err(Failure::no_such_resource());
            }
            let entry = transaction.put(collection, &draft);
            self.server.note(transaction, collection, &entry);
            Ok(entry)
        })
    }
}

/// A name from a prefix.
fn generate(prefix: &str) -> String {
    let mut end = prefix.len().min(58);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{}", prefix.get(..end).unwrap_or_default(), suffix())
}

/// What Kubernetes ends generated names with: no vowels and no look-alikes.
pub(super) fn suffix() -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let letter = |_| ALPHABET.get(uid::random_below(27) as usize).copied().map_or('x', char::from);
    (0..5).map(letter).collect()
}
