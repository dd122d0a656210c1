//! Field sets as clients write them.

use arbitrary::{Arbitrary, Result, Unstructured};
use serde_json::{Map, Value, json};

/// A `fieldsV1` that mostly is one.
#[derive(Clone, Debug)]
pub struct Fields(pub Value);

const KEYS: &[&str] = &[
    ".",
    "f:a",
    "f:b",
    "f:metadata",
    "f:spec",
    "f:labels",
    "f:",
    "f:\u{e9}\"",
    "k:{\"name\":\"a\"}",
    "k:{\"name\":\"a\",\"port\":80}",
    "k:{\"port\":80,\"name\":\"a\"}",
    "k:{\"a\":1.5,\"b\":null}",
    "k:{\"a\":true}",
    "k:{}",
    "k:[]",
    "v:1",
    "v:\"a\"",
    "v:1.0",
    "v:1e3",
    "v:null",
    "v:true",
    "v:{\"a\":[1,{\"b\":null}]}",
    "v:",
    "i:0",
    "i:7",
    "i:-1",
    "i:99999999999999999999",
    "x:a",
    "f",
    "",
];

impl<'a> Arbitrary<'a> for Fields {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        fields(input, 5).map(Self)
    }
}

fn fields(input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    if depth == 0 || input.is_empty() {
        return Ok(json!({}));
    }
    let mut members = Map::new();
    for _ in 0..input.int_in_range(0..=4)? {
        let key = if input.ratio(1, 12)? { input.arbitrary()? } else { *input.choose(KEYS)? };
        let below = if input.ratio(1, 40)? { json!(input.arbitrary::<bool>()?) } else { fields(input, depth - 1)? };
        members.insert(key.to_owned(), below);
    }
    Ok(members.into())
}
