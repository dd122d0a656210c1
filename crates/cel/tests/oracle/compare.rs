//! Asking both, and telling where they differ.
use anyhow::{Result, bail};
use rolewright_cel::{Answer, Env, PER_CALL_LIMIT, Schema, Variable};
use rolewright_testkit::oracle::Oracle;
use serde_json::{Value, json};

/// An expression over `self` and `oldSelf` of a schema.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) root: bool,
    pub(crate) expression: String,
    pub(crate) value: Value,
    pub(crate) old: Option<Value>,
    pub(crate) optional: bool,
}

/// How often cel-go is asked again where it may answer one way or another.
const ORDERS: usize = 40;

/// What is compared, in the oracle's form.
fn ours(case: &Case) -> Value {
    let schema = Schema::structural(&case.schema, case.root);
    let old = if case.optional { Variable::optional } else { Variable::new };
    let env = Env::new(vec![Variable::new("self", &schema), old("oldSelf", &schema)]);
    let checking = match env.check(&case.expression) {
        Ok(checking) => checking,
        Err(issues) => return json!({"issues": issues.to_string(), "minCost": 0, "maxCost": 0, "cost": 0}),
    };
    let kind = checking.output_type().to_string();
    let program = match checking.program() {
        Ok(program) => program,
        Err(error) => return json!({"type": kind, "instantiation": error, "minCost": 0, "maxCost": 0, "cost": 0}),
    };
    let (min, max) = checking.cost_range();
    let done = program.eval(&[Some((&case.value).into()), case.old.as_ref().map(Into::into)], PER_CALL_LIMIT);
    let mut told = json!({"type": kind, "minCost": min, "maxCost": max, "cost": done.cost});
    let fields = match done.result {
        Ok(Answer::Bool(value)) => json!({"kind": "bool", "value": value.to_string()}),
        Ok(Answer::String(value)) => json!({"kind": "string", "value": value}),
        Ok(Answer::Other(kind, value)) => json!({"kind": kind, "value": value}),
        Err(error) => json!({"fault": error.message}),
    };
    let fields = fields.as_object().unwrap().clone();
    told.as_object_mut().unwrap().extend(fields.into_iter().filter(|(_, value)| value != ""));
    told
}

/// Names of type variables depend on the order of a Go map.
fn settled(mut told: Value) -> Value {
    if let Some(issues) = told.get("issues").and_then(Value::as_str) {
        let mut text = String::new();
        let mut rest = issues;
        while let Some(at) = rest.find("_var") {
            text.push_str(&rest[..at + 4]);
            rest = rest[at + 4..].trim_start_matches(|char: char| char.is_ascii_digit());
        }
        text.push_str(rest);
        told["issues"] = json!(text);
    }
    told
}

/// What cel-go answers to each.
fn theirs<'a>(oracle: &mut Oracle, cases: impl Iterator<Item = &'a Case>) -> Result<Vec<Value>> {
    let item = |case: &Case| {
        json!({"schema": case.schema, "root": case.root, "expression": case.expression, "self": case.value,
            "oldSelf": case.old, "optional": case.optional})
    };
    let answer: Value = oracle.ask("cel", json!({"items": cases.map(item).collect::<Vec<_>>()}))?;
    Ok(answer["results"].as_array().unwrap().iter().cloned().map(settled).collect())
}

/// Whether cel-go got stuck in a mistake of its own, where we fail as well.
fn is_stuck(ours: &Value, theirs: &Value) -> bool {
    let panics = |fault: &str| fault.starts_with("internal error: interface conversion");
    theirs["fault"].as_str().is_some_and(panics)
        && ours["fault"].is_string()
        && ["type", "minCost", "maxCost"].iter().all(|field| ours[field] == theirs[field])
}

pub(crate) fn compare(oracle: &mut Oracle, cases: &[Case]) -> Result<()> {
    let mut differences = Vec::new();
    for chunk in cases.chunks(200) {
        for (case, answer) in chunk.iter().zip(theirs(oracle, chunk.iter())?) {
            let ours = settled(ours(case));
            if ours == answer || is_stuck(&ours, &answer) {
                continue;
            }
            // Go walks the maps that an expression makes in any order.
            if !theirs(oracle, std::iter::repeat_n(case, ORDERS))?.contains(&ours) {
                differences.push(format!("{}\n  ours:   {ours}\n  theirs: {answer}", case.expression));
            }
        }
    }
    if !differences.is_empty() {
        let shown: Vec<&str> = differences.iter().map(String::as_str).take(60).collect();
        bail!("{} of {} differ:\n{}", differences.len(), cases.len(), shown.join("\n"));
    }
    Ok(())
}
