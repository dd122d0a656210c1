//! Which types stand for which, and what that says about the unknown ones.
use std::collections::HashMap;

use crate::types::Type;

/// What is known of type variables. Trying leaves no trace: [`Mapping::try_assign`] takes back what a failed try found out.
#[derive(Debug, Default)]
pub(super) struct Mapping {
    known: HashMap<u32, Type>,
    trail: Vec<(u32, Option<Type>)>,
}

impl Mapping {
    fn find(&self, t: &Type) -> Option<&Type> {
        if let Type::Var(number) = t { self.known.get(number) } else { None }
    }

    fn add(&mut self, t: &Type, known: Type) {
        if let Type::Var(number) = t {
            let before = self.known.insert(*number, known);
            self.trail.push((*number, before));
        }
    }

    /// Whether each of some types may stand where the others are wanted.
    pub(super) fn try_assign<'t>(&mut self, pairs: impl IntoIterator<Item = (&'t Type, &'t Type)>) -> bool {
        self.trail.clear();
        let fits = pairs.into_iter().all(|(one, two)| self.assign(one, two));
        if !fits {
            for (number, before) in self.trail.drain(..).rev() {
                match before {
                    Some(before) => self.known.insert(number, before),
                    None => self.known.remove(&number),
                };
            }
        }
        fits
    }

    fn assign(&mut self, one: &Type, two: &Type) -> bool {
        if matches!(two, Type::Var(_)) {
            let (valid, known) = self.is_valid(one, two);
            if valid || known {
                return valid;
            }
        }
        if matches!(one, Type::Var(_)) {
            return self.is_valid(two, one).0;
        }
        if one.is_dyn_or_error() || two.is_dyn_or_error() {
            return true;
        }
        match (one, two) {
            (Type::Null, other) | (other, Type::Null) => {
                matches!(other, Type::Null | Type::Opaque(..) | Type::Object(_) | Type::Duration | Type::Timestamp)
            }
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(one), Type::List(two)) => self.assign(one, two),
            (Type::Map(one), Type::Map(two)) => self.assign(&one.0, &two.0) && self.assign(&one.1, &two.1),
            (Type::Opaque(one, ours), Type::Opaque(two, theirs)) => {
                one == two
                    && ours.len() == theirs.len()
                    && ours.iter().zip(theirs.iter()).all(|(one, two)| self.assign(one, two))
            }
            (one, two) => one == two && !matches!(one, Type::Param(_)),
        }
    }

    /// Whether the variable may be the type, and whether it was known before.
    fn is_valid(&mut self, t: &Type, var: &Type) -> (bool, bool) {
        if t == var {
            return (true, true);
        }
        if let Some(known) = self.find(var).cloned() {
            if *t == known {
                return (true, true);
            }
            if self.assign(t, &known) {
                let general = most_general(t, &known).clone();
                if self.is_free(var, &general) {
                    self.add(var, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.is_free(var, t) {
            self.add(var, t.clone());
            return (true, false);
        }
        (false, false)
    }

    fn is_free(&self, var: &Type, within: &Type) -> bool {
        if var == within {
            return false;
        }
        match within {
            Type::Var(_) => self.find(within).is_none_or(|known| self.is_free(var, known)),
            other => other.params().into_iter().all(|param| self.is_free(var, param)),
        }
    }

    /// The type with what is known put in; what stays unknown may become `dyn`.
    pub(super) fn substitute(&self, t: &Type, unknown_to_dyn: bool) -> Type {
        if let Some(known) = self.find(t) {
            return self.substitute(known, unknown_to_dyn);
        }
        match t {
            Type::Var(_) | Type::Param(_) if unknown_to_dyn => Type::Dyn,
            other => rebuild(other, &mut |param| self.substitute(param, unknown_to_dyn)),
        }
    }
}

/// The same type with other parameters.
pub(super) fn rebuild(t: &Type, change: &mut dyn FnMut(&Type) -> Type) -> Type {
    match t {
        Type::List(element) => Type::list(change(element)),
        Type::Map(pair) => Type::map(change(&pair.0), change(&pair.1)),
        Type::Type(Some(inner)) => Type::Type(Some(std::sync::Arc::new(change(inner)))),
        Type::Opaque(name, params) => Type::Opaque(name.clone(), params.iter().map(change).collect()),
        other => other.clone(),
    }
}

pub(super) fn most_general<'t>(one: &'t Type, two: &'t Type) -> &'t Type {
    if is_at_least(one, two) { one } else { two }
}

/// Whether the first type is the same as the second or less specific.
fn is_at_least(one: &Type, two: &Type) -> bool {
    if one.is_dyn() || matches!(one, Type::Var(_) | Type::Param(_)) {
        return true;
    }
    if two.is_dyn() || matches!(two, Type::Var(_) | Type::Param(_)) {
        return false;
    }
    match (one, two) {
        (Type::Opaque(one, ours), Type::Opaque(two, theirs)) => {
            one == two && ours.len() == theirs.len() && ours.iter().zip(theirs.iter()).all(|(a, b)| is_at_least(a, b))
        }
        (Type::List(one), Type::List(two)) => is_at_least(one, two),
        (Type::Map(one), Type::Map(two)) => is_at_least(&one.0, &two.0) && is_at_least(&one.1, &two.1),
        (Type::Type(_), Type::Type(_)) => true,
        (one, two) => one == two,
    }
}
