//! Evaluation, within a budget.
mod attribute;
mod cost;
mod fold;

use smol_str::SmolStr;

use self::cost::Tracker;
use crate::ast::Id;
use crate::library::call;
use crate::plan::{Call, Step};
use crate::value::collection::{Items, List, Made, Map};
use crate::value::{Fault, Outcome, Str, Value, compare};

/// Why an evaluation ends without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Something went wrong; `||` and its like may still know the answer.
    Fault(Fault),
    /// The evaluation cost too much; nothing goes on.
    TooExpensive,
    /// cel-go fails to compute the cost of a call, and with it the whole evaluation.
    Broken(&'static str),
}

impl Stop {
    fn is_final(&self) -> bool {
        !matches!(self, Self::Fault(_))
    }
}

/// Whether an evaluation ends here, whatever is around.
fn is_final(result: &Evaluated<'_>) -> bool {
    result.as_ref().is_err_and(Stop::is_final)
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

pub(crate) type Evaluated<'a> = Result<Value<'a>, Stop>;

/// The text of an evaluation that cost too much.
pub(crate) const TOO_EXPENSIVE: &str = "operation cancelled: actual cost limit exceeded";

/// A variable of a loop, or of the environment.
pub(crate) struct Binding<'a> {
    pub(crate) name: SmolStr,
    pub(crate) value: Outcome<'a>,
}

/// The state of one evaluation.
pub(crate) struct Evaluator<'p, 'a> {
    globals: Vec<Binding<'a>>,
    loops: Vec<fold::Frame<'p, 'a>>,
    tracker: Tracker<'a>,
}

fn fault<R>(text: impl AsRef<str>) -> Result<R, Stop> {
    Err(Stop::Fault(text.as_ref().into()))
}

impl<'p, 'a> Evaluator<'p, 'a> {
    pub(crate) fn new(globals: Vec<Binding<'a>>, limit: u64) -> Self {
        Self { globals, loops: Vec::new(), tracker: Tracker::new(limit) }
    }

    /// Evaluates; tells what it cost as well.
    pub(crate) fn run(mut self, step: &'p Step) -> (Evaluated<'a>, u64) {
        let result = self.eval(step);
        (result, self.tracker.cost())
    }

    fn eval(&mut self, step: &'p Step) -> Evaluated<'a> {
        match step {
            Step::Const(id, value) => {
                let value: Value<'a> = value.clone();
                self.tracker.push(*id, Some(&value))?;
                Ok(value)
            }
            Step::Attribute(attribute) => self.attribute(attribute),
            Step::Test(id, attribute) => self.test(*id, attribute),
            Step::And(id, terms) => self.logic(*id, terms, false),
            Step::Or(id, terms) => self.logic(*id, terms, true),
            Step::Equal { id, args: [one, two], negated } => self.equal(*id, one, two, *negated),
            Step::Call(call) => self.call(call),
            Step::List { id, elements, optional } => self.list(*id, elements, optional),
            Step::Map { id, entries } => self.map(*id, entries),
            Step::Member { id, arg, set } => {
                let result = self.eval(arg).map(|value| Value::Bool(set.contains(&value)));
                self.observed(*id, result)
            }
            Step::OptionalOr { id, args: [one, two], unwrap } => {
                let result = match self.eval(one) {
                    Ok(Value::Optional(None)) => self.eval(two),
                    Ok(Value::Optional(Some(inner))) if *unwrap => Ok((*inner).clone()),
                    other => other,
                };
                self.observed(*id, result)
            }
            Step::Fold(fold) => self.fold(fold),
        }
    }

    /// Notes a result for the costs of what uses it.
    fn observed(&mut self, id: Id, result: Evaluated<'a>) -> Evaluated<'a> {
        if is_final(&result) {
            return result;
        }
        self.tracker.push(id, result.as_ref().ok())?;
        result
    }

    fn logic(&mut self, id: Id, terms: &'p [Step], decisive: bool) -> Evaluated<'a> {
        let mut first = None;
        let mut decided = false;
        for term in terms {
            match self.eval(term) {
                Ok(Value::Bool(value)) if value == decisive => {
                    decided = true;
                    break;
                }
                Ok(Value::Bool(_)) => {}
                Ok(_) => first = first.or(Some(Stop::Fault("no such overload".into()))),
                Err(stop) if stop.is_final() => return Err(stop),
                Err(stop) => first = first.or(Some(stop)),
            }
        }
        self.tracker.drop_each(terms.iter().map(Step::id));
        let result = match first {
            _ if decided => Ok(Value::Bool(decisive)),
            Some(stop) => Err(stop),
            None => Ok(Value::Bool(!decisive)),
        };
        self.observed(id, result)
    }

    fn equal(&mut self, id: Id, one: &'p Step, two: &'p Step, negated: bool) -> Evaluated<'a> {
        let (left, right) = self.both(one, two)?;
        let result = left.and_then(|left| {
            let right = right?;
            let same = compare::equal(&left, &right);
            if negated {
                return Ok(Value::Bool(same != Ok(true)));
            }
            Ok(Value::Bool(same?))
        });
        let function = if negated { "_!=_" } else { "_==_" };
        let overload = if negated { "not_equals" } else { "equals" };
        if let Some(args) = self.tracker.take_args(&[one.id(), two.id()]) {
            self.tracker.charge_call(function, Some(overload), &args, result.as_ref().ok())?;
        }
        self.observed(id, result)
    }

    /// Both operands are evaluated even when the first is at fault; only the limit stops at once.
    fn both(&mut self, one: &'p Step, two: &'p Step) -> Result<(Evaluated<'a>, Evaluated<'a>), Stop> {
        let left = self.eval(one);
        if is_final(&left) {
            return left.map(|_| (Ok(Value::Null), Ok(Value::Null)));
        }
        let right = self.eval(two);
        if is_final(&right) {
            return right.map(|_| (Ok(Value::Null), Ok(Value::Null)));
        }
        Ok((left, right))
    }

    fn call(&mut self, call: &'p Call) -> Evaluated<'a> {
        let result = self.call_result(call);
        if is_final(&result) {
            return result;
        }
        let ids: Vec<Id> = call.args.iter().map(Step::id).collect();
        if let Some(args) = self.tracker.take_args(&ids) {
            self.tracker.charge_call(call.function.name, call.overload, &args, result.as_ref().ok())?;
        }
        if call.accumulates {
            // What is being built must not be held elsewhere, or it could not be added to in place.
            self.tracker.push(call.id, None)?;
            return result;
        }
        self.observed(call.id, result)
    }

    fn call_result(&mut self, call: &'p Call) -> Evaluated<'a> {
        if call.accumulates
            && let [_, rest @ ..] = call.args.as_slice()
            && self.accumulates_collection()
        {
            return self.accumulate(call, rest);
        }
        let mut args: Vec<Value<'a>> = Vec::with_capacity(call.args.len());
        let mut failed = None;
        let eager = call::evaluates_all(call);
        for arg in &call.args {
            match self.eval(arg) {
                Ok(value) => args.push(value),
                Err(stop) if stop.is_final() => return Err(stop),
                Err(stop) if call.function.name == "@not_strictly_false" => {
                    let _ = stop;
                    return Ok(Value::Bool(true));
                }
                Err(stop) if eager => failed = failed.or(Some(stop)),
                Err(stop) => return Err(stop),
            }
        }
        match failed {
            Some(stop) => Err(stop),
            None => Ok(call::call(call, args)?),
        }
    }

    fn list(&mut self, id: Id, elements: &'p [Step], optional: &[bool]) -> Evaluated<'a> {
        let result = self.list_result(elements, optional);
        if is_final(&result) {
            return result;
        }
        let ids: Vec<Id> = elements.iter().map(Step::id).collect();
        self.tracker.take_args(&ids);
        self.tracker.charge(cost::LIST);
        self.observed(id, result)
    }

    fn list_result(&mut self, elements: &'p [Step], optional: &[bool]) -> Evaluated<'a> {
        let mut items = Vec::with_capacity(elements.len());
        for (element, optional) in elements.iter().zip(optional) {
            let value = self.eval(element)?;
            if !optional {
                items.push(value);
                continue;
            }
            match value {
                Value::Optional(inner) => items.extend(inner.map(|inner| (*inner).clone())),
                other => {
                    return fault(format!("cannot initialize optional list element from non-optional value {other}"));
                }
            }
        }
        Ok(Value::list(items))
    }

    fn map(&mut self, id: Id, entries: &'p [(Step, Step, bool)]) -> Evaluated<'a> {
        let result = self.map_result(entries);
        if is_final(&result) {
            return result;
        }
        let ids: Vec<Id> = entries.iter().flat_map(|(key, value, _)| [key.id(), value.id()]).collect();
        self.tracker.take_args(&ids);
        self.tracker.charge(cost::MAP);
        self.observed(id, result)
    }

    fn map_result(&mut self, entries: &'p [(Step, Step, bool)]) -> Evaluated<'a> {
        let mut made = Made::default();
        for (key, value, optional) in entries {
            let key = self.eval(key)?;
            let value = self.eval(value)?;
            if !optional {
                made.set(key, value);
                continue;
            }
            match value {
                Value::Optional(Some(inner)) => made.set(key, (*inner).clone()),
                Value::Optional(None) => made.remove(&key),
                other => {
                    return fault(format!("cannot initialize optional entry '{key}' from non-optional value {other}"));
                }
            }
        }
        Ok(Value::Map(Map::Made(std::sync::Arc::new(made))))
    }

    fn accumulate(&mut self, call: &'p Call, rest: &'p [Step]) -> Evaluated<'a> {
        // The accumulator is named first, and costs as any name.
        if let Some(first) = call.args.first() {
            self.tracker.charge(cost::NAME);
            self.tracker.push(first.id(), None)?;
        }
        let mut args = Vec::with_capacity(rest.len());
        let mut failed = None;
        for arg in rest {
            match self.eval(arg) {
                Ok(value) => args.push(value),
                Err(stop) if stop.is_final() => return Err(stop),
                Err(stop) => {
                    failed = Some(stop);
                    break;
                }
            }
        }
        let accumulated = self.take_accumulated()?;
        if let Some(stop) = failed {
            return Err(stop);
        }
        Ok(add_to(accumulated, args)?)
    }
}

/// Adds to a list or map, in place when nothing else holds it.
fn add_to<'a>(accumulated: Value<'a>, args: Vec<Value<'a>>) -> Outcome<'a> {
    match (accumulated, <[Value<'a>; 1]>::try_from(args)) {
        (Value::List(List { items: Items::Made(mut items), schema: None }), Ok([Value::List(more)])) => {
            let list = std::sync::Arc::make_mut(&mut items);
            for item in more.iter() {
                list.push(item?);
            }
            Ok(Value::List(List { items: Items::Made(items), schema: None }))
        }
        (Value::Map(Map::Made(mut map)), Ok([Value::Map(more)])) => {
            call::insert_all(&mut map, &more)?;
            Ok(Value::Map(Map::Made(map)))
        }
        (Value::Map(Map::Made(mut map)), Err(args)) => match <[Value<'a>; 2]>::try_from(args) {
            Ok([key, value]) => {
                call::insert(&mut map, key, value)?;
                Ok(Value::Map(Map::Made(map)))
            }
            Err(_) => crate::value::no_such_overload(),
        },
        _ => crate::value::no_such_overload(),
    }
}

impl crate::plan::Members {
    fn contains(&self, value: &Value<'_>) -> bool {
        match value {
            Value::Bool(value) => self.bools.contains(value),
            Value::Int(value) => self.ints.contains(value),
            Value::Uint(value) => self.uints.contains(value),
            Value::Double(value) => self.doubles.contains(&value.to_bits()),
            Value::String(text) => match text {
                Str::Owned(text) => self.texts.contains(text),
                Str::Borrowed(text) => self.texts.contains(*text),
            },
            _ => false,
        }
    }
}
