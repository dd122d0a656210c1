//! What is wrong with a document, in the words of Go's decoder.

use std::fmt;

use crate::facts::{Ty, Type};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A value of one form where another belongs.
    Type { found: String, wanted: String, within: Option<&'static str>, field: String },
    /// Everything else.
    Plain(String),
}

impl Fault {
    /// A type error where nothing is known of its place.
    pub(super) fn mismatch(found: &str, wanted: &str) -> Self {
        Self::Type { found: found.to_owned(), wanted: wanted.to_owned(), within: None, field: String::new() }
    }

    /// The same error as seen from the struct around it.
    pub(super) fn inside(self, ty: &'static Type, stack: &[&'static str]) -> Self {
        match self {
            Self::Type { found, wanted, field, .. } => {
                let mut path = stack.join(".");
                if !field.is_empty() {
                    path.push('.');
                    path.push_str(&field);
                }
                Self::Type { found, wanted, within: Some(short_name(ty)), field: path }
            }
            plain @ Self::Plain(_) => plain,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { found, wanted, within: Some(within), field } => {
                write!(f, "json: cannot unmarshal {found} into Go struct field {within}.{field} of type {wanted}")
            }
            Self::Type { found, wanted, .. } => {
                write!(f, "json: cannot unmarshal {found} into Go value of type {wanted}")
            }
            Self::Plain(text) => f.write_str(text),
        }
    }
}

/// The name of a type in Go, without its package.
pub(super) fn short_name(ty: &'static Type) -> &'static str {
    ty.name.rsplit_once('.').map_or(ty.name, |(_, name)| name)
}

/// A type as Go writes it.
pub(super) fn go_type(ty: Ty) -> String {
    match ty {
        Ty::Bool => "bool".to_owned(),
        Ty::Int32 => "int32".to_owned(),
        Ty::Int64 => "int64".to_owned(),
        Ty::Uint32 => "uint32".to_owned(),
        Ty::Float64 => "float64".to_owned(),
        Ty::String => "string".to_owned(),
        Ty::Bytes => "[]uint8".to_owned(),
        Ty::Any => "interface {}".to_owned(),
        Ty::Ref(ty) => qualified_name(ty),
        Ty::List(item) => format!("[]{}", go_type(*item)),
        Ty::Map(item) => format!("map[string]{}", go_type(*item)),
    }
}

/// The name of a type in Go with that of its package, which is the last part of the path.
pub(in crate::codec) fn qualified_name(ty: &Type) -> String {
    let mut parts = ty.name.rsplit('.');
    match (parts.next(), parts.next()) {
        (Some(name), Some(package)) => format!("{package}.{name}"),
        _ => ty.name.to_owned(),
    }
}
