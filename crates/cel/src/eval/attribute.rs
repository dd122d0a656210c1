//! Looking things up: names, and the ways from them.
use super::{Evaluated, Evaluator, Stop, cost};
use crate::ast::Id;
use crate::plan::{Attribute, By, Qualifier, Root};
use crate::value::{Fault, Value, convert};

/// What a look at a place finds.
enum Look<'a> {
    Found(Value<'a>),
    Missing,
}

impl<'p, 'a> Evaluator<'p, 'a> {
    pub(super) fn attribute(&mut self, attribute: &'p Attribute) -> Evaluated<'a> {
        let result = self.resolve(attribute);
        if super::is_final(&result) {
            return result;
        }
        self.charge_attribute(attribute);
        if attribute.accumulates() {
            // What is being built must not be held elsewhere, or it could not be added to in place.
            self.tracker.push(attribute.id(), None)?;
            return result;
        }
        self.observed(attribute.id(), result)
    }

    fn charge_attribute(&mut self, attribute: &'p Attribute) {
        if let Root::Choice { condition, truthy, falsy, .. } = &attribute.root {
            self.tracker.drop_each([falsy.id(), truthy.id(), condition.id()]);
        } else {
            self.tracker.drop_each([attribute.id()]);
            self.tracker.charge(cost::NAME);
        }
    }

    pub(super) fn test(&mut self, id: Id, attribute: &'p Attribute) -> Evaluated<'a> {
        let result = match self.resolve(attribute) {
            Ok(Value::Optional(inner)) => Ok(Value::Bool(inner.is_some())),
            other => other,
        };
        if super::is_final(&result) {
            return result;
        }
        // A test costs no more than the way to it.
        if let Root::Choice { condition, truthy, falsy, .. } = &attribute.root {
            self.tracker.drop_each([falsy.id(), truthy.id(), condition.id()]);
            self.tracker.refund(cost::NAME);
        } else {
            self.tracker.drop_each([attribute.id()]);
        }
        self.observed(id, result)
    }

    fn resolve(&mut self, attribute: &'p Attribute) -> Evaluated<'a> {
        let value = match &attribute.root {
            Root::Name(_, name) => self.lookup(name)?,
            Root::Value(_, step) => self.eval(step)?,
            Root::Choice { condition, truthy, falsy, .. } => {
                return match self.eval(condition)? {
                    Value::Bool(true) => self.resolve(truthy),
                    Value::Bool(false) => self.resolve(falsy),
                    _ => super::fault("no such overload"),
                };
            }
        };
        self.qualify(value, &attribute.qualifiers)
    }

    fn qualify(&mut self, root: Value<'a>, qualifiers: &'p [Qualifier]) -> Evaluated<'a> {
        let (mut optional, mut value) = match root {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) if !qualifiers.is_empty() => (true, (*inner).clone().untyped()),
            Value::Optional(Some(inner)) => return Ok(Value::some((*inner).clone())),
            other => (false, other),
        };
        for qualifier in qualifiers {
            optional |= qualifier.optional;
            match self.step_along(&value, qualifier, optional)? {
                Look::Found(found) => value = found,
                Look::Missing => return Ok(Value::Optional(None)),
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }

    /// One step of a way, with its cost.
    fn step_along(&mut self, value: &Value<'a>, qualifier: &'p Qualifier, optional: bool) -> Result<Look<'a>, Stop> {
        let looked = self.look(value, qualifier, optional);
        if looked.as_ref().is_err_and(Stop::is_final) {
            return looked;
        }
        let observed = match &looked {
            Ok(Look::Missing) => None,
            Ok(Look::Found(found)) => Some(Some(found)),
            // What goes wrong on a way that may be missing is told, not counted.
            Err(_) if optional => None,
            Err(_) => Some(None),
        };
        if let Some(found) = observed {
            if let By::Step(_) = &qualifier.by {
                self.tracker.drop_each([qualifier.id]);
            }
            self.tracker.charge(cost::NAME);
            self.tracker.push(qualifier.id, found)?;
        }
        looked
    }

    fn look(&mut self, value: &Value<'a>, qualifier: &'p Qualifier, optional: bool) -> Result<Look<'a>, Stop> {
        let key = match &qualifier.by {
            By::Const(key) => {
                let key: Value<'a> = key.clone();
                key
            }
            By::Attribute(attribute) => self.resolve(attribute)?,
            By::Step(step) => self.eval(step)?,
        };
        if !matches!(key, Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)) {
            return super::fault(format!("invalid qualifier type: {}", key.native_name()));
        }
        let found = find(value, &key, optional || qualifier.test)?;
        if qualifier.test && !optional {
            return Ok(Look::Found(Value::Bool(found.is_some())));
        }
        Ok(found.map_or(Look::Missing, Look::Found))
    }
}

/// The value behind a key; with `maybe` it may be missing.
fn find<'a>(value: &Value<'a>, key: &Value<'_>, maybe: bool) -> Result<Option<Value<'a>>, Fault> {
    match value {
        Value::Map(map) => match map.find(key)? {
            None if !maybe => crate::value::fault(format!("no such key: {key}")),
            found => Ok(found),
        },
        Value::List(list) => {
            let index = index(key)?;
            match usize::try_from(index).ok().and_then(|index| list.get(index)) {
                Some(found) => found.map(Some),
                None if maybe => Ok(None),
                None => crate::value::fault(format!("index out of bounds: {key}")),
            }
        }
        _ if maybe => Ok(None),
        _ => crate::value::fault(format!("no such key: {key}")),
    }
}

fn index(key: &Value<'_>) -> Result<i64, Fault> {
    let unsupported = || Fault::from(format!("unsupported index value {key} in list"));
    match key {
        Value::Int(index) => Ok(*index),
        Value::Uint(index) => i64::try_from(*index).map_err(|_| unsupported()),
        Value::Double(index) => convert::exact_int(*index).ok_or_else(unsupported),
        other => crate::value::fault(format!("unsupported index type '{}' in list", other.type_name())),
    }
}
