//! What Kubernetes says of the fields of its types.

use super::Ty;

/// One field of a type.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "this is what Kubernetes says of fields")]
pub struct Field {
    /// In JSON; empty for an inline field.
    pub name: &'static str,
    /// What it holds.
    pub ty: Ty,
    /// The type in Go, where names in it do not follow from `ty`; errors have it.
    pub go: &'static str,
    /// Its number in protobuf; 0 where it is not there.
    pub proto: u32,
    /// Absent and zero are different.
    pub pointer: bool,
    /// The fields of its type are fields of the surrounding object.
    pub inline: bool,
    /// A zero value is not written.
    pub omitempty: bool,
    /// A zero struct is not written either.
    pub omitzero: bool,
    /// OpenAPI lists it as required.
    pub required: bool,
    /// How server-side apply sees a list.
    pub list: ListType,
    /// Server-side apply owns the map or object in this field as a whole.
    pub atomic: bool,
    /// Kubernetes says so of `list` or `atomic`, where it could have said nothing.
    pub declared: bool,
    /// How strategic merge patch treats it.
    pub patch: Patch,
    /// What a string in it can be; anything where this is empty.
    pub values: &'static [&'static str],
    /// The default in OpenAPI as JSON, where it is not the zero value; empty where there is none.
    pub default: &'static str,
}

/// A field of which nothing more is known than this; what else is said of it follows in calls.
pub(super) const fn field(name: &'static str, ty: Ty, proto: u32) -> Field {
    let patch = Patch { merge: false, replace: false, retain_keys: false, merge_key: None };
    Field {
        name,
        ty,
        go: "",
        proto,
        pointer: false,
        inline: false,
        omitempty: false,
        omitzero: false,
        required: false,
        list: ListType::Atomic,
        atomic: false,
        declared: false,
        patch,
        values: &[],
        default: "",
    }
}

impl Field {
    pub(super) const fn go(self, go: &'static str) -> Self {
        Self { go, ..self }
    }

    pub(super) const fn pointer(self) -> Self {
        Self { pointer: true, ..self }
    }

    pub(super) const fn inline(self) -> Self {
        Self { inline: true, ..self }
    }

    pub(super) const fn omitempty(self) -> Self {
        Self { omitempty: true, ..self }
    }

    pub(super) const fn omitzero(self) -> Self {
        Self { omitzero: true, ..self }
    }

    pub(super) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(super) const fn atomic(self) -> Self {
        Self { atomic: true, ..self }
    }

    pub(super) const fn declared(self) -> Self {
        Self { declared: true, ..self }
    }

    pub(super) const fn set(self) -> Self {
        Self { list: ListType::Set, ..self }
    }

    pub(super) const fn map(self, keys: &'static [&'static str]) -> Self {
        Self { list: ListType::Map(keys), ..self }
    }

    pub(super) const fn merge(self) -> Self {
        let patch = Patch { merge: true, ..self.patch };
        Self { patch, ..self }
    }

    pub(super) const fn replace(self) -> Self {
        let patch = Patch { replace: true, ..self.patch };
        Self { patch, ..self }
    }

    pub(super) const fn retain_keys(self) -> Self {
        let patch = Patch { retain_keys: true, ..self.patch };
        Self { patch, ..self }
    }

    pub(super) const fn merge_key(self, key: &'static str) -> Self {
        let patch = Patch { merge_key: Some(key), ..self.patch };
        Self { patch, ..self }
    }

    pub(super) const fn values(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }
}

/// How server-side apply sees a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// As one value; also where Kubernetes says nothing.
    Atomic,
    /// As a set of scalars.
    Set,
    /// As a map from the values of these fields.
    Map(&'static [&'static str]),
}

/// How strategic merge patch treats a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// Lists are merged and not replaced.
    pub merge: bool,
    /// Objects are replaced and not merged.
    pub replace: bool,
    /// Maps keep only the keys that the patch names in `$retainKeys`.
    pub retain_keys: bool,
    /// The field that identifies the items of a list of objects.
    pub merge_key: Option<&'static str>,
}
