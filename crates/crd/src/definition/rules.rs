//! Rules in the schemas of a definition: `x-kubernetes-validations`.

use rolewright_core::validate::{BadValue, ErrorKind, FieldError, Path};
use serde_json::Value;

use super::faults::Faults;
use super::field_path::follow;
use super::props::Props;
use super::read::{self, Object};
use super::{shown, structural};

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// The most that one rule may be estimated to cost.
const RULE_MAX: u64 = 10_000_000;
/// The most that all rules of a schema may be estimated to cost.
const SCHEMA_MAX: u64 = 100_000_000;
/// So many of the most expensive rules are named.
const NAMED_MAX: usize = 4;

/// Everything about rules but their expressions.
pub(super) fn check_texts(faults: &mut Faults, schema: Props<'_>, at: Path<'_>) {
    let at = at.child("x-kubernetes-validations");
    let mut is_readable = None;
    for (i, rule) in schema.rules().enumerate() {
        if faults.is_full() {
            return;
        }
        let at = at.index(i);
        check_messages(faults, rule, at);
        let path = read::text(rule, "fieldPath");
        if !path.is_empty() && trim(path).is_empty() {
            faults.invalid(at.child("fieldPath"), path, "must be non-empty if specified");
        }
        if has_breaks(path) {
            faults.invalid(at.child("fieldPath"), path, "must not contain line breaks");
        }
        if !path.is_empty()
            && *is_readable.get_or_insert_with(|| structural::unreadable(schema).is_none())
            && follow(path, schema, true).is_err()
        {
            faults.invalid(at.child("fieldPath"), path, "must be a valid path");
        }
    }
}

fn check_messages(faults: &mut Faults, rule: &Object, at: Path<'_>) {
    let message = read::text(rule, "message");
    let (expression, said) = (trim(read::text(rule, "rule")), trim(message));
    if expression.is_empty() {
        faults.required(at.child("rule"), "rule is not specified");
    } else if !message.is_empty() && said.is_empty() {
        faults.invalid(at.child("message"), message, "must be non-empty if specified");
    } else if has_breaks(said) {
        faults.invalid(at.child("message"), message, "must not contain line breaks");
    } else if has_breaks(expression) && said.is_empty() {
        faults.required(at.child("message"), "message must be specified if rule contains line breaks");
    }
    let computed = read::text(rule, "messageExpression");
    if !computed.is_empty() && trim(computed).is_empty() {
        faults.required(at.child("messageExpression"), "messageExpression must be non-empty if specified");
    }
    if let Some(reason) = rule.get("reason").and_then(Value::as_str).filter(|reason| !REASONS.contains(reason)) {
        faults.not_supported(at.child("reason"), BadValue::typed_text(reason), &REASONS);
    }
}

/// Go trims what Unicode counts as white space.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace())
}

fn has_breaks(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// How often the value of a schema can be in an object; none without bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    times: Option<u64>,
}

impl Scope {
    pub(super) fn root(_: Props<'_>) -> Self {
        Self { times: Some(1) }
    }

    /// The same for a schema below `parent`.
    pub(super) fn child(self, parent: Props<'_>, _: Props<'_>) -> Self {
        let limit = |key: &str| {
            let limit = parent.0.get(key).and_then(Value::as_i64)?;
            Some(u64::try_from(limit).unwrap_or_default())
        };
        let most = match parent.kind() {
            "object" if parent.additional().is_some() => limit("maxProperties"),
            "array" => limit("maxItems"),
            _ => Some(1),
        };
        Self { times: self.times.zip(most).map(|(times, most)| times.saturating_mul(most)) }
    }
}

/// What all rules of a schema cost.
#[derive(Debug)]
pub(super) struct Budget {
    any_cost: bool,
    total: u64,
    most_expensive: Vec<(u64, String)>,
}

impl Budget {
    pub(super) fn new(any_cost: bool) -> Self {
        Self { any_cost, total: 0, most_expensive: Vec::new() }
    }

    fn spend(&mut self, cost: u64, at: Path<'_>) {
        self.total = self.total.saturating_add(cost);
        if cost < SCHEMA_MAX / 100 {
            return;
        }
        self.most_expensive.push((cost, at.to_string()));
        self.most_expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        self.most_expensive.truncate(NAMED_MAX);
    }

    /// Says so if they cost too much.
    pub(super) fn tell(self, faults: &mut Faults, at: Path<'_>) {
        if self.total <= SCHEMA_MAX {
            return;
        }
        let why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        for (_, field) in self.most_expensive {
            faults.push(FieldError { kind: ErrorKind::Forbidden, field, value: None, detail: why.to_owned() });
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        faults.forbidden(at, too_expensive(what, self.total, SCHEMA_MAX));
    }
}

/// The rules of one schema.
pub(super) struct Rules<'a> {
    pub(super) schema: Props<'a>,
    /// Its values have what every object has.
    pub(super) is_resource: bool,
    /// The list above whose old and new items cannot be told apart.
    pub(super) uncorrelatable: Option<Path<'a>>,
}

/// What compiling a rule found.
pub(super) struct Compiled {
    /// What is wrong with the rule: whether it is missing, and why.
    pub(super) fault: Option<(bool, String)>,
    pub(super) message_fault: Option<String>,
    pub(super) cost: u64,
    /// How often the value can be, judged by its own size.
    pub(super) times: u64,
    /// The cost of the expression for the message, if there is one.
    pub(super) message_cost: Option<u64>,
    pub(super) uses_old: bool,
}

impl Rules<'_> {
    pub(super) fn check(&self, faults: &mut Faults, budget: &mut Budget, scope: Scope, at: Path<'_>) {
        let at = at.child("x-kubernetes-validations");
        let compiled = match compile(self.schema, self.is_resource) {
            Ok(compiled) => compiled,
            Err(why) => {
                return faults.push(FieldError {
                    kind: ErrorKind::Internal,
                    field: at.to_string(),
                    value: None,
                    detail: why,
                });
            }
        };
        for (i, (rule, compiled)) in self.schema.rules().zip(compiled).enumerate() {
            if faults.is_full() {
                return;
            }
            self.check_one(faults, budget, scope, (rule, compiled), at.index(i));
        }
    }

    fn check_one(
        &self,
        faults: &mut Faults,
        budget: &mut Budget,
        scope: Scope,
        (rule, compiled): (&Object, Compiled),
        at: Path<'_>,
    ) {
        let cost = compiled.cost.saturating_mul(scope.times.unwrap_or(compiled.times));
        if !budget.any_cost && cost > RULE_MAX {
            faults.forbidden(at.child("rule"), too_expensive("estimated rule cost", cost, RULE_MAX));
        }
        budget.spend(cost, at.child("rule"));
        match compiled.fault {
            Some((true, why)) => faults.required(at.child("rule"), why),
            Some((false, why)) => faults.invalid(at.child("rule"), shown::rule(rule), why),
            None => {}
        }
        if let Some(why) = compiled.message_fault {
            faults.invalid(at.child("messageExpression"), shown::rule(rule), why);
        } else if let Some(cost) = compiled.message_cost {
            if !budget.any_cost && cost > RULE_MAX {
                let why = too_expensive("estimated messageExpression cost", cost, RULE_MAX);
                faults.forbidden(at.child("messageExpression"), why);
            }
            budget.spend(cost, at.child("messageExpression"));
        }
        let optional = rule.get("optionalOldSelf").and_then(Value::as_bool);
        match (compiled.uses_old, self.uncorrelatable, optional) {
            (true, Some(above), _) => {
                let why = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {above}");
                faults.invalid(at.child("rule"), read::text(rule, "rule"), why);
            }
            (false, _, Some(optional)) => {
                let why = "may not be set if oldSelf is not used in rule";
                faults.invalid(at.child("optionalOldSelf"), BadValue::Json(optional.to_string()), why);
            }
            _ => {}
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a factor is told with few digits")]
fn too_expensive(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}

/// Compiles the rules of a schema.
fn compile(schema: Props<'_>, is_resource: bool) -> Result<Vec<Compiled>, String> {
    let compiled = crate::rules::compile(schema.0, is_resource)?;
    let told = compiled.into_iter().map(|rule| Compiled {
        fault: rule.fault.map(|why| (false, why)),
        message_fault: rule.message_fault,
        cost: rule.cost,
        times: rule.times,
        message_cost: rule.message_cost,
        uses_old: rule.uses_old,
    });
    Ok(told.collect())
}
