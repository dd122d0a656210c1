//! What an expression may refer to.
use std::sync::Arc;

use smol_str::SmolStr;

use crate::schema::Schema;
use crate::types::Type;

/// A variable of an expression: JSON of a schema.
#[derive(Clone, Debug)]
pub struct Variable {
    pub(crate) name: SmolStr,
    pub(crate) schema: Arc<Schema>,
    /// Whether the value may be missing.
    pub(crate) optional: bool,
}

impl Variable {
    /// A variable that always has a value.
    pub fn new(name: &str, schema: &Arc<Schema>) -> Self {
        Self { name: name.into(), schema: Arc::clone(schema), optional: false }
    }

    /// A variable that may have no value.
    pub fn optional(name: &str, schema: &Arc<Schema>) -> Self {
        Self { optional: true, ..Self::new(name, schema) }
    }
}

/// The variables of expressions; their functions are those of Kubernetes v1.36.
#[derive(Clone, Debug, Default)]
pub struct Env {
    pub(crate) variables: Vec<Variable>,
}

/// Objects in error messages are called by their path below this name.
pub(crate) const ROOT: &str = "selfType";

impl Env {
    /// An environment with some variables; those that share a schema share its types.
    pub fn new(variables: Vec<Variable>) -> Self {
        Self { variables }
    }

    /// The name of a variable's root type: the first that has the schema gives it.
    fn root(&self, index: usize) -> String {
        let Some(variable) = self.variables.get(index) else { return String::new() };
        let first = self.variables.iter().position(|other| Arc::ptr_eq(&other.schema, &variable.schema));
        format!("{ROOT}{}", first.unwrap_or(index))
    }

    /// The type of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<Type> {
        let index = self.variables.iter().position(|variable| variable.name == name)?;
        let variable = self.variables.get(index)?;
        let typed = variable.schema.type_at(&self.root(index))?;
        Some(if variable.optional { Type::optional(typed) } else { typed })
    }

    /// The schema of a type by its name.
    pub(crate) fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        let mut segments = name.split('.');
        let number = segments.next()?.strip_prefix(ROOT)?.parse::<usize>().ok()?;
        let root = &self.variables.get(number)?.schema;
        segments.try_fold(root, |schema, segment| schema.below(segment))
    }

    /// The type of a name that is no variable: types themselves have names.
    pub(crate) fn named_type(&self, name: &str) -> Option<Type> {
        let param = |name: &str| Type::Param(name.into());
        let named = match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "string" => Type::String,
            "null_type" => Type::Null,
            "google.protobuf.Duration" | "duration" => Type::Duration,
            "google.protobuf.Timestamp" | "timestamp" => Type::Timestamp,
            "list" => Type::list(param("A")),
            "map" => Type::map(param("A"), param("B")),
            "type" => Type::Type(None),
            "optional_type" => Type::optional(param("V")),
            "net.IP" | "net.CIDR" => Type::Opaque(name.into(), Arc::new([])),
            _ => self.schema(name)?.type_at(name)?,
        };
        Some(Type::Type(Some(Arc::new(named))))
    }
}
