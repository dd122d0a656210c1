//! Calls, and which overloads they may mean.

use smol_str::SmolStr;

use super::Checker;
use super::assign::rebuild;
use crate::ast::{Expr, Id, Kind, Literal};
use crate::functions::{self, Function};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn check_call(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let Kind::Call { target, function, args } = &mut expr.kind else { return };
        if function == "_?._" {
            if let [operand, field] = args.as_mut_slice()
                && let Kind::Literal(Literal::String(name)) = &field.kind
            {
                let result = self.check_field(id, operand, &name.clone(), true);
                let result = self.mapping.substitute(&result, false);
                self.set(id, result);
                self.checked.overloads.insert(id, vec!["select_optional_field"]);
            }
            return;
        }
        for arg in args.iter_mut() {
            self.check(arg);
        }
        let Some(operand) = target else {
            let Some(found) = functions::find(function) else {
                let name = function.clone();
                self.undeclared(id, &name);
                self.set(id, Type::Error);
                return;
            };
            *function = found.name.into();
            return self.resolve(id, found, None, args);
        };
        let qualified = operand.qualified_name().map(|prefix| format!("{prefix}.{function}"));
        if let Some(found) = qualified.and_then(|name| functions::find(&name)) {
            *function = found.name.into();
            *target = None;
            return self.resolve(id, found, None, args);
        }
        self.check(operand);
        let Some(found) = functions::find(function) else {
            self.set(id, Type::Error);
            let name = function.clone();
            return self.undeclared(id, &name);
        };
        self.resolve(id, found, Some(operand), args);
    }

    fn resolve(&mut self, id: Id, function: &'static Function, target: Option<&Expr>, args: &[Expr]) {
        let types: Vec<Type> = target.into_iter().chain(args).map(|arg| self.get(arg)).collect();
        if matches!(function.name, "_&&_" | "_||_") {
            return self.resolve_logic(id, function, args, &types);
        }
        let mut result: Option<Type> = None;
        let mut overloads = Vec::new();
        for overload in &function.overloads {
            if target.is_some() != overload.member {
                continue;
            }
            let fresh: Vec<(SmolStr, Type)> =
                overload.params.iter().map(|param| (param.clone(), self.new_var())).collect();
            let wanted: Vec<Type> = overload.args.iter().map(|arg| instantiate(arg, &fresh)).collect();
            if wanted.len() != types.len() || !self.mapping.try_assign(types.iter().zip(&wanted)) {
                continue;
            }
            overloads.push(overload.id);
            let this = self.mapping.substitute(&instantiate(&overload.result, &fresh), false);
            result = Some(match result {
                None => this,
                Some(before) if before.is_dyn() || this == before => before,
                Some(_) => Type::Dyn,
            });
        }
        if let Some(result) = result {
            self.set(id, result);
            self.checked.overloads.insert(id, overloads);
            return;
        }
        let known: Vec<String> = types.iter().map(|t| self.mapping.substitute(t, true).to_string()).collect();
        let signature = match known.split_first() {
            Some((target_type, rest)) if target.is_some() => format!("{target_type}.({})", rest.join(", ")),
            _ => format!("({})", known.join(", ")),
        };
        let name = function.name;
        self.report(id, format!("found no matching overload for '{name}' applied to '{signature}'"));
        self.set(id, Type::Error);
    }

    fn resolve_logic(&mut self, id: Id, function: &'static Function, args: &[Expr], types: &[Type]) {
        let mut is_wrong = false;
        for (arg, t) in args.iter().zip(types) {
            if !self.is_assignable(t, &Type::Bool) {
                self.mismatch(arg.id, &Type::Bool, t);
                is_wrong = true;
            }
        }
        if is_wrong {
            return self.set(id, Type::Error);
        }
        self.set(id, Type::Bool);
        self.checked.overloads.insert(id, function.overloads.iter().map(|overload| overload.id).collect());
    }
}

/// A signature's type with fresh variables for its parameters.
fn instantiate(t: &Type, fresh: &[(SmolStr, Type)]) -> Type {
    match t {
        Type::Param(name) => {
            fresh.iter().find(|(param, _)| param == name).map_or_else(|| t.clone(), |(_, var)| var.clone())
        }
        other => rebuild(other, &mut |param| instantiate(param, fresh)),
    }
}
