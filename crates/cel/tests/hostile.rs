//! Expressions that are meant to hurt: they end, and in an error.
#![cfg(test)]

use rolewright_cel::{Answer, Env, PER_CALL_LIMIT, Schema, Variable};
use serde_json::{Value, json};

fn env() -> Env {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "list": {"type": "array", "items": {"type": "integer"}},
            "tree": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}},
        },
    });
    Env::new(vec![Variable::new("self", &Schema::structural(&schema, false))])
}

fn issues(text: &str) -> String {
    env().check(text).map_or_else(|issues| issues.to_string(), |_| String::new())
}

fn answer(text: &str, value: &Value) -> Result<Answer, String> {
    let checking = env().check(text).map_err(|issues| issues.to_string())?;
    let done = checking.program()?.eval(&[Some(value.into())], PER_CALL_LIMIT);
    assert!(done.cost <= PER_CALL_LIMIT + 2_100_000 * 4, "{}", done.cost);
    done.result.map_err(|error| error.message)
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, close: &str, count: usize| format!("{}1{}", open.repeat(count), close.repeat(count));
    let limit = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{1: ", "}"), ("size(", ")"), ("self.f(", ")"), ("(1 + ", ")"), ("1 ? 2 : ", "")]
    {
        assert!(issues(&deep(open, close, 100_000 / (open.len() + close.len()) - 1)).starts_with(limit), "{open}");
        // As deep as may be is no error of the parser.
        assert!(!issues(&deep(open, close, 60)).contains("recursion"), "{open}");
    }
    for chain in [" + 1", " == 1", ".a", "[0]", ".a()", " * 2"] {
        let deep = "ERROR: <input>:-1:0: max recursion depth exceeded";
        assert_eq!(issues(&format!("1{}", chain.repeat(4000))), deep, "{chain}");
    }
    // Terms of `&&` are no nesting: they are balanced.
    assert_eq!(answer(&vec!["true"; 9000].join(" && "), &json!({})), Ok(Answer::Bool(true)));
    assert_eq!(answer(&format!("{}true", "!".repeat(50_000)), &json!({})), Ok(Answer::Bool(true)));
    assert_eq!(answer(&format!("{}1 == 1", "-".repeat(50_000)), &json!({})), Ok(Answer::Bool(true)));
}

#[test]
fn the_deepest_expressions_are_evaluated() {
    // The limits of the rules multiply: operators, lists and macros each nest as deep as the parser allows.
    let mut text = "1".to_owned();
    for _ in 0..30 {
        text = format!("[[1].map(x, [{text} + 1].size() + [x][0])][0].map(y, y)[0]");
    }
    assert_eq!(issues(&text), "");
    assert_eq!(answer(&format!("{text} == 2"), &json!({})), Ok(Answer::Bool(true)));
    let lists = format!("{}{} == 1", "[".repeat(240), "]".repeat(240));
    assert!(issues(&lists).contains("no matching overload"));
    let sums = format!("{}1{}", "(1 + ".repeat(80), ")".repeat(80));
    assert_eq!(answer(&format!("{sums} == 81"), &json!({})), Ok(Answer::Bool(true)));
}

#[test]
fn long_texts_are_refused_or_read_in_time() {
    assert_eq!(
        issues(&"a".repeat(100_001)),
        "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000"
    );
    assert!(issues(&"@".repeat(100_000)).ends_with("more errors were truncated"));
    assert!(issues(&"1 ".repeat(50_000)).contains("Syntax error"));
    assert!(issues(&"(".repeat(100_000)).contains("recursion limit"));
    assert!(issues(&"\"".repeat(99_999)).contains("Syntax error"));
    assert!(issues(&format!("[{}1]", "1,".repeat(49_000))).is_empty());
    assert!(issues(&format!("[{}]", "x,".repeat(49_000))).ends_with("more errors were truncated"));
}

#[test]
fn macros_that_copy_themselves_are_refused() {
    let text = format!("optional.of(1){}", ".optMap(x, x)".repeat(200));
    assert_eq!(issues(&text), "ERROR: <input>:-1:0: expression expands to too many nodes");
}

#[test]
fn loops_end_when_they_cost_too_much() {
    let value = json!({"list": (0..1000).collect::<Vec<i64>>()});
    let too_much = Err("operation cancelled: actual cost limit exceeded".to_owned());
    for text in [
        "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))",
        "self.list.map(a, self.list.map(b, self.list.map(c, c))).size() == 0",
        "lists.range(9223372036854775807).size() > 1",
        "self.list.map(a, lists.range(1000000)).size() > 1",
        "self.list.map(a, self.list).flatten().map(x, string(x)).join().size() > 1",
        "self.list.transformMap(i, a, self.list.transformMap(j, b, b)).size() > 1",
    ] {
        assert_eq!(answer(text, &value), too_much, "{text}");
    }
}

#[test]
fn comparing_all_with_all_is_charged_and_not_done() {
    for text in [
        "lists.range(900000).distinct().size() > 1",
        "sets.contains(lists.range(400000), lists.range(400000))",
        "sets.intersects(lists.range(400000), lists.range(400000))",
        "sets.equivalent(lists.range(400000), lists.range(400000))",
    ] {
        let program = env().check(text).unwrap().program().unwrap();
        let done = program.eval(&[Some((&json!({})).into())], PER_CALL_LIMIT);
        assert!(done.cost > 100_000_000_000, "{text}: {}", done.cost);
        assert!(done.result.is_err_and(|error| error.too_expensive), "{text}");
    }
}

#[test]
fn collecting_takes_time_as_long_as_the_list() {
    let value = json!({"list": (0..60_000).collect::<Vec<i64>>()});
    assert_eq!(answer("self.list.map(x, x).size() == 60000", &value), Ok(Answer::Bool(true)));
    assert_eq!(answer("self.list.filter(x, x > 5).size() > 5", &value), Ok(Answer::Bool(true)));
    assert_eq!(answer("self.list.exists_one(x, x == 5)", &value), Ok(Answer::Bool(true)));
    let value = json!({"list": (0..20_000).collect::<Vec<i64>>()});
    assert_eq!(answer("self.list.transformMap(i, x, x).size() == 20000", &value), Ok(Answer::Bool(true)));
    // Faults in every turn do not make looking for their costs slow.
    assert_eq!(
        answer("self.list.exists(x, 'a'.substring(x + 9, 1 / 0) == '')", &value),
        Err("division by zero".to_owned())
    );
}

#[test]
fn patterns_do_not_explode() {
    for pattern in ["((((a{100}){100}){100}){100})", "(a*)*b", "(x+x+)+y", "a{1001}", "(((((((((("] {
        let text = format!("'{}'.matches('{pattern}')", "a".repeat(1000));
        let _ = answer(&text, &json!({}));
    }
}
