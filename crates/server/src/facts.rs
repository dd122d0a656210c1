//! What Kubernetes says about its own kinds, as static tables: types and their fields, resources and their verbs.
//!
//! Everything here is data that `testbed facts` took from Kubernetes' code; `cargo xtask gen` writes `generated.rs`.

mod field;
#[rustfmt::skip]
mod generated;

use field::field;
pub use field::{Field, ListType, Patch};
pub use generated::VERSION;

/// A named type.
#[derive(Debug)]
pub struct Type {
    /// As in OpenAPI, for example `io.k8s.api.rbac.v1.ClusterRole`.
    pub name: &'static str,
    /// How values look.
    pub shape: Shape,
    /// Server-side apply owns a value of this type as a whole.
    pub atomic: bool,
    /// Fields of which only one is set.
    pub unions: &'static [Union],
}

/// Fields of which only one is set.
#[derive(Debug)]
pub struct Union {
    /// The field that says which one, if there is one.
    pub discriminator: Option<&'static str>,
    /// The fields, each with its name in the discriminator.
    pub fields: &'static [(&'static str, &'static str)],
}

/// How values of a type look.
#[derive(Debug)]
pub enum Shape {
    /// An object with these fields, in the order in which Go writes them.
    Struct(&'static [Field]),
    /// A list that is a protobuf message with the items in field 1.
    List(Ty),
    /// JSON of its own; the fields are those of the protobuf message.
    Codec(Codec, &'static [Field]),
}

/// Types whose JSON does not follow from their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// RFC 3339 with seconds; `{1 seconds, 2 nanos}` in protobuf.
    Time,
    /// RFC 3339 with microseconds; `{1 seconds, 2 nanos}` in protobuf.
    MicroTime,
    /// A number with a suffix; `{1 text}` in protobuf.
    Quantity,
    /// An integer or a string.
    IntOrString,
    /// Any object, kept as it is.
    RawExtension,
    /// The field set of a managedFields entry.
    FieldsV1,
    /// Any JSON.
    Json,
    /// A schema or a list of schemas.
    JsonSchemaPropsOrArray,
    /// A schema or a boolean.
    JsonSchemaPropsOrBool,
    /// A schema or a list of names.
    JsonSchemaPropsOrStringArray,
    /// The envelope of protobuf messages.
    Unknown,
}

/// The type of a field. Keys of maps are strings.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Ty {
    Bool,
    Int32,
    Int64,
    Uint32,
    Float64,
    String,
    Bytes,
    Any,
    Ref(&'static Type),
    List(&'static Ty),
    Map(&'static Ty),
}

/// A resource under `/api` or `/apis`.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are those of Kubernetes' discovery")]
pub struct Resource {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub short_names: &'static [&'static str],
    pub categories: &'static [&'static str],
    pub namespaced: bool,
    pub verbs: &'static [&'static str],
    pub subresources: &'static [Subresource],
    pub storage_version_hash: &'static str,
    pub handling: Handling,
    pub columns: &'static [Column],
}

/// How the API server handles the objects of a resource, or of one of its subresources.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "this is what Kubernetes' strategies answer")]
pub struct Handling {
    /// A PUT may create the object.
    pub create_on_update: bool,
    /// A PUT without a resourceVersion replaces whatever is there.
    pub unconditional_update: bool,
    /// A DELETE answers with the object and not with a Status.
    pub returns_deleted: bool,
    /// Objects may take time to end; those without a reason to wait end at once.
    pub graceful_delete: bool,
    /// Owned objects are collected when the owner goes.
    pub collected: bool,
    /// Owned objects are left alone unless the client says otherwise.
    pub orphans: bool,
    /// Fields that a client cannot own here, because the server keeps the old ones.
    pub reset_fields: &'static [&'static str],
}

/// A column of a table.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are those of Kubernetes' tables")]
pub struct Column {
    pub name: &'static str,
    pub ty: &'static str,
    pub format: &'static str,
    pub priority: i32,
}

/// A group and its versions, the preferred one first.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are those of Kubernetes' discovery")]
pub struct Group {
    pub name: &'static str,
    pub versions: &'static [&'static str],
    pub preferred: &'static str,
}

/// A part of a resource with a path of its own.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are those of Kubernetes' discovery")]
pub struct Subresource {
    pub name: &'static str,
    pub kind: &'static str,
    /// Group and version of the kind, where they are not those of the resource.
    pub kind_from: Option<(&'static str, &'static str)>,
    pub verbs: &'static [&'static str],
    pub handling: Handling,
}

/// Every resource of the groups that are described here, sorted by group, version and plural.
pub fn resources() -> &'static [Resource] {
    generated::RESOURCES
}

/// The named groups in the order of `/apis`.
pub fn groups() -> &'static [Group] {
    generated::GROUPS
}

/// The type of a kind. Kinds that all groups share (`DeleteOptions`, `Status`, ..) are in `meta.k8s.io/v1`.
pub fn type_of(group: &str, version: &str, kind: &str) -> Option<&'static Type> {
    let at = generated::KINDS.binary_search_by(|(g, v, k, _)| (*g, *v, *k).cmp(&(group, version, kind))).ok()?;
    generated::KINDS.get(at).map(|(.., ty)| *ty)
}

/// Every kind with its type, sorted by group, version and name.
pub fn kinds() -> &'static [(&'static str, &'static str, &'static str, &'static Type)] {
    generated::KINDS
}

/// Every type, sorted by name.
pub fn types() -> &'static [&'static Type] {
    generated::TYPES
}

/// A type by its name in OpenAPI.
pub fn type_named(name: &str) -> Option<&'static Type> {
    let at = types().binary_search_by_key(&name, |ty| ty.name).ok()?;
    types().get(at).copied()
}

impl Type {
    /// The fields, those of inline types among them.
    pub fn fields(&'static self) -> impl Iterator<Item = &'static Field> {
        let mut open: Vec<std::slice::Iter<'static, Field>> = vec![self.own_fields().iter()];
        std::iter::from_fn(move || {
            loop {
                match open.last_mut()?.next() {
                    None => {
                        open.pop();
                    }
                    Some(field) => match field.ty {
                        Ty::Ref(inner) if field.inline => open.push(inner.own_fields().iter()),
                        _ => return Some(field),
                    },
                }
            }
        })
    }

    /// A field by its JSON name, looked up in inline types too.
    pub fn field(&'static self, name: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.name == name)
    }

    /// The fields as listed, inline ones as one field each.
    pub fn own_fields(&self) -> &'static [Field] {
        match self.shape {
            Shape::Struct(fields) | Shape::Codec(_, fields) => fields,
            Shape::List(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_complete() {
        assert!(generated::KINDS.is_sorted_by_key(|(g, v, k, _)| (*g, *v, *k)));
        assert!(types().is_sorted_by_key(|ty| ty.name));
        for resource in resources() {
            assert!(type_of(resource.group, resource.version, resource.kind).is_some(), "{}", resource.kind);
        }
    }

    #[test]
    fn fields_of_inline_types_are_found() {
        let pod = type_of("", "v1", "Pod").unwrap();
        assert!(pod.field("apiVersion").is_some());
        let spec = pod.field("spec").unwrap();
        let Ty::Ref(spec) = spec.ty else { panic!() };
        let volumes = spec.field("volumes").unwrap();
        assert_eq!(
            volumes.patch,
            Patch { merge: true, retain_keys: true, merge_key: Some("name"), ..Patch::default() }
        );
        let Ty::List(Ty::Ref(volume)) = volumes.ty else { panic!() };
        assert!(volume.field("configMap").is_some(), "VolumeSource is inline");
        let ports = type_of("", "v1", "Service").unwrap().field("spec").unwrap();
        let Ty::Ref(spec) = ports.ty else { panic!() };
        assert_eq!(spec.field("ports").unwrap().list, ListType::Map(&["port", "protocol"]));
    }
}
