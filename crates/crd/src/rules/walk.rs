//! Rules over an object.

use rolewright_cel::{Answer, BUDGET, Evaluation, Input, PER_CALL_LIMIT};
use rolewright_core::quote::Quoted;
use rolewright_core::validate::{BadValue, ErrorKind, FieldError, Path};
use serde_json::{Map, Value};

use super::compile::{Compiled, Text};
use super::{Node, Verdict};
use crate::go::{self, Data};
use crate::ratchet::{MapList, same};
use crate::{Schema, schema};

/// Longer messages are not used.
const LONGEST_MESSAGE: usize = 5 * 1024;
const NO_BUDGET: &str = "validation failed due to running out of cost budget, no further validation rules will be run";

/// Evaluation ends: too much was spent.
struct Spent;

type Walked = Result<(), Spent>;

/// A value and the one it replaces.
#[derive(Clone, Copy)]
struct Pair<'a> {
    schema: Option<&'a Schema>,
    new: Input<'a>,
    old: Input<'a>,
}

/// What the value replaces, for telling what did not change.
#[derive(Clone, Copy, Default)]
struct Correlation<'a> {
    current: Option<Pair<'a>>,
    parent: Option<Pair<'a>>,
}

impl<'a> Correlation<'a> {
    /// Whether the value, or what is around it when nothing is known of it, is what it was.
    fn is_unchanged(self) -> bool {
        self.current
            .or(self.parent)
            .is_some_and(|pair| pair.schema.is_some_and(|schema| same(schema, data(pair.new), data(pair.old))))
    }

    fn key(self, name: &str) -> Self {
        let Some(pair) = self.current else { return self };
        if self.parent.is_none() && matches!(name, "apiVersion" | "kind") {
            return Self::default();
        }
        let below = || {
            let (new, old) = (pair.new.as_object()?.get(name)?, pair.old.as_object()?.get(name)?);
            Some(Pair { schema: Some(pair.schema?.field(name)?), new: new.into(), old: old.into() })
        };
        Self { current: below(), parent: Some(pair) }
    }

    fn item(self, new: Input<'a>, old: Option<Input<'a>>) -> Self {
        let Some(pair) = self.current else { return self };
        let below = || Some(Pair { schema: Some(pair.schema?.items()?), new, old: old? });
        Self { current: below(), parent: Some(pair) }
    }
}

fn data(input: Input<'_>) -> Data<'_> {
    match input {
        Input::Value(value) => value.into(),
        Input::Object(fields) => fields.into(),
    }
}

fn is_null(input: Input<'_>) -> bool {
    matches!(input, Input::Value(Value::Null))
}

struct Walk {
    verdict: Verdict,
    budget: u64,
}

pub(super) fn judge(root: &Node, schema: &Schema, new: Input<'_>, old: Option<Input<'_>>) -> Verdict {
    let mut walk = Walk { verdict: Verdict::default(), budget: BUDGET };
    let current = old.map(|old| Pair { schema: Some(schema), new, old });
    let correlation = Correlation { current, parent: None };
    // Nothing is left to do once the budget is spent: the errors say so.
    let _ = walk.value(root, Some(schema), (new, old), correlation, Path::Root);
    walk.verdict
}

impl Walk {
    fn value(
        &mut self,
        node: &Node,
        schema: Option<&Schema>,
        (new, old): (Input<'_>, Option<Input<'_>>),
        correlation: Correlation<'_>,
        at: Path<'_>,
    ) -> Walked {
        if is_null(new) {
            return Ok(());
        }
        let old = old.filter(|old| !is_null(*old));
        self.rules(node, (new, old), correlation, at)?;
        for clause in &node.all_of {
            let around = Correlation { current: None, parent: correlation.parent };
            self.value(clause, schema, (new, old), around, at)?;
        }
        match (new, new.as_object()) {
            (_, Some(fields)) => self.fields(node, schema, fields, old, correlation, at),
            (Input::Value(Value::Array(items)), _) => self.items(node, schema, items, old, correlation, at),
            _ => Ok(()),
        }
    }

    fn items(
        &mut self,
        node: &Node,
        schema: Option<&Schema>,
        items: &[Value],
        old: Option<Input<'_>>,
        correlation: Correlation<'_>,
        at: Path<'_>,
    ) -> Walked {
        let Some(below) = &node.items else { return Ok(()) };
        let by_key = schema.zip(old).and_then(|(schema, old)| MapList::of(schema, data(old)));
        for (index, item) in items.iter().enumerate() {
            let old = by_key.as_ref().and_then(|by_key| by_key.get(item)).map(Input::from);
            let item = Input::from(item);
            let items_schema = schema.and_then(Schema::items);
            self.value(below, items_schema, (item, old), correlation.item(item, old), at.index(index))?;
        }
        Ok(())
    }

    fn fields(
        &mut self,
        node: &Node,
        schema: Option<&Schema>,
        fields: &Map<String, Value>,
        old: Option<Input<'_>>,
        correlation: Correlation<'_>,
        at: Path<'_>,
    ) -> Walked {
        let is_correlatable = schema
            .and_then(Schema::map_type)
            .is_none_or(|kind| matches!(kind, schema::MapType::Granular | schema::MapType::Atomic));
        let old = old.filter(|_| is_correlatable).and_then(Input::as_object);
        let mut names: Vec<&String> = fields.keys().collect();
        names.sort();
        for name in names {
            let Some(value) = fields.get(name) else { continue };
            let pair = (value.into(), old.and_then(|old| old.get(name)).map(Input::from));
            if let Some(below) = &node.values {
                self.value(below, schema.and_then(Schema::values), pair, correlation.key(name), at.key(name))?;
            }
            if let Some(below) = node.properties.get(name) {
                let schema = schema.and_then(|schema| schema.property(name));
                self.value(below, schema, pair, correlation.key(name), at.child(name))?;
            }
        }
        Ok(())
    }

    fn invalid(&mut self, node: &Node, at: Path<'_>, detail: String) {
        self.verdict.errors.push(FieldError::invalid(at, node.kind.as_str(), detail));
    }

    fn rules(
        &mut self,
        node: &Node,
        (new, old): (Input<'_>, Option<Input<'_>>),
        correlation: Correlation<'_>,
        at: Path<'_>,
    ) -> Walked {
        if let Some(why) = node.broken {
            self.invalid(node, at, format!("rule compiler initialization error: {why}"));
            return Ok(());
        }
        if node.rules.is_empty() {
            return Ok(());
        }
        if self.budget == 0 {
            self.invalid(node, at, NO_BUDGET.to_owned());
            return Err(Spent);
        }
        let knows_old = node.rules.iter().any(|rule| rule.uses_old);
        for rule in &node.rules {
            if let Some(why) = &rule.fault {
                self.invalid(node, at, format!("rule compile error: {why}"));
                continue;
            }
            let Some(program) = &rule.program else { continue };
            if rule.uses_old && old.is_none() && !rule.optional_old {
                continue;
            }
            let Evaluation { result, cost } = program.eval(&[Some(new), old], PER_CALL_LIMIT);
            if !self.spend(cost) {
                self.invalid(node, at, NO_BUDGET.to_owned());
                return Err(Spent);
            }
            match result {
                Ok(Answer::Bool(true)) => {}
                Ok(_) => {
                    let old = old.filter(|_| knows_old);
                    self.failed(node, rule, (new, old), correlation, at)?;
                }
                Err(error) => {
                    let (message, name) = (error.message, rule.text.shown());
                    if error.too_expensive {
                        let why = "no further validation rules will be run due to call cost exceeds limit for rule";
                        self.invalid(node, at, format!("'{message}': {why}: {name}"));
                        return Err(Spent);
                    }
                    self.invalid(
                        node,
                        at,
                        if message.starts_with("no such overload") {
                            format!(
                                "'{message}': call arguments did not match a supported operator, function or macro \
                             signature for rule: {name}"
                            )
                        } else {
                            format!("{message} evaluating rule: {name}")
                        },
                    );
                }
            }
        }
        Ok(())
    }

    fn spend(&mut self, cost: u64) -> bool {
        match self.budget.checked_sub(cost) {
            Some(rest) => {
                self.budget = rest;
                true
            }
            None => false,
        }
    }

    /// Tells of a rule that does not hold.
    fn failed(
        &mut self,
        node: &Node,
        rule: &Compiled,
        (new, old): (Input<'_>, Option<Input<'_>>),
        correlation: Correlation<'_>,
        at: Path<'_>,
    ) -> Walked {
        let at = rule.field.as_ref().map_or(at, |field| at.child(field));
        let is_ratcheted = !rule.uses_old && correlation.is_unchanged();
        let (detail, spent) = match self.message(rule, new, old) {
            Ok(message) => (message.unwrap_or_else(|| rule.text.detail()), false),
            Err(why) => (why, true),
        };
        let error = if spent {
            FieldError::invalid(at, node.kind.as_str(), detail)
        } else {
            let value = (!matches!(node.kind.as_str(), "object" | "array")).then(|| go::shown(data(new)));
            by_reason(rule.text.reason.as_deref(), at, value, detail)
        };
        if is_ratcheted {
            self.verdict.warnings.push(error.to_string());
        } else {
            self.verdict.errors.push(error);
        }
        if spent { Err(Spent) } else { Ok(()) }
    }

    /// The computed message, when there is one to use; the error ends evaluation.
    fn message(&mut self, rule: &Compiled, new: Input<'_>, old: Option<Input<'_>>) -> Result<Option<String>, String> {
        let Some(program) = &rule.message_program else { return Ok(None) };
        let Evaluation { result, cost } = program.eval_plain(&[Some(new), old], PER_CALL_LIMIT);
        if !self.spend(cost) {
            return Err(
                "messageExpression evaluation failed due to running out of cost budget, no further validation \
                        rules will be run"
                    .to_owned(),
            );
        }
        match result {
            Ok(Answer::String(text)) => {
                let text = text.trim();
                let usable = !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
                Ok(usable.then(|| text.to_owned()))
            }
            Err(error) if error.too_expensive => Err(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {}",
                Quoted(&rule.text.message_expression)
            )),
            _ => Ok(None),
        }
    }
}

fn by_reason(reason: Option<&str>, at: Path<'_>, value: Option<BadValue>, detail: String) -> FieldError {
    match reason {
        Some("FieldValueForbidden") => FieldError::forbidden(at, detail),
        Some("FieldValueRequired") => FieldError::required(at, detail),
        Some("FieldValueDuplicate") => {
            FieldError { kind: ErrorKind::Duplicate, field: at.to_string(), value, detail: String::new() }
        }
        _ => FieldError { kind: ErrorKind::Invalid, field: at.to_string(), value, detail },
    }
}

impl Text {
    /// How errors name the rule.
    fn shown(&self) -> &str {
        if self.message.is_empty() { self.rule.trim() } else { self.message.trim() }
    }

    /// What is said when the rule does not hold.
    fn detail(&self) -> String {
        if self.message.is_empty() { format!("failed rule: {}", self.shown()) } else { self.message.trim().to_owned() }
    }
}
