//! The types of expressions.
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// The type of what has none because it is wrong.
    Error,
    /// Known only when evaluated.
    Dyn,
    /// `true` and `false`.
    Bool,
    /// Signed integers of 64 bits.
    Int,
    /// Unsigned integers of 64 bits.
    Uint,
    /// Floating-point numbers of 64 bits.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// `null`.
    Null,
    /// A point in time.
    Timestamp,
    /// A span of time.
    Duration,
    /// A list of one type.
    List(Arc<Type>),
    /// A map of one type to another.
    Map(Arc<(Type, Type)>),
    /// The type of a type.
    Type(Option<Arc<Type>>),
    /// A parameter of a function's type.
    Param(SmolStr),
    /// A type to be found out.
    Var(u32),
    /// A type by its name and parameters.
    Opaque(SmolStr, Arc<[Type]>),
    /// An object with named fields.
    Object(SmolStr),
}

const OPTIONAL: &str = "optional_type";

impl Type {
    /// The type of lists of a type.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// The type of maps of one type to another.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    /// The type of values that may be missing.
    pub fn optional(inner: Self) -> Self {
        Self::Opaque(SmolStr::new_static(OPTIONAL), Arc::new([inner]))
    }

    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn)
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// What an optional holds.
    pub(crate) fn unwrap_optional(&self) -> Option<&Self> {
        match self {
            Self::Opaque(name, params) if name == OPTIONAL => params.first(),
            _ => None,
        }
    }

    /// The name a value of the type has when evaluated.
    pub(crate) fn name(&self) -> SmolStr {
        SmolStr::new_static(match self {
            Self::Error => "error",
            Self::Dyn => "dyn",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Null => "null_type",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Param(name) | Self::Opaque(name, _) | Self::Object(name) => return name.clone(),
            Self::Var(number) => return format!("_var{number}").into(),
        })
    }

    pub(crate) fn params(&self) -> Vec<&Self> {
        match self {
            Self::List(element) => vec![element],
            Self::Map(pair) => vec![&pair.0, &pair.1],
            Self::Type(Some(inner)) => vec![inner],
            Self::Opaque(_, params) => params.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the types are the same but for the names of unknown ones.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        if let (Self::Param(_) | Self::Var(_), Self::Param(_) | Self::Var(_)) = (self, other) {
            return true;
        }
        let (ours, theirs) = (self.params(), other.params());
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && ours.len() == theirs.len()
            && self.name() == other.name()
            && ours.iter().zip(theirs).all(|(one, two)| one.is_equivalent(two))
    }

    /// Whether the size of a value is always 1.
    pub(crate) fn is_scalar(&self) -> bool {
        match self {
            Self::Bool | Self::Double | Self::Duration | Self::Int | Self::Timestamp | Self::Uint => true,
            _ => self.unwrap_optional().is_some_and(Self::is_scalar),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => return f.write_str("!error!"),
            Self::Null => return f.write_str("null"),
            Self::Timestamp => return f.write_str("timestamp"),
            Self::Duration => return f.write_str("duration"),
            _ => f.write_str(&self.name())?,
        }
        let params = self.params();
        if params.is_empty() {
            return Ok(());
        }
        for (index, param) in params.into_iter().enumerate() {
            write!(f, "{}{param}", if index == 0 { "(" } else { ", " })?;
        }
        f.write_str(")")
    }
}
