//! Updating: the whole object or a part of it, whatever its new form is made from.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::Value;

use super::create::Origin;
use super::{Call, finalizers, meta, set_meta};
use crate::cluster::Entry;
use crate::codec;
use crate::http::respond::Answer;
use crate::managed;
use crate::ownership;
use crate::patch::PatchType;
use crate::query::WriteOptions;
use crate::status::Failure;
use crate::strategy::{self, Object};

/// Where the new form of an object comes from.
pub(super) enum Change<'a> {
    /// The client sent it.
    Put(Object),
    /// The client sent what to change.
    Patch(PatchType, &'a [u8]),
    /// The client sent what it wants of the object, which need not be there.
    Apply(&'a [u8]),
    /// Made from the old form.
    Make(&'a dyn Fn(Object) -> Result<Object, Failure>),
    /// The same, with the record of whose fields these are.
    Owned(&'a dyn Fn(Object) -> Result<Object, Failure>),
}

impl Change<'_> {
    /// Patches of all kinds are made again when somebody else was faster.
    fn is_patch(&self) -> bool {
        matches!(self, Self::Patch(..) | Self::Apply(_))
    }
}

/// How often a change is made again because somebody else was faster. Only changes that name no version are.
const TRIES: usize = 64;

/// What became of an object.
pub(super) struct Done {
    pub(super) entry: Arc<Entry>,
    pub(super) created: bool,
}

impl Call<'_> {
    pub(crate) fn update(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = WriteOptions::update(&self.query)?;
        let object = self.decode(options.field_validation)?;
        self.check_names(&object)?;
        let done = self.change(&Change::Put(object), &options)?;
        self.answer(if done.created { StatusCode::CREATED } else { StatusCode::OK }, &done.entry)
    }

    /// What the object says of its place must be what the URL says.
    pub(super) fn check_names(&self, object: &Object) -> Result<(), Failure> {
        let name = meta(object, "name");
        if name.is_empty() && meta(object, "generateName").is_empty() || name != self.info.name {
            if name.is_empty() {
                return Err(Failure::bad_request(format!(
                    "the name of the object ({} based on URL) was undeterminable: name must be provided",
                    self.info.name
                )));
            }
            return Err(Failure::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                self.info.name
            )));
        }
        let namespace = meta(object, "namespace");
        if self.served.namespaced && !namespace.is_empty() && namespace != self.info.namespace {
            return Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        Ok(())
    }

    pub(super) fn change(&self, change: &Change<'_>, options: &WriteOptions) -> Result<Done, Failure> {
        let mut last = None;
        for _ in 0..TRIES {
            let done = match self.current() {
                None => self.change_absent(change, options),
                Some(current) => self.change_present(&current, change, options),
            };
            match done {
                Err(Attempt::Overtaken(failure)) => last = Some(failure),
                Err(Attempt::Failed(failure)) => return Err(failure),
                Ok(done) => return Ok(done),
            }
        }
        Err(last.unwrap_or_else(|| Failure::modified(self.served.group_resource(), &self.info.name)))
    }

    /// Some kinds may be created by a PUT, and all by an apply, by who may create them.
    fn change_absent(&self, change: &Change<'_>, options: &WriteOptions) -> Result<Done, Attempt> {
        let creates = match change {
            Change::Put(_) => self.stored().handling("").create_on_update,
            Change::Apply(_) => true,
            Change::Patch(..) | Change::Make(_) | Change::Owned(_) => false,
        };
        if !creates || !self.info.subresource.is_empty() {
            return Err(self.not_found().into());
        }
        let (object, origin) = match change {
            Change::Put(object) => (object.clone(), Origin::Put),
            Change::Apply(body) => (self.applied(None, body, options)?, Origin::Apply),
            Change::Patch(..) | Change::Make(_) | Change::Owned(_) => return Err(self.not_found().into()),
        };
        let uid = meta(&object, "uid");
        if !uid.is_empty() {
            return Err(match origin {
                Origin::Apply => Failure::conflict(
                    self.served.group_resource(),
                    &self.info.name,
                    format_args!(
                        "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                    ),
                ),
                _ => self.another_uid(uid, "", options),
            }
            .into());
        }
        if origin == Origin::Apply {
            self.check_names(&object)?;
        }
        match self.store_new(object, options, origin) {
            Ok(entry) => Ok(Done { entry, created: true }),
            Err(failure) if failure.reason == "AlreadyExists" => Err(Attempt::Overtaken(failure)),
            Err(failure) => Err(failure.into()),
        }
    }

    /// 409: the object is another one with the same name.
    fn another_uid(&self, expected: &str, found: &str, options: &WriteOptions) -> Failure {
        // What is only tried out does not reach etcd, and so not the place where it keeps everything.
        let root = if options.dry_run { "" } else { "/registry" };
        let mut key = format!("{root}/{}", self.stored().folder());
        if self.served.namespaced {
            key = format!("{key}/{}", self.info.namespace);
        }
        let why = format_args!(
            "StorageError: invalid object, Code: 4, Key: {key}/{}, ResourceVersion: 0, AdditionalErrorMsg: \
             Precondition failed: UID in precondition: {expected}, UID in object meta: {found}",
            self.info.name
        );
        Failure::conflict(self.served.group_resource(), &self.info.name, why)
    }

    fn change_present(
        &self,
        current: &Arc<Entry>,
        change: &Change<'_>,
        options: &WriteOptions,
    ) -> Result<Done, Attempt> {
        let stored = self.stored();
        let old = self.served.before(current);
        let mut object = self.new_form(&old, change, options)?;
        // INVARIANT: the guards below decide in the namespace of the object, so it must be there whatever was sent.
        if self.served.namespaced {
            set_meta(&mut object, "namespace", self.info.namespace.as_str());
        }
        self.warn(ownership::dedup_owners(&mut object));
        let on = self.served.group_resource();
        let uid = meta(&object, "uid");
        if !uid.is_empty() && uid != current.uid && !change.is_patch() {
            return Err(self.another_uid(uid, &current.uid, options).into());
        }
        let named_version = !meta(&object, "resourceVersion").is_empty();
        let handling = match self.info.subresource.as_str() {
            // A Scale has no rules of its own.
            "scale" => stored.handling(""),
            name => stored.handling(name),
        };
        match change {
            Change::Apply(_) => managed::keep_times(self.served.described(), &old, &mut object),
            Change::Owned(_) => {}
            Change::Put(_) | Change::Patch(..) | Change::Make(_) => {
                let manager = self.manager(&options.field_manager);
                ownership::track(self.served, Some(&old), &mut object, &manager, &self.info.subresource);
            }
        }
        if !only_collects(&object, &old) || self.stands_for(&object, &old) {
            self.guard(&self.server.cluster().read(), &mut object, Some(&old))?;
        }
        strategy::settle_version(self.served.rules(), handling.unconditional_update, &mut object, &old)?;
        self.allocate(&mut object, Some(&old), options.dry_run)?;
        strategy::before_update(self.served.rules(), &self.info.subresource, &mut object, &old)?;
        if let Some(built_in) = stored.built_in() {
            codec::as_stored(built_in.ty, &mut object);
        }
        self.warn(self.served.strategy().warnings(&object, Some(&old)));
        if !options.dry_run {
            strategy::forget_link(&mut object);
        }
        let encoded = self.served.encoded(&object);
        let unchanged = match self.served.ty() {
            Some(_) => same(&encoded, &old),
            None => same(&encoded, &current.object()),
        };
        if unchanged {
            return Ok(Done { entry: current.clone(), created: false });
        }
        if options.dry_run {
            return Ok(Done { entry: self.served.shown(&object).into(), created: false });
        }
        let draft = self.draft(&encoded)?;
        // Nothing keeps it any longer: the update that takes the last finalizer away is the deletion.
        let ends = current.deleting && finalizers(&object).is_empty() && !self.waits(&object);
        let last = ends.then(|| self.draft(&current.object())).transpose()?;
        let overtaken = |failure: Failure| {
            if named_version && matches!(change, Change::Put(_)) {
                Attempt::Failed(failure)
            } else {
                Attempt::Overtaken(failure)
            }
        };
        let mut fresh = true;
        let committed = self.server.cluster().write(|transaction| {
            let now = transaction.state().table(self.served.collection).get(self.namespace(), &self.info.name);
            if now.is_none_or(|now| now.revision != current.revision) {
                fresh = false;
                return Err(Failure::modified(on, &self.info.name));
            }
            let entry = match &last {
                // Whoever watches sees the object as it was stored last.
                Some(last) => transaction.remove(self.served.collection, last),
                None => transaction.put(self.served.collection, &draft),
            };
            self.server.note(transaction, self.served.collection, &entry);
            Ok(entry)
        });
        match committed {
            Ok(entry) => {
                // The last look at an object that went away is the object as it was updated.
                let entry = if ends { self.served.shown(&object).into() } else { entry };
                Ok(Done { entry, created: false })
            }
            Err(failure) if !fresh => Err(overtaken(failure)),
            Err(failure) => Err(Attempt::Failed(failure)),
        }
    }

    fn new_form(&self, old: &Object, change: &Change<'_>, options: &WriteOptions) -> Result<Object, Failure> {
        match change {
            Change::Put(object) => Ok(object.clone()),
            Change::Make(make) | Change::Owned(make) => make(old.clone()),
            Change::Apply(body) => self.in_place(self.applied(Some(old), body, options)?),
            Change::Patch(kind, patch) => self.in_place(self.patched(*kind, old, patch, options)?),
        }
    }

    /// Who leaves the namespace out means the one in the URL.
    fn in_place(&self, mut object: Object) -> Result<Object, Failure> {
        if meta(&object, "namespace").is_empty() && self.served.namespaced {
            set_meta(&mut object, "namespace", self.info.namespace.as_str());
        }
        self.check_names(&object)?;
        Ok(object)
    }

    /// A namespace waits for its content, a pod for the end of its grace period.
    pub(super) fn waits(&self, object: &Object) -> bool {
        if self.served.collection == self.server.namespaces() {
            let finalizers = object.get("spec").and_then(|spec| spec.get("finalizers")).and_then(Value::as_array);
            return finalizers.is_some_and(|list| !list.is_empty());
        }
        let grace =
            object.get("metadata").and_then(|meta| meta.get("deletionGracePeriodSeconds")).and_then(Value::as_i64);
        grace.is_some_and(|seconds| seconds > 0)
    }
}

/// Why an attempt did not work out.
enum Attempt {
    /// Somebody else wrote meanwhile.
    Overtaken(Failure),
    Failed(Failure),
}

impl From<Failure> for Attempt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Nothing but what the garbage collector changes: owners, finalizers and the record of who changed them.
fn only_collects(object: &Object, old: &Object) -> bool {
    same_but(object, old, |member| member != "metadata")
        && same_metadata(object, old, &["ownerReferences", "finalizers", "managedFields"])
}

/// Whether an update changes anything. The times of managedFields alone are no change.
pub(super) fn same(object: &Object, old: &Object) -> bool {
    same_but(object, old, |member| member != "metadata")
        && same_metadata(object, old, &["managedFields"])
        && same_managers(object, old)
}

/// Whether two objects have the same members, among those that are asked for. What they are is in the address.
fn same_but(object: &Object, old: &Object, asked: impl Fn(&str) -> bool) -> bool {
    let of = |object| Object::iter(object).filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind"));
    let counts = |(name, _): &(&String, &Value)| asked(name);
    of(object).filter(counts).eq(of(old).filter(counts))
}

fn same_metadata(object: &Object, old: &Object, but: &[&str]) -> bool {
    match (object.get("metadata"), old.get("metadata")) {
        (Some(Value::Object(new)), Some(Value::Object(old))) => {
            let counts = |(name, _): &(&String, &Value)| !but.contains(&name.as_str());
            new.iter().filter(counts).eq(old.iter().filter(counts))
        }
        (new, old) => new == old,
    }
}

fn same_managers(object: &Object, old: &Object) -> bool {
    let entries = |object| Object::get(object, "metadata").and_then(|meta| meta.get("managedFields"));
    match (entries(object), entries(old)) {
        (Some(Value::Array(new)), Some(Value::Array(old))) => {
            let same = |(new, old): (&Value, &Value)| match (new, old) {
                (Value::Object(new), Value::Object(old)) => {
                    let counts = |(name, _): &(&String, &Value)| *name != "time";
                    new.iter().filter(counts).eq(old.iter().filter(counts))
                }
                (new, old) => new == old,
            };
            new.len() == old.len() && new.iter().zip(old).all(same)
        }
        (new, old) => new == old,
    }
}
