//! Compiled expressions.

use serde_json::{Map as Fields, Value as Json};

use crate::checker::{Checked, check};
use crate::cost::{Cost, estimate};
use crate::env::Env;
use crate::eval::{Binding, Evaluator, Stop, TOO_EXPENSIVE};
use crate::parser::{Parsed, parse};
use crate::plan::{Step, plan};
use crate::room::{FLAT_STEPS, may_be_deep, with_room};
use crate::schema::Schema;
use crate::source::Issues;
use crate::types::Type;
use crate::value::{Outcome, Value, json};

/// One evaluation may cost this much.
pub const PER_CALL_LIMIT: u64 = 1_000_000;
/// All evaluations for one object may cost this much.
pub const BUDGET: u64 = 10_000_000;

/// A well-typed expression.
#[derive(Debug)]
pub struct Checking {
    parsed: Parsed,
    checked: Checked,
    env: Env,
    deep: bool,
}

/// An expression that can be evaluated.
#[derive(Debug)]
pub struct Program {
    step: Step,
    env: Env,
    deep: bool,
}

impl Env {
    /// Reads an expression and checks its types.
    pub fn check(&self, text: &str) -> Result<Checking, Issues> {
        let deep = may_be_deep(text);
        with_room(deep, || {
            let mut parsed = parse(text)?;
            let checked = check(&mut parsed, self)?;
            Ok(Checking { parsed, checked, env: self.clone(), deep })
        })
    }
}

impl Checking {
    /// The type of the expression's value.
    pub fn output_type(&self) -> &Type {
        self.checked.type_of(self.parsed.expr.id)
    }

    /// Whether the expression refers to a variable.
    pub fn refers_to(&self, name: &str) -> bool {
        self.checked.refers_to(name)
    }

    /// The least and most an evaluation is estimated to cost.
    pub fn cost_range(&self) -> (u64, u64) {
        let root = self.env.variables.first().map(|variable| &variable.schema);
        let Cost { min, max } = with_room(self.deep, || estimate(&self.parsed.expr, &self.checked, root));
        (min, max)
    }

    /// Makes the expression ready to evaluate; constants that cannot be computed are an error.
    pub fn program(&self) -> Result<Program, String> {
        with_room(self.deep, || {
            let step = plan(&self.parsed.expr, &self.checked).map_err(|fault| fault.to_string())?;
            let deep = self.deep && step.depth() > FLAT_STEPS;
            Ok(Program { step, env: self.env.clone(), deep })
        })
    }
}

/// The value of a variable.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Any JSON.
    Value(&'a Json),
    /// The fields of an object.
    Object(&'a Fields<String, Json>),
}

impl<'a> From<&'a Json> for Input<'a> {
    fn from(value: &'a Json) -> Self {
        Self::Value(value)
    }
}

impl<'a> From<&'a Fields<String, Json>> for Input<'a> {
    fn from(fields: &'a Fields<String, Json>) -> Self {
        Self::Object(fields)
    }
}

impl<'a> Input<'a> {
    /// The fields, when it is an object.
    pub fn as_object(self) -> Option<&'a Fields<String, Json>> {
        match self {
            Self::Value(value) => value.as_object(),
            Self::Object(fields) => Some(fields),
        }
    }

    fn read(self, schema: &'a Schema) -> Outcome<'a> {
        match self {
            Self::Value(value) => json::value(value, schema),
            Self::Object(fields) => json::object(fields, schema),
        }
    }
}

/// How an evaluation went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The answer, or what went wrong.
    pub result: Result<Answer, EvalError>,
    /// What it cost.
    pub cost: u64,
}

/// The value of an expression, as far as rules look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A truth value.
    Bool(bool),
    /// A text.
    String(String),
    /// Anything else: its type, and its value as text.
    Other(String, String),
}

/// Why an evaluation has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError {
    /// What went wrong.
    pub message: String,
    /// Whether it cost too much.
    pub too_expensive: bool,
}

impl Program {
    /// Evaluates over values of the variables, in their order; none for an optional variable without a value.
    pub fn eval(&self, values: &[Option<Input<'_>>], limit: u64) -> Evaluation {
        self.run(values, limit, true)
    }

    /// The same, with the values of optional variables as they are: Kubernetes evaluates messages so.
    pub fn eval_plain(&self, values: &[Option<Input<'_>>], limit: u64) -> Evaluation {
        self.run(values, limit, false)
    }

    fn run(&self, values: &[Option<Input<'_>>], limit: u64, wrap: bool) -> Evaluation {
        with_room(self.deep, || self.run_here(values, limit, wrap))
    }

    fn run_here(&self, values: &[Option<Input<'_>>], limit: u64, wrap: bool) -> Evaluation {
        let bindings = self.env.variables.iter().zip(values).map(|(variable, value)| {
            let value: Outcome<'_> = match (value.as_ref(), variable.optional && wrap) {
                (Some(input), false) => input.read(&variable.schema),
                (Some(input), true) => input.read(&variable.schema).map(Value::some),
                (None, true) => Ok(Value::Optional(None)),
                (None, false) => return None,
            };
            Some(Binding { name: variable.name.clone(), value })
        });
        let (result, cost) = Evaluator::new(bindings.flatten().collect(), limit).run(&self.step);
        let result = match result {
            Ok(value) => Ok(answer(&value)),
            Err(Stop::TooExpensive) => Err(EvalError { message: TOO_EXPENSIVE.to_owned(), too_expensive: true }),
            Err(Stop::Broken(text)) => Err(EvalError { message: text.to_owned(), too_expensive: false }),
            Err(Stop::Fault(fault)) => Err(EvalError { message: fault.to_string(), too_expensive: false }),
        };
        Evaluation { result, cost }
    }
}

fn answer(value: &Value<'_>) -> Answer {
    match value {
        Value::Bool(value) => Answer::Bool(*value),
        Value::String(text) => Answer::String(text.to_string()),
        other => Answer::Other(other.type_name().to_string(), told(other)),
    }
}

/// A value as text, with maps in the order of their keys.
fn told(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => crate::value::text::quoted(text),
        Value::List(list) => {
            let items: Vec<String> =
                list.iter().map(|item| item.map_or_else(|fault| fault.to_string(), |item| told(&item))).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entry = |(key, value): (Value<'_>, Outcome<'_>)| {
                let value = value.map_or_else(|fault| fault.to_string(), |value| told(&value));
                format!("{}: {value}", told(&key))
            };
            let mut entries: Vec<String> = map.entries().into_iter().map(entry).collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Optional(Some(inner)) => format!("optional({})", told(inner)),
        other => other.to_string(),
    }
}
