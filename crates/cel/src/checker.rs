//! Types of expressions, and what is wrong with them.
mod assign;
mod call;
mod format;
mod select;
mod validate;

use std::collections::HashMap;

use smol_str::SmolStr;

use self::assign::{Mapping, most_general};
use crate::ast::{Comprehension, Expr, Id, Kind, Literal, Places};
use crate::env::Env;
use crate::parser::Parsed;
use crate::source::Issues;
use crate::types::Type;

/// What is known of a checked expression.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    types: HashMap<Id, Type>,
    /// The overloads a call may mean.
    overloads: HashMap<Id, Vec<&'static str>>,
    /// The variable or type an identifier (or a chain of selections) means.
    names: HashMap<Id, SmolStr>,
}

impl Checked {
    pub(crate) fn type_of(&self, id: Id) -> &Type {
        self.types.get(&id).unwrap_or(&Type::Dyn)
    }

    pub(crate) fn overloads(&self, id: Id) -> &[&'static str] {
        self.overloads.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn refers_to(&self, name: &str) -> bool {
        self.names.values().any(|known| known == name)
    }
}

/// Checks an expression. Calls and names are rewritten to what they mean.
pub(crate) fn check(parsed: &mut Parsed, env: &Env) -> Result<Checked, Issues> {
    let mut checker = Checker {
        env,
        places: &parsed.places,
        mapping: Mapping::default(),
        vars: 0,
        scopes: Vec::new(),
        checked: Checked::default(),
        issues: Issues::default(),
    };
    checker.check(&mut parsed.expr);
    let Checker { mapping, mut checked, mut issues, .. } = checker;
    for t in checked.types.values_mut() {
        *t = mapping.substitute(t, true);
    }
    if issues.is_empty() {
        validate::validate(&parsed.expr, &checked, &parsed.places, &mut issues);
    }
    if issues.is_empty() { Ok(checked) } else { Err(issues.told(&parsed.places.source)) }
}

struct Checker<'e> {
    env: &'e Env,
    places: &'e Places,
    mapping: Mapping,
    vars: u32,
    scopes: Vec<(SmolStr, Type)>,
    checked: Checked,
    issues: Issues,
}

impl Checker<'_> {
    fn report(&mut self, id: Id, message: impl Into<String>) {
        self.issues.report(self.places.location(id), message);
    }

    fn set(&mut self, id: Id, t: Type) {
        self.checked.types.insert(id, t);
    }

    fn get(&self, expr: &Expr) -> Type {
        self.checked.types.get(&expr.id).cloned().unwrap_or(Type::Error)
    }

    fn new_var(&mut self) -> Type {
        self.vars += 1;
        Type::Var(self.vars - 1)
    }

    fn is_assignable(&mut self, one: &Type, two: &Type) -> bool {
        self.mapping.try_assign([(one, two)])
    }

    fn lookup(&self, name: &str) -> Option<Type> {
        let name = name.strip_prefix('.').unwrap_or(name);
        let local = self.scopes.iter().rev().find(|(known, _)| known == name).map(|(_, t)| t.clone());
        local.or_else(|| self.env.variable(name)).or_else(|| self.env.named_type(name))
    }

    fn undeclared(&mut self, id: Id, name: &str) {
        self.report(id, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn mismatch(&mut self, id: Id, expected: &Type, actual: &Type) {
        self.report(id, format!("expected type '{expected}' but found '{actual}'"));
    }

    fn check(&mut self, expr: &mut Expr) {
        let id = expr.id;
        match &mut expr.kind {
            Kind::Unspecified => self.report(id, "unexpected unspecified type: "),
            Kind::Literal(literal) => {
                let t = literal_type(literal);
                self.set(id, t);
            }
            Kind::Ident(name) => {
                let Some(t) = self.lookup(name) else {
                    self.set(id, Type::Error);
                    let name = name.clone();
                    return self.undeclared(id, &name);
                };
                self.set(id, t);
                let plain: SmolStr = name.strip_prefix('.').unwrap_or(name).into();
                self.checked.names.insert(id, plain.clone());
                *name = plain;
            }
            Kind::Select { .. } => self.check_select(expr),
            Kind::Call { .. } => self.check_call(expr),
            Kind::List { elements, optional } => {
                let mut joined = None;
                for (element, optional) in elements.iter_mut().zip(optional.iter()) {
                    self.check(element);
                    let t = self.entry_type(element, *optional);
                    joined = Some(self.join(joined, t));
                }
                let element = joined.unwrap_or_else(|| self.new_var());
                self.set(id, Type::list(element));
            }
            Kind::Map { entries } => {
                let mut joined = None;
                for entry in entries {
                    self.check(&mut entry.key);
                    let (keys, values) = joined.map_or((None, None), |(keys, values)| (Some(keys), Some(values)));
                    let t = self.get(&entry.key);
                    let keys = self.join(keys, t);
                    self.check(&mut entry.value);
                    let t = self.entry_type(&entry.value, entry.optional);
                    joined = Some((keys, self.join(values, t)));
                }
                let (keys, values) = joined.unwrap_or_else(|| (self.new_var(), self.new_var()));
                self.set(id, Type::map(keys, values));
            }
            Kind::Struct { name, fields } => {
                self.set(id, Type::Error);
                let name = name.clone();
                let Some(found) = self.lookup(&name) else { return self.undeclared(id, &name) };
                // Objects of CRDs cannot be made, nor anything else in this dialect that has a name.
                let is_type = matches!(found, Type::Type(_));
                let message = if is_type {
                    format!("'{name}' is not a message type")
                } else {
                    format!("'{}' is not a type", found.name())
                };
                self.report(id, message);
                for field in fields {
                    self.check(&mut field.value);
                    let message = if is_type {
                        format!("undefined field '{}'", field.name)
                    } else {
                        format!("unexpected failed resolution of '{name}'")
                    };
                    self.report(field.id, message);
                }
            }
            Kind::Comprehension(fold) => self.check_fold(id, fold),
        }
    }

    /// The type of an element; what an optional one holds.
    fn entry_type(&mut self, value: &Expr, optional: bool) -> Type {
        let t = self.get(value);
        if !optional {
            return t;
        }
        if let Some(inner) = t.unwrap_optional() {
            return inner.clone();
        }
        if !t.is_dyn() {
            self.mismatch(value.id, &Type::optional(t.clone()), &t);
        }
        t
    }

    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else { return current };
        if self.is_assignable(&previous, &current) {
            return most_general(&previous, &current).clone();
        }
        // Literals of mixed types are refused later, except where they are arguments of `format`.
        Type::Dyn
    }

    fn check_fold(&mut self, id: Id, fold: &mut Comprehension) {
        self.check(&mut fold.range);
        self.check(&mut fold.init);
        let range = self.mapping.substitute(&self.get(&fold.range), false);
        let accu = self.get(&fold.init);
        let depth = self.scopes.len();
        self.scopes.push((fold.accu.clone(), accu.clone()));
        let two = !fold.var2.is_empty();
        let (first, second) = match &range {
            Type::List(element) if two => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Error),
            Type::Map(pair) => (pair.0.clone(), pair.1.clone()),
            Type::Dyn | Type::Error | Type::Var(_) | Type::Param(_) => {
                self.is_assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(fold.range.id, message);
                (Type::Error, Type::Error)
            }
        };
        self.scopes.push((fold.var.clone(), first));
        if two {
            self.scopes.push((fold.var2.clone(), second));
        }
        self.check(&mut fold.condition);
        self.assert(&fold.condition, &Type::Bool);
        self.check(&mut fold.step);
        self.assert(&fold.step, &accu);
        self.scopes.truncate(depth + 1);
        self.check(&mut fold.result);
        self.scopes.truncate(depth);
        let result = self.mapping.substitute(&self.get(&fold.result), false);
        self.set(id, result);
    }

    fn assert(&mut self, expr: &Expr, wanted: &Type) {
        let t = self.get(expr);
        if !self.is_assignable(wanted, &t) {
            self.mismatch(expr.id, wanted, &t);
        }
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}
