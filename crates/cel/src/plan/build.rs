//! From a checked expression to steps.
use std::sync::Arc;

use super::{Attribute, By, Call, Fold, Members, Qualifier, Root, Step};
use crate::ast::{Comprehension, Expr, Id, Kind, Literal};
use crate::checker::Checked;
use crate::functions;
use crate::library::{call, regex};
use crate::types::Type;
use crate::value::collection::{Made, Map};
use crate::value::{Fault, Value, convert, fault};

const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"];

/// The names of types that are values; others can be declared but not looked at.
const TYPES: [&str; 14] = [
    "bool",
    "bytes",
    "double",
    "dyn",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
    "optional_type",
];

/// Prepares an expression.
pub(crate) fn plan(expr: &Expr, checked: &Checked) -> Result<Step, Fault> {
    Planner { checked, folds: Vec::new() }.step(expr)
}

struct Planner<'c> {
    checked: &'c Checked,
    /// The accumulators of the loops around, and whether each may be added to in place.
    folds: Vec<smol_str::SmolStr>,
}

fn constant(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::text(text.clone()),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
    }
}

/// The attribute a step is, or one that starts at its value.
fn attribute(step: Step, id: Id) -> Attribute {
    match step {
        Step::Attribute(attribute) => *attribute,
        other => Attribute { root: Root::Value(id, other), qualifiers: Vec::new() },
    }
}

fn is_key(value: &Value<'_>) -> bool {
    matches!(value, Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_))
}

impl Planner<'_> {
    fn steps(&mut self, exprs: &[Expr]) -> Result<Vec<Step>, Fault> {
        exprs.iter().map(|expr| self.step(expr)).collect()
    }

    fn step(&mut self, expr: &Expr) -> Result<Step, Fault> {
        let id = expr.id;
        match &expr.kind {
            Kind::Unspecified | Kind::Struct { .. } => fault("unsupported expression"),
            Kind::Literal(literal) => Ok(Step::Const(id, constant(literal))),
            Kind::Ident(name) => self.name(id, name),
            Kind::Select { operand, field, test } => {
                let operand = self.step(operand)?;
                let at = operand.id();
                // A test is an attribute of its own: what is asked of it starts at its value.
                let mut attribute = attribute(operand, at);
                let by = By::Const(Value::text(field.clone()));
                attribute.add(Qualifier { id, by, optional: false, test: *test });
                let attribute = Box::new(attribute);
                Ok(if *test { Step::Test(id, attribute) } else { Step::Attribute(attribute) })
            }
            Kind::Call { .. } => self.call(expr),
            Kind::List { elements, optional } => {
                let elements = self.steps(elements)?;
                let constants: Option<Vec<_>> = elements.iter().map(|element| element.as_const().cloned()).collect();
                match constants {
                    Some(_) if optional.contains(&true) => {
                        let values = elements.iter().find_map(Step::as_const);
                        fault(format!(
                            "cannot initialize optional list element from non-optional value {}",
                            values.unwrap_or(&Value::Null)
                        ))
                    }
                    Some(constants) => Ok(Step::Const(id, Value::list(constants))),
                    None => Ok(Step::List { id, elements, optional: optional.clone() }),
                }
            }
            Kind::Map { entries } => {
                let mut steps = Vec::with_capacity(entries.len());
                for entry in entries {
                    steps.push((self.step(&entry.key)?, self.step(&entry.value)?, entry.optional));
                }
                let mut made = Made::default();
                for (key, value, optional) in &steps {
                    match (key.as_const(), value.as_const()) {
                        (Some(key), Some(value)) if !optional => made.set(key.clone(), value.clone()),
                        _ => return Ok(Step::Map { id, entries: steps }),
                    }
                }
                Ok(Step::Const(id, Value::Map(Map::Made(Arc::new(made)))))
            }
            Kind::Comprehension(fold) => self.fold(id, fold),
        }
    }

    fn name(&self, id: Id, name: &smol_str::SmolStr) -> Result<Step, Fault> {
        if matches!(self.checked.type_of(id), Type::Type(_)) && !self.folds.contains(name) {
            let known = TYPES.contains(&name.as_str()) || matches!(name.as_str(), "net.IP" | "net.CIDR");
            return if known {
                Ok(Step::Const(id, Value::Type(name.clone())))
            } else {
                fault(format!("reference to undefined type: {name}"))
            };
        }
        let root = Root::Name(id, name.clone());
        Ok(Step::Attribute(Box::new(Attribute { root, qualifiers: Vec::new() })))
    }

    fn fold(&mut self, id: Id, fold: &Comprehension) -> Result<Step, Fault> {
        let init = self.step(&fold.init)?;
        let range = self.step(&fold.range)?;
        self.folds.push(fold.accu.clone());
        let condition = self.step(&fold.condition)?;
        let step = self.step(&fold.step)?;
        let result = self.step(&fold.result)?;
        self.folds.pop();
        let (accu, var, var2) = (fold.accu.clone(), fold.var.clone(), fold.var2.clone());
        Ok(Step::Fold(Box::new(Fold { id, accu, var, var2, init, range, condition, step, result })))
    }

    fn call(&mut self, expr: &Expr) -> Result<Step, Fault> {
        let id = expr.id;
        let Kind::Call { target, function, args } = &expr.kind else { return fault("unsupported expression") };
        let mut steps = Vec::with_capacity(args.len() + 1);
        if let Some(target) = target {
            steps.push(self.step(target)?);
        }
        for arg in args {
            steps.push(self.step(arg)?);
        }
        match function.as_str() {
            "_&&_" => return Ok(Step::And(id, steps)),
            "_||_" => return Ok(Step::Or(id, steps)),
            "_==_" | "_!=_" => {
                if let Ok([one, two]) = <[Step; 2]>::try_from(steps) {
                    let negated = function == "_!=_";
                    return Ok(Step::Equal { id, args: [Box::new(one), Box::new(two)], negated });
                }
                return fault("no such overload");
            }
            "_?_:_" => {
                if let Ok([condition, truthy, falsy]) = <[Step; 3]>::try_from(steps) {
                    return Ok(choice(id, condition, truthy, falsy));
                }
                return fault("no such overload");
            }
            "_[_]" | "_?._" | "_[?_]" => {
                if let Ok([operand, index]) = <[Step; 2]>::try_from(steps) {
                    return index_by(id, operand, index, function != "_[_]");
                }
                return fault("no such overload");
            }
            _ => {}
        }
        let overload = match self.checked.overloads(id) {
            [one] => Some(*one),
            _ => None,
        };
        self.function_call(id, function, overload, steps)
    }

    fn function_call(
        &self,
        id: Id,
        name: &str,
        overload: Option<&'static str>,
        mut args: Vec<Step>,
    ) -> Result<Step, Fault> {
        let Some(function) = functions::find(name) else { return fault(format!("no such overload: {name}")) };
        if let ("or" | "orValue", 2) = (name, args.len())
            && let Ok([one, two]) = <[Step; 2]>::try_from(std::mem::take(&mut args))
        {
            return Ok(Step::OptionalOr { id, args: [Box::new(one), Box::new(two)], unwrap: name == "orValue" });
        }
        if overload == Some("in_list")
            && let Some(members) = args.get(1).and_then(Step::as_const).and_then(members)
        {
            let arg = args.swap_remove(0);
            return Ok(match members {
                None => Step::Const(id, Value::Bool(false)),
                Some(set) => Step::Member { id, arg: Box::new(arg), set: Box::new(set) },
            });
        }
        if let [Step::Const(_, value)] = args.as_slice()
            && CONVERSIONS.contains(&name)
        {
            return call::convert(function, overload, value.clone()).map(|value| Step::Const(id, value));
        }
        let mut pattern = None;
        if matches!(name, "matches" | "find" | "findAll")
            && let Some(Value::String(text)) = args.get(1).and_then(Step::as_const)
        {
            pattern = Some(regex::compile(text)?);
        }
        let accumulates = matches!(name, "_+_" | "cel.@mapInsert")
            && matches!(args.first(), Some(Step::Attribute(attribute))
                if attribute.qualifiers.is_empty()
                    && matches!(&attribute.root, Root::Name(_, name) if self.folds.last() == Some(name)));
        Ok(Step::Call(Box::new(Call { id, function, overload, args, pattern, accumulates })))
    }
}

/// The attribute behind a branch of a choice.
fn branch(step: Step) -> Attribute {
    match step {
        Step::Test(_, attribute) => *attribute,
        other => {
            let id = other.id();
            attribute(other, id)
        }
    }
}

fn choice(id: Id, condition: Step, truthy: Step, falsy: Step) -> Step {
    let root = Root::Choice { id, condition, truthy: Box::new(branch(truthy)), falsy: Box::new(branch(falsy)) };
    Step::Attribute(Box::new(Attribute { root, qualifiers: Vec::new() }))
}

fn index_by(id: Id, operand: Step, index: Step, optional: bool) -> Result<Step, Fault> {
    let at = operand.id();
    let mut attribute = attribute(operand, at);
    let by = match index {
        Step::Const(_, value) if is_key(&value) => By::Const(value),
        Step::Const(_, value) => return fault(format!("invalid qualifier type: {}", value.native_name())),
        Step::Attribute(attribute) => By::Attribute(Arc::from(attribute)),
        other => By::Step(Arc::new(other)),
    };
    attribute.add(Qualifier { id, by, optional, test: false });
    Ok(Step::Attribute(Box::new(attribute)))
}

/// The set a constant list is: nothing when it is empty, and no set when it holds more than plain values.
#[expect(clippy::option_option, reason = "no set, an empty one, and one with members are three answers")]
fn members(list: &Value<'static>) -> Option<Option<Members>> {
    let Value::List(list) = list else { return None };
    if list.len() == 0 {
        return Some(None);
    }
    let mut set = Members::default();
    for item in list.iter() {
        match item.ok()? {
            Value::Bool(value) => {
                set.bools.insert(value);
            }
            Value::String(text) => {
                set.texts.insert((&*text).into());
            }
            Value::Int(value) => {
                set.ints.insert(value);
                if let Ok(Value::Double(double)) = convert::convert(Value::Int(value), "double") {
                    set.doubles.insert(double.to_bits());
                }
                set.uints.extend(u64::try_from(value).ok());
            }
            Value::Uint(value) => {
                set.uints.insert(value);
                if let Ok(Value::Double(double)) = convert::convert(Value::Uint(value), "double") {
                    set.doubles.insert(double.to_bits());
                }
                set.ints.extend(i64::try_from(value).ok());
            }
            Value::Double(value) => {
                set.doubles.insert(value.to_bits());
                set.ints.extend(convert::exact_int(value));
                set.uints.extend(convert::exact_uint(value));
            }
            _ => return None,
        }
    }
    Some(Some(set))
}
