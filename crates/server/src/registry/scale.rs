//! How many: the subresource `scale`, which shows one number of several kinds in the same way.

use axum::http::StatusCode;
use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::{Value, json};

use super::patch::Target;
use super::update::Change;
use super::{Call, meta, set_meta};
use crate::codec;
use crate::facts::{self, Type};
use crate::http::negotiate::Form;
use crate::http::respond::{self, Answer};
use crate::json::put;
use crate::managed;
use crate::patch;
use crate::query::WriteOptions;
use crate::status::{Failure, GroupResource};
use crate::strategy::{self, Object};
use crate::{table, time};

const SCALE: codec::Gvk<'static> = codec::Gvk { group: "autoscaling", version: "v1", kind: "Scale" };
const API_VERSION: &str = "autoscaling/v1";
/// What an object that does not say how many is taken to say while it is written.
const UNSET: i64 = -2_147_483_648;

/// Nobody foresaw this there either.
fn plain(why: String) -> Failure {
    Failure::new(500, "", why)
}

impl Call<'_> {
    pub(crate) fn scale(&self) -> Result<Answer, Failure> {
        self.form()?;
        let ty = facts::type_of(SCALE.group, SCALE.version, SCALE.kind).ok_or_else(Failure::no_such_resource)?;
        let now = time::seconds(time::now());
        let tracked = |live: &Object, mut scale: Object, options: &WriteOptions| {
            managed::update(&request(ty, &self.manager(&options.field_manager), &now), Some(live), &mut scale);
            scale
        };
        let done = match self.info.verb.as_str() {
            "get" => {
                let entry = self.current().ok_or_else(|| self.not_found())?;
                let object = self.served.before(&entry);
                if let Some(paths) = self.served.scale()
                    && paths.wanted(&object).map_err(plain)?.is_none()
                {
                    let why = format!("the spec replicas field {:?} does not exist", paths.spec_replicas);
                    return Err(Failure::internal(why));
                }
                return self.show_scale(&object);
            }
            "update" => {
                let options = WriteOptions::update(&self.query)?;
                let decoded = codec::decode(self.content_type, &self.body, SCALE, options.field_validation);
                let decoded = decoded.map_err(Failure::without_scheme)?;
                self.warn(decoded.warnings);
                self.note(&decoded.object);
                self.check_names(&decoded.object)?;
                let mut scale = decoded.object;
                set_meta(&mut scale, "namespace", self.namespace());
                let make = |old: Object| {
                    let scale = tracked(&self.scale_of(&old)?, scale.clone(), &options);
                    self.scaled(old, &scale)
                };
                self.change(&Change::Owned(&make), &options)?
            }
            _ => {
                let kind = self.patch_type()?;
                let options = WriteOptions::patch(&self.query, kind.is_none())?;
                let make = |old: Object| {
                    let live = self.scale_of(&old)?;
                    let Some(kind) = kind else {
                        let scale = self.configured(&self.body, &options, |configuration, manager| {
                            managed::apply(&request(ty, manager, &now), Some(&live), configuration, options.force)
                        })?;
                        self.check_convertible(&live, &scale)?;
                        self.check_names(&scale)?;
                        return self.scaled(old, &scale);
                    };
                    let patched = patch::apply(kind, Some(ty), &live, &self.body, options.field_validation)?;
                    let target = Target { ty, api_version: API_VERSION, kind: SCALE.kind };
                    let scale = self.conform_patched(kind, &target, &patched, &options)?;
                    self.check_names(&scale)?;
                    self.scaled(old, &tracked(&live, scale, &options))
                };
                self.change(&Change::Owned(&make), &options)?
            }
        };
        self.show_scale(&self.served.before(&done.entry))
    }

    /// The object with what a Scale wants of it.
    fn scaled(&self, mut object: Object, scale: &Object) -> Result<Object, Failure> {
        let paths = self.served.scale();
        let mut errors = match paths {
            Some(_) => Vec::new(),
            None => strategy::metadata_faults(scale, true, strategy::subdomain_name),
        };
        let replicas = integer(scale, "spec", "replicas");
        if replicas < 0 && paths.is_none() {
            let (at, value) = (Path::field("spec"), BadValue::Json(replicas.to_string()));
            errors.push(FieldError::invalid(at.child("replicas"), value, "must be greater than or equal to 0"));
        }
        if !errors.is_empty() {
            return Err(Failure::invalid(SCALE.group, SCALE.kind, &self.info.name, &errors));
        }
        let (wanted, found) = (meta(scale, "uid"), meta(&object, "uid"));
        if !wanted.is_empty() && wanted != found {
            let on = format!("{}/scale", self.served.plural);
            let on = GroupResource { group: &self.served.group, resource: &on };
            let why = format_args!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}");
            return Err(Failure::conflict(on, &self.info.name, why));
        }
        let managers =
            managed::from_scale(&object, scale, &self.served.api_version(), |version| self.served.replicas(version));
        match paths {
            Some(paths) if replicas == UNSET => {
                let why = format!("the spec replicas field {:?} cannot be empty", paths.spec_replicas);
                return Err(Failure::bad_request(why));
            }
            Some(paths) => paths.want(&mut object, replicas).map_err(plain)?,
            None => put(object.entry("spec").or_insert_with(|| json!({})), "replicas", replicas),
        }
        let version = meta(scale, "resourceVersion");
        // A custom resource is taken as it is if the client does not say which one is meant.
        if paths.is_none() || !version.is_empty() {
            set_meta(&mut object, "resourceVersion", version);
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            match managers {
                Some(managers) => metadata.insert("managedFields".to_owned(), managers),
                None => metadata.remove("managedFields"),
            };
        }
        Ok(object)
    }

    /// Changes an object from what it is.
    pub(crate) fn make(&self, make: &dyn Fn(Object) -> Result<Object, Failure>) -> Result<(), Failure> {
        self.change(&Change::Make(make), &WriteOptions::default()).map(|_| ())
    }

    /// The same, but nobody comes to own what changes.
    pub(crate) fn make_for_nobody(&self, make: &dyn Fn(Object) -> Result<Object, Failure>) -> Result<(), Failure> {
        self.change(&Change::Owned(make), &WriteOptions::default()).map(|_| ())
    }

    /// Kubernetes has no way to make the Scale of a custom resource from what was applied, if that changes anything.
    fn check_convertible(&self, live: &Object, scale: &Object) -> Result<(), Failure> {
        let bare = |object: &Object| {
            let mut object = object.clone();
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("managedFields");
            }
            object
        };
        if self.served.scale().is_none() || bare(live) == bare(scale) {
            return Ok(());
        }
        let name = meta(scale, "name");
        Err(plain(format!(
            "failed to convert new object (/{name}; autoscaling/v1, Kind=Scale) to proper version: request to \
             convert CR to an invalid group/version: autoscaling/v1"
        )))
    }

    /// The Scale of an object, as writes see it.
    fn scale_of(&self, object: &Object) -> Result<Object, Failure> {
        let (wanted, found, selector) = match self.served.scale() {
            Some(paths) => (
                paths.wanted(object).map_err(plain)?.unwrap_or(UNSET),
                paths.found(object).map_err(plain)?.unwrap_or_default(),
                paths.selector(object).map_err(plain)?,
            ),
            None => (
                integer(object, "spec", "replicas"),
                integer(object, "status", "replicas"),
                object.get("spec").and_then(|spec| spec.get("selector")).map(selector_text).unwrap_or_default(),
            ),
        };
        let mut status = json!({"replicas": found});
        if !selector.is_empty() {
            put(&mut status, "selector", selector);
        }
        let spec = match wanted {
            0 => json!({}),
            replicas => json!({"replicas": replicas}),
        };
        let mut metadata = Object::new();
        for member in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            metadata.insert(member.to_owned(), meta(object, member).into());
        }
        if let Some(managers) = managed::to_scale(object, |version| self.served.replicas(version)) {
            metadata.insert("managedFields".to_owned(), managers);
        }
        let mut scale = Object::new();
        scale.insert("kind".to_owned(), SCALE.kind.into());
        scale.insert("apiVersion".to_owned(), API_VERSION.into());
        scale.insert("metadata".to_owned(), metadata.into());
        scale.insert("spec".to_owned(), spec);
        scale.insert("status".to_owned(), status);
        Ok(scale)
    }

    /// The answer: the Scale without the record of its managers.
    fn show_scale(&self, object: &Object) -> Result<Answer, Failure> {
        let mut scale = self.scale_of(object)?;
        if let Some(metadata) = scale.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        let metadata = || {
            let metadata = scale.get("metadata").cloned().unwrap_or_default();
            json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
        };
        let shown = match self.form()? {
            Form::Object => Value::Object(scale),
            Form::Metadata => metadata(),
            Form::MetadataList => return Err(super::read::no_list("autoscaling", SCALE.kind)),
            Form::Table => {
                let row = match self.query.first("includeObject").unwrap_or_default() {
                    "None" => Value::Null,
                    "Object" => Value::Object(scale.clone()),
                    _ => metadata(),
                };
                json!({
                    "kind": "Table", "apiVersion": "meta.k8s.io/v1",
                    "metadata": {"resourceVersion": meta(&scale, "resourceVersion")},
                    "columnDefinitions": table::scale_columns(self.served.scale().is_some()),
                    "rows": [{"cells": table::scale_cells(&scale, time::now()), "object": row}],
                })
            }
        };
        Ok(respond::value(StatusCode::OK, &shown))
    }
}

fn request<'a>(ty: &'static Type, manager: &'a str, now: &'a str) -> managed::Request<'a> {
    managed::Request {
        kind: managed::Kind::BuiltIn(ty),
        name: SCALE.kind,
        api_version: API_VERSION,
        manager,
        subresource: "scale",
        reset_fields: &[],
        now,
        versions: None,
    }
}

fn integer(object: &Object, part: &str, member: &str) -> i64 {
    object.get(part).and_then(|part| part.get(member)).and_then(Value::as_i64).unwrap_or_default()
}

/// A selector as text: of labels, or with expressions.
fn selector_text(selector: &Value) -> String {
    let labels = selector.get("matchLabels").or_else(|| (!selector["matchExpressions"].is_array()).then_some(selector));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let mut terms: Vec<(String, String)> =
        labels.map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default()))).collect();
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or_default();
        let mut values: Vec<&str> =
            expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match expression["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort();
    terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(",")
}
