//! Updating: the whole object or a part of it, by a new form or by a patch.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::Value;

use super::create::Origin;
use super::{Call, finalizers, meta, set_meta};
use crate::cluster::Entry;
use crate::codec;
use crate::facts::{self, Type};
use crate::http::respond::Answer;
use crate::managed;
use crate::ownership;
use crate::patch::{self, PatchType, Patched};
use crate::query::{FieldValidation, WriteOptions};
use crate::status::{Details, Failure};
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

/// What a patched document must be.
pub(super) struct Target<'a> {
    pub(super) ty: &'static Type,
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
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

    pub(crate) fn patch(&self) -> Result<Answer, Failure> {
        self.form()?;
        let kind = patch_type(self.content_type)?;
        let options = WriteOptions::patch(&self.query, kind.is_none())?;
        let change = kind.map_or(Change::Apply(&self.body), |kind| Change::Patch(kind, &self.body));
        let done = self.change(&change, &options)?;
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
            Change::Put(_) => self.stored().facts.handling.create_on_update,
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
        let stored = self.stored();
        let mut key = format!("{root}/{}", folder(&stored.group, &stored.plural));
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
        let old = current.object();
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
            "" | "scale" => &stored.facts.handling,
            name => stored.subresource(name).map_or(&stored.facts.handling, |sub| &sub.handling),
        };
        match change {
            Change::Apply(_) => managed::keep_times(&old, &mut object),
            Change::Owned(_) => {}
            Change::Put(_) | Change::Patch(..) | Change::Make(_) => {
                let manager = self.manager(&options.field_manager);
                let (catalog, subresource) = (self.server.catalog(), &self.info.subresource);
                ownership::track(catalog, self.served, Some(&old), &mut object, &manager, subresource);
            }
        }
        if !only_collects(&object, &old) || self.stands_for(&object, &old) {
            self.guard(&self.server.cluster().read(), &mut object, Some(&old))?;
        }
        strategy::settle_version(self.served.facts, handling.unconditional_update, &mut object, &old)?;
        self.allocate(&mut object, Some(&old))?;
        strategy::before_update(self.served.facts, &self.info.subresource, &mut object, &old)?;
        codec::as_stored(stored.ty, &mut object);
        self.warn(self.served.strategy.warnings(&object, Some(&old)));
        if !options.dry_run {
            strategy::forget_link(&mut object);
        }
        if same(&object, &old) {
            return Ok(Done { entry: current.clone(), created: false });
        }
        if options.dry_run {
            return Ok(Done { entry: Arc::new(Entry::shown(&object)), created: false });
        }
        let draft = self.draft(&object)?;
        // Nothing keeps it any longer: the update that takes the last finalizer away is the deletion.
        let ends = current.deleting && finalizers(&object).is_empty() && !self.waits(&object);
        let last = self.draft(&old)?;
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
            let entry = if ends {
                // Whoever watches sees the object as it was stored last.
                transaction.remove(self.served.collection, &last)
            } else {
                transaction.put(self.served.collection, &draft)
            };
            self.server.note_namespace(transaction, self.served.collection, &entry);
            Ok(entry)
        });
        match committed {
            Ok(entry) => {
                // The last look at an object that went away is the object as it was updated.
                let entry = if ends { Arc::new(Entry::shown(&object)) } else { entry };
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
            Change::Apply(body) => {
                let mut object = self.applied(Some(old), body, options)?;
                if meta(&object, "namespace").is_empty() && self.served.namespaced {
                    set_meta(&mut object, "namespace", self.info.namespace.as_str());
                }
                self.check_names(&object)?;
                Ok(object)
            }
            Change::Patch(kind, patch) => {
                let mut view = match self.served.conversion {
                    Some(conversion) => (conversion.from_stored)(old),
                    None => old.clone(),
                };
                view.insert("apiVersion".into(), self.served.api_version().into());
                view.insert("kind".into(), self.served.kind.as_str().into());
                let patched = patch::apply(*kind, self.served.ty, &view, patch, options.field_validation)?;
                let target =
                    Target { ty: self.served.ty, api_version: &self.served.api_version(), kind: &self.served.kind };
                let mut object = self.conform_patched(*kind, &target, &patched, options)?;
                self.served.strategy.default(&mut object);
                let mut object = self.to_stored(object);
                if meta(&object, "namespace").is_empty() && self.served.namespaced {
                    set_meta(&mut object, "namespace", self.info.namespace.as_str());
                }
                self.check_names(&object)?;
                Ok(object)
            }
        }
    }

    /// What a patch makes must still be of its type.
    pub(super) fn conform_patched(
        &self,
        kind: PatchType,
        target: &Target<'_>,
        patched: &Patched,
        options: &WriteOptions,
    ) -> Result<Object, Failure> {
        let text = |member: &str| patched.object.get(member).and_then(Value::as_str).unwrap_or_default();
        if (text("apiVersion"), text("kind")) != (target.api_version, target.kind) {
            // Kubernetes reads it as what it claims to be before it notices.
            let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
            if let Some(other) = facts::type_of(group, version, text("kind"))
                && let Err(why) = codec::conform(other, Value::Object(patched.object.clone()))
            {
                return Err(patched.refused(&why));
            }
            return Err(patched.refused(&format!(
                "no kind {:?} is registered for version {:?} in scheme \"pkg/runtime/scheme.go:111\"",
                text("kind"),
                text("apiVersion")
            )));
        }
        let conformed = codec::conform(target.ty, Value::Object(patched.object.clone()));
        let conformed = conformed.map_err(|why| match kind {
            PatchType::Strategic => {
                let told = codec::restore_fault(target.ty, &patched.object);
                patched.refused(&told.unwrap_or(why))
            }
            _ => patched.refused(&why),
        })?;
        let Value::Object(mut object) = conformed.value else { return Err(patched.refused("it is no object")) };
        if conformed.forgets_managers {
            set_meta(&mut object, "managedFields", Vec::<Value>::new());
        }
        let strict = [patched.strict.as_slice(), &conformed.strict].concat();
        match options.field_validation {
            FieldValidation::Strict if strict.is_empty() => Ok(object),
            FieldValidation::Ignore => Ok(object),
            FieldValidation::Warn => {
                self.warn(strict);
                Ok(object)
            }
            FieldValidation::Strict => Err(patched.refused(&format!("strict decoding error: {}", strict.join(", ")))),
        }
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

/// Where Kubernetes keeps the objects of a resource.
fn folder<'a>(group: &str, plural: &'a str) -> &'a str {
    match (group, plural) {
        ("", "replicationcontrollers") => "controllers",
        ("", "endpoints") => "services/endpoints",
        ("", "nodes") => "minions",
        ("", "services") => "services/specs",
        ("networking.k8s.io", "ingresses") => "ingress",
        ("apiregistration.k8s.io", "apiservices") => "apiregistration.k8s.io/apiservices",
        (_, plural) => plural,
    }
}

/// The kind of a patch by its content type; none for an apply.
pub(super) fn patch_type(content_type: Option<&str>) -> Result<Option<PatchType>, Failure> {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match essence {
        "application/json-patch+json" => Ok(Some(PatchType::Json)),
        "application/merge-patch+json" => Ok(Some(PatchType::Merge)),
        "application/strategic-merge-patch+json" => Ok(Some(PatchType::Strategic)),
        "application/apply-patch+yaml" => Ok(None),
        _ => Err(Failure::new(415, "UnsupportedMediaType", "415: Unsupported Media Type").about(Details::default())),
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
    let bare = |object: &Object| {
        let mut object = object.clone();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            for member in ["ownerReferences", "finalizers", "managedFields"] {
                metadata.remove(member);
            }
        }
        object.remove("apiVersion");
        object.remove("kind");
        object
    };
    bare(object) == bare(old)
}

/// Whether an update changes anything. The times of managedFields alone are no change.
pub(super) fn same(object: &Object, old: &Object) -> bool {
    let bare = |object: &Object| {
        let mut object = object.clone();
        let entries = object.get_mut("metadata").and_then(|meta| meta.get_mut("managedFields"));
        for entry in entries.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(entry) = entry.as_object_mut() {
                entry.remove("time");
            }
        }
        object.remove("apiVersion");
        object.remove("kind");
        object
    };
    bare(object) == bare(old)
}
