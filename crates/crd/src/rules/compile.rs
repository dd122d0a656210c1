//! One rule: its expressions, what they may cost, and what is wrong with them.

use std::sync::Arc;

use rolewright_cel::{self as cel, Env, Program, Type, Variable};
use serde_json::{Map, Value};

use crate::definition::field_text;

/// Objects of requests up to this many bytes are reckoned with.
const LARGEST_REQUEST: u64 = 3 * 1024 * 1024;

/// A rule, compiled.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// What is wrong with its expression.
    pub(crate) fault: Option<String>,
    /// What is wrong with the expression of its message.
    pub(crate) message_fault: Option<String>,
    /// The most one evaluation is estimated to cost.
    pub(crate) cost: u64,
    /// How often the value can be in an object, judged by its own size.
    pub(crate) times: u64,
    /// The most the message is estimated to cost, if it is computed.
    pub(crate) message_cost: Option<u64>,
    /// Whether the rule looks at the old value.
    pub(crate) uses_old: bool,
    /// None when the rule is empty or wrong.
    pub(super) program: Option<Program>,
    pub(super) message_program: Option<Program>,
    pub(super) text: Text,
    pub(super) optional_old: bool,
    /// Where errors are told, below the value.
    pub(super) field: Option<String>,
}

/// The texts of a rule.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) rule: String,
    pub(super) message: String,
    pub(super) message_expression: String,
    pub(super) reason: Option<String>,
}

/// Compiles the rules of a node of a structural schema. The error is for a schema that rules cannot use.
pub(crate) fn compile(schema: &Map<String, Value>, is_root: bool) -> Result<Vec<Compiled>, String> {
    let declared = cel::Schema::structural(&Value::Object(schema.clone()), is_root);
    if !declared.is_typed() {
        return Err("internal error: failed to construct type information for x-kubernetes-validations rules: unable \
                    to convert structural schema to CEL declarations"
            .to_owned());
    }
    Ok(rules(schema, schema, &declared))
}

/// The rules of `rules` over values of `schema`.
pub(super) fn rules(
    rules: &Map<String, Value>,
    schema: &Map<String, Value>,
    declared: &Arc<cel::Schema>,
) -> Vec<Compiled> {
    let own = rules.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    let this = Variable::new("self", declared);
    let plain = Env::new(vec![this.clone(), Variable::new("oldSelf", declared)]);
    let optional = Env::new(vec![this, Variable::optional("oldSelf", declared)]);
    let times = LARGEST_REQUEST / u64::try_from(declared.min_size().saturating_add(1)).unwrap_or(1).max(1);
    own.map(|rule| {
        let is_optional = rule.get("optionalOldSelf").and_then(Value::as_bool).unwrap_or(false);
        one(rule, schema, if is_optional { &optional } else { &plain }, is_optional, times)
    })
    .collect()
}

fn one(rule: &Value, schema: &Map<String, Value>, env: &Env, optional_old: bool, times: u64) -> Compiled {
    let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut compiled = Compiled {
        fault: None,
        message_fault: None,
        cost: 0,
        times: 0,
        message_cost: None,
        uses_old: false,
        program: None,
        message_program: None,
        text: Text {
            rule: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: rule.get("reason").and_then(Value::as_str).map(str::to_owned),
        },
        optional_old,
        field: None,
    };
    if compiled.text.rule.trim().is_empty() {
        return compiled;
    }
    match expression(&compiled.text.rule, env, &Type::Bool) {
        Err((why, uses_old)) => {
            compiled.fault = Some(match why {
                Wrong::Issues(issues) => format!("compilation failed: {issues}"),
                Wrong::Type => "cel expression must evaluate to a bool".to_owned(),
                Wrong::Instantiation(why) => format!("program instantiation failed: {why}"),
            });
            compiled.uses_old = uses_old;
            return compiled;
        }
        Ok(Expression { program, cost, uses_old }) => {
            (compiled.program, compiled.cost, compiled.uses_old) = (Some(program), cost, uses_old);
            compiled.times = times;
        }
    }
    if !compiled.text.message_expression.is_empty() {
        match expression(&compiled.text.message_expression, env, &Type::String) {
            Err((why, _)) => {
                compiled.message_fault = Some(match why {
                    Wrong::Issues(issues) => format!("messageExpression compilation failed: {issues}"),
                    Wrong::Type => "messageExpression must evaluate to a string".to_owned(),
                    Wrong::Instantiation(why) => format!("messageExpression instantiation failed: {why}"),
                });
                return compiled;
            }
            Ok(Expression { program, cost, .. }) => {
                (compiled.message_program, compiled.message_cost) = (Some(program), Some(cost));
            }
        }
    }
    let path = text("fieldPath");
    if !path.is_empty() {
        compiled.field = field_text(&path, schema).filter(|field| !field.is_empty());
    }
    compiled
}

struct Expression {
    program: Program,
    cost: u64,
    uses_old: bool,
}

enum Wrong {
    Issues(String),
    Type,
    Instantiation(String),
}

/// Compiles an expression of a type; when it is wrong, whether it was seen to look at the old value.
fn expression(text: &str, env: &Env, wanted: &Type) -> Result<Expression, (Wrong, bool)> {
    let checking = env.check(text).map_err(|issues| (Wrong::Issues(issues.to_string()), false))?;
    if checking.output_type() != wanted {
        return Err((Wrong::Type, false));
    }
    let uses_old = checking.refers_to("oldSelf");
    let program = checking.program().map_err(|why| (Wrong::Instantiation(why), uses_old))?;
    Ok(Expression { program, cost: checking.cost_range().1, uses_old })
}
