//! Fields, and names with dots in them.

use smol_str::SmolStr;

use super::Checker;
use crate::ast::{Expr, Id, Kind};
use crate::escape::is_reserved;
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn check_select(&mut self, expr: &mut Expr) {
        let id = expr.id;
        if let Some(name) = expr.qualified_name()
            && let Some(t) = self.lookup(&name)
        {
            let plain: SmolStr = name.strip_prefix('.').unwrap_or(&name).into();
            self.set(id, t);
            self.checked.names.insert(id, plain.clone());
            expr.kind = Kind::Ident(plain);
            return;
        }
        let Kind::Select { operand, field, test } = &mut expr.kind else { return };
        let mut result = self.check_field(id, operand, field, false);
        if *test {
            result = Type::Bool;
        }
        let result = self.mapping.substitute(&result, false);
        self.set(id, result);
    }

    pub(super) fn check_field(&mut self, id: Id, operand: &mut Expr, field: &str, optional: bool) -> Type {
        self.check(operand);
        let operand = self.mapping.substitute(&self.get(operand), false);
        let inner = operand.unwrap_optional();
        let target = inner.unwrap_or(&operand);
        let result = match target {
            Type::Map(pair) => pair.1.clone(),
            Type::Object(name) => self.field_type(id, name, field),
            Type::Var(_) => {
                self.is_assignable(&Type::Dyn, target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.report(id, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if inner.is_some() || optional { Type::optional(result) } else { result }
    }

    fn field_type(&mut self, id: Id, object: &str, field: &str) -> Type {
        let Some(schema) = self.env.schema(object) else {
            self.report(id, format!("unexpected failed resolution of '{object}'"));
            return Type::Error;
        };
        // Segments of paths that no field can be named by are no fields.
        let typed = |field: &str| {
            let found = schema.below(field).filter(|_| !field.starts_with('@'));
            found.and_then(|schema| schema.type_at(&format!("{object}.{field}")))
        };
        let keyword = || if is_reserved(field) { typed(&format!("__{field}__")) } else { None };
        if let Some(t) = typed(field).or_else(keyword) {
            return t;
        }
        self.report(id, format!("undefined field '{field}'"));
        Type::Error
    }
}
