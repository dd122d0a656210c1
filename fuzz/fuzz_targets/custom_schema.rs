//! Schemas of custom kinds, hostile or of words that schemas know, and what they make of objects.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_crd::Schema;
use rolewright_crd::metadata::Malformed;
use rolewright_crd::strategy::{Kind, Scale, finalizer_warnings};
use rolewright_server::strategy::embedded::Metadata;
use serde_json::{Map, Value, json};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    schema: Source<'a>,
    object: Source<'a>,
    old: Source<'a>,
    status: bool,
}

#[derive(Debug, Arbitrary)]
enum Source<'a> {
    /// Hostile text.
    Text(&'a str),
    /// JSON of words that schemas and objects know.
    Tree(Tree),
}

#[derive(Debug, Arbitrary)]
enum Tree {
    Null,
    Bool(bool),
    Number(i16),
    Float(f32),
    Word(u8),
    List(Vec<Tree>),
    Object(Vec<(u8, Tree)>),
}

const WORDS: &[&str] = &[
    "type",
    "object",
    "array",
    "string",
    "integer",
    "number",
    "boolean",
    "properties",
    "additionalProperties",
    "items",
    "nullable",
    "default",
    "enum",
    "required",
    "pattern",
    "format",
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "multipleOf",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "maxProperties",
    "uniqueItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "x-kubernetes-int-or-string",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type",
    "set",
    "map",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-preserve-unknown-fields",
    "a",
    "b",
    "spec",
    "status",
    "metadata",
    "apiVersion",
    "kind",
    "name",
    "labels",
    "^a+(b|c)*$",
    "(?i)[[:alpha:]]{2,3}",
    "date-time",
    "email",
    "uri",
    "duration",
    "int32",
    "cidr",
    "hostname",
    "2020-01-01T00:00:00Z",
    "a@b",
    "http://a/b",
    "1h",
    "10.0.0.0/8",
];

fn value(tree: &Tree) -> Value {
    let word = |at: u8| WORDS[usize::from(at) % WORDS.len()];
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(on) => json!(on),
        Tree::Number(number) => json!(number),
        Tree::Float(float) => json!(float),
        Tree::Word(at) => json!(word(*at)),
        Tree::List(items) => items.iter().map(value).collect(),
        Tree::Object(members) => {
            Value::Object(members.iter().map(|(key, tree)| (word(*key).to_owned(), value(tree))).collect())
        }
    }
}

fn read(source: &Source<'_>) -> Value {
    match source {
        Source::Text(text) => serde_json::from_str(text).unwrap_or_default(),
        Source::Tree(tree) => value(tree),
    }
}

fn object(source: &Source<'_>) -> Map<String, Value> {
    match read(source) {
        Value::Object(object) => object,
        other => [("spec".to_owned(), other)].into_iter().collect(),
    }
}

fuzz_target!(|input: Input<'_>| {
    let mut schema = Schema::compile(&read(&input.schema));
    schema.coerce_defaults(&Metadata);
    let scale = Scale {
        spec_replicas: ".spec.a".into(),
        status_replicas: ".status.b".into(),
        label_selector: Some(".status.name".into()),
    };
    let kind = Kind {
        schema: &schema,
        api_version: "a/v1",
        kind: "Thing",
        status: input.status,
        scale: Some(&scale),
        preserve_unknown_fields: false,
        meta: &Metadata,
    };
    let (mut new, mut old) = (object(&input.object), object(&input.old));
    let _ = kind.decode(&mut new, Malformed::Refuse);
    schema.prune(&mut new);
    assert!(schema.prune_and_tell(&mut new).is_empty(), "what is pruned has nothing more to prune");
    schema.apply_defaults(&mut new);
    let once = new.clone();
    schema.apply_defaults(&mut new);
    assert_eq!(once, new, "defaults are complete");
    let _ = kind.decode(&mut old, Malformed::Drop);
    let fresh = schema.validate(&new);
    for error in schema.validate_update(&new, &old) {
        assert!(fresh.contains(&error), "{error} is held against a change only");
    }
    let _ = finalizer_warnings(&new, Some(&old));
    kind.validate_create(&new, Vec::new());
    kind.validate_update(&new, &old, Vec::new());
    kind.validate_status(&new, &old, Vec::new());
    let mut prepared = new.clone();
    kind.prepare_create(&mut prepared);
    kind.prepare_update(&mut prepared, &old);
    kind.prepare_status(&mut prepared, &old);
});
