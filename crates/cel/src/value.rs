//! Values of expressions.
//!
//! JSON is not copied: a value over JSON is the JSON and its schema, read when looked at.
pub(crate) mod collection;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod json;
pub(crate) mod text;
pub(crate) mod time;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value as Json;
use smol_str::SmolStr;

use self::collection::{Items, List, Map};
use self::time::Timestamp;
use crate::library::opaque::Opaque;
use crate::schema::ANY;
use crate::types::Type;

/// The text of what went wrong; cheap to pass on.
pub(crate) type Fault = Arc<str>;

pub(crate) type Outcome<'a> = Result<Value<'a>, Fault>;

pub(crate) fn no_such_overload<R>() -> Result<R, Fault> {
    Err("no such overload".into())
}

pub(crate) fn fault<R>(message: impl AsRef<str>) -> Result<R, Fault> {
    Err(message.as_ref().into())
}

/// Text, of the JSON or made.
#[derive(Clone, Debug)]
pub(crate) enum Str<'a> {
    Borrowed(&'a str),
    Owned(SmolStr),
}

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Owned(text) => text,
        }
    }
}

/// What an expression evaluates to.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Str<'a>),
    Bytes(Arc<[u8]>),
    Timestamp(Timestamp),
    /// In nanoseconds.
    Duration(i64),
    List(List<'a>),
    Map(Map<'a>),
    Type(SmolStr),
    Optional(Option<Arc<Value<'a>>>),
    Opaque(Arc<Opaque>),
    /// JSON of a node that has no type: it can be compared, and nothing else.
    Preserved(&'a Json),
}

impl<'a> Value<'a> {
    pub(crate) fn text(text: impl Into<SmolStr>) -> Self {
        Self::String(Str::Owned(text.into()))
    }

    pub(crate) fn list(items: Vec<Value<'a>>) -> Self {
        Self::List(List::of(items))
    }

    pub(crate) fn some(value: Value<'a>) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    pub(crate) fn strings(items: impl IntoIterator<Item = impl Into<SmolStr>>) -> Self {
        Self::list(items.into_iter().map(Self::text).collect())
    }

    /// The name of the value's type.
    pub(crate) fn type_name(&self) -> SmolStr {
        SmolStr::new_static(match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Opaque(opaque) => opaque.type_name(),
            Self::Preserved(_) => "unknown",
        })
    }

    /// The name of the type behind the value in cel-go, which some errors tell.
    pub(crate) fn native_name(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::String(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::Timestamp(_) => "types.Timestamp",
            Self::Duration(_) => "types.Duration",
            Self::List(list) => list.native_name(),
            Self::Map(map) => map.native_name(),
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Opaque(opaque) => opaque.native_name(),
            Self::Preserved(_) => "*common.unknownPreserved",
        }
    }

    /// Whether the value is one of the type, as far as a call looks: one level into collections.
    pub(crate) fn is_of(&self, wanted: &Type) -> bool {
        if matches!(wanted, Type::Dyn | Type::Param(_) | Type::Var(_)) {
            return true;
        }
        if wanted.name() != self.type_name() {
            return false;
        }
        match (wanted, self) {
            (Type::List(element), Self::List(list)) => {
                list.get(0).is_none_or(|first| first.is_ok_and(|first| first.is_of(element)))
            }
            (Type::Map(pair), Self::Map(map)) => map
                .first()
                .is_none_or(|(key, value)| key.is_of(&pair.0) && value.is_ok_and(|value| value.is_of(&pair.1))),
            _ => true,
        }
    }

    /// The value without its schema: what an optional holds is looked at as plain JSON.
    pub(crate) fn untyped(self) -> Self {
        match self {
            Self::Map(Map::Json(map, _)) => Self::Map(Map::Json(map, &ANY)),
            Self::List(List { items: Items::Json(items, _), .. }) => {
                Self::List(List { items: Items::Json(items, &ANY), schema: None })
            }
            other => other,
        }
    }

    /// How large the value counts for costs.
    pub(crate) fn size(&self) -> Option<u64> {
        let length = match self {
            Self::String(text) => text.chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.len(),
            Self::Map(map) => map.len(),
            Self::Opaque(opaque) => return opaque.size(),
            _ => return None,
        };
        u64::try_from(length).ok()
    }

    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Int(value) | Self::Duration(value) => *value == 0,
            Self::Uint(value) => *value == 0,
            Self::Double(value) => *value == 0.0,
            Self::String(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Timestamp(time) => time.is_zero(),
            // Lists and maps over JSON do not say whether they are empty.
            Self::List(list) => list.is_made() && list.len() == 0,
            Self::Map(map) => map.is_made() && map.len() == 0,
            Self::Type(_) | Self::Optional(_) | Self::Opaque(_) | Self::Preserved(_) => false,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL_VALUE"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&text::general(*value)),
            Self::String(value) => f.write_str(value),
            Self::Bytes(bytes) => write!(f, "{bytes:?}"),
            Self::Timestamp(time) => f.write_str(&time.to_text()),
            Self::Duration(nanos) => f.write_str(&time::duration_text(*nanos)),
            Self::Type(name) => f.write_str(name),
            Self::Optional(None) => f.write_str("optional.none()"),
            Self::Optional(Some(inner)) => write!(f, "optional({inner})"),
            Self::List(list) => {
                f.write_str("[")?;
                for index in 0..list.len() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(Ok(element)) = list.get(index) {
                        write!(f, "{element}")?;
                    }
                }
                f.write_str("]")
            }
            Self::Map(map) => {
                f.write_str("{")?;
                for (index, (key, found)) in map.found().into_iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{key}: ")?;
                    if let Ok(Some(value)) = found {
                        write!(f, "{value}")?;
                    }
                }
                f.write_str("}")
            }
            Self::Opaque(opaque) => write!(f, "{opaque}"),
            Self::Preserved(json) => write!(f, "{json}"),
        }
    }
}
