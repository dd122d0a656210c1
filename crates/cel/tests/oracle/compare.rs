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

pub(crate) fn compare(oracle: &mut Oracle, cases: &[Case]) -> Result<()> {
    let mut differences = Vec::new();
    for chunk in cases.chunks(200) {
        let items: Vec<Value> = chunk
            .iter()
            .map(|case| {
                json!({
                    "schema": case.schema, "root": case.root, "expression": case.expression, "self": case.value,
                    "oldSelf": case.old, "optional": case.optional,
                })
            })
            .collect();
        let answer: Value = oracle.ask("cel", json!({"items": items}))?;
        for (case, theirs) in chunk.iter().zip(answer["results"].as_array().unwrap()) {
            let (ours, theirs) = (settled(ours(case)), settled(theirs.clone()));
            if ours != theirs {
                differences.push(format!("{}\n  ours:   {ours}\n  theirs: {theirs}", case.expression));
            }
        }
    }
    if !differences.is_empty() {
        let shown: Vec<&str> = differences.iter().map(String::as_str).take(60).collect();
        bail!("{} of {} differ:\n{}", differences.len(), cases.len(), shown.join("\n"));
    }
    Ok(())
}
