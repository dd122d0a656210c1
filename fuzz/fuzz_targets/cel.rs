//! Expressions of any text, and such as mostly fit: read, checked, estimated and evaluated.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_cel::{Answer, Env, PER_CALL_LIMIT, Schema, Variable};
use rolewright_fuzz::expression::Expression;
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

#[derive(Debug, Arbitrary)]
enum Source<'a> {
    Pieces(Vec<Piece<'a>>),
    Fitting(Expression),
    /// An expression that fits, and something in the middle of it.
    Broken(Expression, u8, &'a str),
}

impl Source<'_> {
    fn text(&self) -> String {
        match self {
            Self::Pieces(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Known(at) => PIECES[usize::from(*at) % PIECES.len()],
                    Piece::Free(text) => text,
                })
                .collect(),
            Self::Fitting(expression) => expression.0.clone(),
            Self::Broken(expression, at, text) => {
                let at = expression.0.floor_char_boundary(usize::from(*at).min(expression.0.len()));
                format!("{}{text}{}", &expression.0[..at], &expression.0[at..])
            }
        }
    }
}

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let text = json!({"type": "string", "maxLength": 5});
    let texts = json!({"type": "array", "items": text, "maxItems": 3});
    let keyed = json!({"type": "object", "properties": {"key": text, "value": {"type": "integer"}}});
    let schema = json!({
        "type": "object",
        "properties": {
            "name": text,
            "text": text,
            "mode": {"type": "string", "enum": ["on", "off"]},
            "on": {"type": "boolean"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "list": texts,
            "set": {"type": "array", "items": text, "maxItems": 3, "x-kubernetes-list-type": "set"},
            "ints": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
            "keyed": {
                "type": "array", "items": keyed, "maxItems": 2,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"],
            },
            "labels": {"type": "object", "additionalProperties": text, "maxProperties": 2},
            "when": {"type": "string", "format": "date-time"},
            "span": {"type": "string", "format": "duration"},
            "data": {"type": "string", "format": "byte", "maxLength": 8},
            "port": {"x-kubernetes-int-or-string": true},
            "deep": {"type": "object", "properties": {"x": {"x-kubernetes-int-or-string": true}}},
        },
    });
    Schema::structural(&schema, true)
});

/// As full as the schema allows, so that what they cost is near to the most.
static VALUES: LazyLock<[Value; 2]> = LazyLock::new(|| {
    let full = json!({
        "name": "hello", "text": "world", "mode": "off", "on": true, "count": 7, "ratio": 1.5,
        "list": ["aaaaa", "", "bbbbb"], "set": ["a", "bb", "ccccc"], "ints": [1, -2, 3],
        "keyed": [{"key": "kkkkk", "value": 1}, {"key": "b", "value": 2}],
        "labels": {"app": "webby", "tier": "xx"}, "when": "2024-01-01T00:00:00Z", "span": "90s",
        "data": "aGVsbG8=", "port": 80, "deep": {"x": "1"},
    });
    let scarce = json!({"name": "", "list": [], "labels": {}, "set": [], "ints": [], "keyed": [], "port": "http"});
    [full, scarce]
});

/// Whether types are only known when the expression is evaluated. Kubernetes says of a text that is no address, too, that
/// there is no overload.
fn is_dynamic(text: &str, kind: &str) -> bool {
    ["dyn", "port", "deep", "null", "type", "[]", "{}", "none", "containsIP"].iter().any(|word| text.contains(word))
        || kind.contains("dyn")
}

fuzz_target!(|source: Source<'_>| {
    let text = source.text();
    let env = Env::new(vec![Variable::new("self", &SCHEMA), Variable::optional("oldSelf", &SCHEMA)]);
    let checking = match env.check(&text) {
        Ok(checking) => checking,
        Err(issues) => {
            assert!(!issues.to_string().is_empty(), "what is refused is refused for a reason");
            return;
        }
    };
    let kind = checking.output_type().to_string();
    let dynamic = is_dynamic(&text, &kind);
    let (least, most) = checking.cost_range();
    assert!(least <= most || most == 0, "{text}");
    let Ok(program) = checking.program() else { return };
    for (value, old) in [(&VALUES[0], None), (&VALUES[0], Some(&VALUES[1])), (&VALUES[1], Some(&VALUES[0]))] {
        let inputs = [Some(value.into()), old.map(Into::into)];
        let done = program.eval(&inputs, PER_CALL_LIMIT);
        assert_eq!(done, program.eval(&inputs, PER_CALL_LIMIT), "an expression has one answer");
        if dynamic {
            continue;
        }
        let found = match &done.result {
            Ok(Answer::Bool(_)) => "bool",
            Ok(Answer::String(_)) => "string",
            Ok(Answer::Other(name, _)) => name,
            Err(error) => {
                assert!(!error.message.contains("no such overload"), "{text} of {kind}: {}", error.message);
                continue;
            }
        };
        let wanted = kind.split('(').next().unwrap_or_default();
        // Go names some types after messages.
        let found = found.strip_prefix("google.protobuf.").unwrap_or(found).to_lowercase();
        assert!(wanted.to_lowercase() == found || wanted.starts_with("selfType"), "{text} is {found}, not {kind}");
        // Kubernetes takes what these give for as short as what they take.
        let longer = ["flatten", "format", "string(", "quote", "replace", "join", "encode"];
        let most = if longer.iter().any(|word| text.contains(word)) {
            u64::MAX
        } else {
            most.saturating_mul(2).saturating_add(8)
        };
        assert!(done.cost <= most, "{text} costs {}, at most {most}", done.cost);
    }
});
