//! Patching: a client says what to change.

use axum::http::StatusCode;
use serde_json::Value;

use super::update::Change;
use super::{Call, set_meta};
use crate::catalog::{BuiltIn, Origin};
use crate::codec;
use crate::custom::{self, Malformed};
use crate::facts::{self, Type};
use crate::http::respond::Answer;
use crate::patch::{self, PatchType, Patched};
use crate::query::{FieldValidation, WriteOptions};
use crate::status::{Details, Failure};
use crate::strategy::Object;

/// What a patched document must be.
pub(super) struct Target<'a> {
    pub(super) ty: &'static Type,
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
}

impl Call<'_> {
    pub(crate) fn patch(&self) -> Result<Answer, Failure> {
        self.form()?;
        let kind = self.patch_type()?;
        let options = WriteOptions::patch(&self.query, kind.is_none())?;
        let change = kind.map_or(Change::Apply(&self.body), |kind| Change::Patch(kind, &self.body));
        let done = self.change(&change, &options)?;
        self.answer(if done.created { StatusCode::CREATED } else { StatusCode::OK }, &done.entry)
    }

    /// The kind of the patch that was sent; none for an apply.
    pub(super) fn patch_type(&self) -> Result<Option<PatchType>, Failure> {
        match (patch_type(self.content_type), self.served.ty()) {
            (Err(_) | Ok(Some(PatchType::Strategic)), None) => Err(Failure::unsupported_media(&patch::UNTYPED)),
            (kind, _) => kind,
        }
    }

    /// What an object becomes by a patch: with defaults, in its stored form.
    pub(super) fn patched(
        &self,
        kind: PatchType,
        old: &Object,
        patch: &[u8],
        options: &WriteOptions,
    ) -> Result<Object, Failure> {
        let mut view = match self.served.conversion() {
            Some(conversion) => (conversion.from_stored)(old),
            None => old.clone(),
        };
        let api_version = self.served.api_version();
        view.insert("apiVersion".into(), api_version.as_str().into());
        view.insert("kind".into(), self.served.kind.as_str().into());
        let patched = patch::apply(kind, self.served.ty(), &view, patch, options.field_validation)?;
        let mut object = match &self.served.origin {
            Origin::BuiltIn(BuiltIn { ty, .. }) => {
                let target = Target { ty, api_version: &api_version, kind: &self.served.kind };
                self.conform_patched(kind, &target, &patched, options)?
            }
            Origin::Custom(version) => self.coerce_patched(version, &patched, options)?,
        };
        self.served.strategy().default(&mut object);
        Ok(self.to_stored(object))
    }

    /// What a patch makes must still be of its custom kind.
    fn coerce_patched(
        &self,
        version: &custom::Version,
        patched: &Patched,
        options: &WriteOptions,
    ) -> Result<Object, Failure> {
        for member in ["apiVersion", "kind"] {
            let found = match patched.object.get(member) {
                None | Some(Value::Null | Value::String(_)) => continue,
                Some(Value::Bool(_)) => "bool",
                Some(Value::Number(_)) => "number",
                Some(Value::Array(_)) => "array",
                Some(Value::Object(_)) => "object",
            };
            return Err(patched.refused(&format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go struct field \
                 .{member} of type string"
            )));
        }
        let is_empty = |member: &str| patched.object.get(member).and_then(Value::as_str).is_none_or(str::is_empty);
        if is_empty("kind") {
            let text = patched.text().unwrap_or_default();
            return Err(patched.refused(&format!("Object 'Kind' is missing in '{text}'")));
        }
        let mut object = patched.object.clone();
        let dropped = version.coerce(&mut object, Malformed::Refuse).map_err(|why| patched.refused(&why))?;
        let unknown = dropped.iter().map(|path| format!("unknown field \"{path}\""));
        self.settle_strict(patched, patched.strict.iter().cloned().chain(unknown).collect(), options)?;
        if is_empty("apiVersion") {
            return Err(Failure::internal("Object 'apiVersion' is missing in 'object has no apiVersion field'"));
        }
        Ok(object)
    }

    /// What is held against a patch in the strict sense: told, or refused.
    fn settle_strict(&self, patched: &Patched, strict: Vec<String>, options: &WriteOptions) -> Result<(), Failure> {
        match options.field_validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => self.warn(strict),
            FieldValidation::Strict if strict.is_empty() => {}
            FieldValidation::Strict => {
                return Err(patched.refused(&format!("strict decoding error: {}", strict.join(", "))));
            }
        }
        Ok(())
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
        self.settle_strict(patched, [patched.strict.as_slice(), &conformed.strict].concat(), options)?;
        Ok(object)
    }
}

/// The kind of a patch by its content type; none for an apply.
fn patch_type(content_type: Option<&str>) -> Result<Option<PatchType>, Failure> {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match essence {
        "application/json-patch+json" => Ok(Some(PatchType::Json)),
        "application/merge-patch+json" => Ok(Some(PatchType::Merge)),
        "application/strategic-merge-patch+json" => Ok(Some(PatchType::Strategic)),
        "application/apply-patch+yaml" => Ok(None),
        _ => Err(Failure::new(415, "UnsupportedMediaType", "415: Unsupported Media Type").about(Details::default())),
    }
}
