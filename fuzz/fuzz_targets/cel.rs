//! Expressions of any text: read, checked, estimated and evaluated.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_cel::{Env, PER_CALL_LIMIT, Schema, Variable};
use serde_json::{Value, json};

/// Pieces of which expressions are made: free text is almost never one.
const PIECES: [&str; 64] = [
    "self",
    "oldSelf",
    ".name",
    ".list",
    ".labels",
    ".deep",
    ".x",
    ".?",
    "[",
    "]",
    "[?",
    "(",
    ")",
    "{",
    "}",
    ",",
    ":",
    "?",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "&&",
    "||",
    "==",
    "!=",
    "<",
    ">=",
    " in ",
    "1",
    "0",
    "9223372036854775807",
    "1u",
    "1.5",
    "'a'",
    "''",
    "b'a'",
    "true",
    "null",
    ".all(x, ",
    ".exists(x, ",
    ".map(x, ",
    ".filter(x, ",
    ".transformMap(k, v, ",
    ".optMap(o, ",
    ".sortBy(s, ",
    "x",
    "k",
    "v",
    "size(",
    "string(",
    "int(",
    "dyn(",
    ".matches('[a-z]+')",
    ".format([",
    ".split(",
    "lists.range(",
    "duration('1h')",
    "timestamp(",
    "ip('1.2.3.4')",
    "quantity('1')",
    "has(",
];

#[derive(Debug, Arbitrary)]
enum Piece<'a> {
    Known(u8),
    Free(&'a str),
}

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "deep": {"type": "object", "properties": {"x": {"x-kubernetes-int-or-string": true}}},
        },
    });
    Schema::structural(&schema, true)
});

static VALUE: LazyLock<Value> =
    LazyLock::new(|| json!({"name": "a", "list": ["a", "bb", ""], "labels": {"a": "b"}, "deep": {"x": 1}}));

fuzz_target!(|pieces: Vec<Piece<'_>>| {
    let text: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Known(at) => PIECES[usize::from(*at) % PIECES.len()],
            Piece::Free(text) => text,
        })
        .collect();
    let env = Env::new(vec![Variable::new("self", &SCHEMA), Variable::optional("oldSelf", &SCHEMA)]);
    let checking = match env.check(&text) {
        Ok(checking) => checking,
        Err(issues) => {
            assert!(!issues.to_string().is_empty(), "what is refused is refused for a reason");
            return;
        }
    };
    let (least, most) = checking.cost_range();
    assert!(least <= most || most == 0, "{text}");
    if let Ok(program) = checking.program() {
        let done = program.eval(&[Some((&*VALUE).into()), None], PER_CALL_LIMIT);
        let again = program.eval(&[Some((&*VALUE).into()), None], PER_CALL_LIMIT);
        assert_eq!(done, again, "an expression has one answer");
    }
});
