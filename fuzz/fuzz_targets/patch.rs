//! Patches of all three kinds, hostile or drawn from words that mean something, against a pod.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_server::facts::type_of;
use rolewright_server::patch::{PatchType, apply};
use rolewright_server::query::FieldValidation;
use serde_json::{Value, json};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    kind: u8,
    source: Source<'a>,
}

#[derive(Debug, Arbitrary)]
enum Source<'a> {
    /// Hostile text.
    Bytes(&'a [u8]),
    /// JSON of words that patches know.
    Tree(Tree),
}

#[derive(Debug, Arbitrary)]
enum Tree {
    Null,
    Number(i8),
    Word(u8),
    List(Vec<Tree>),
    Object(Vec<(u8, Tree)>),
}

const WORDS: &[&str] = &[
    "name",
    "a",
    "b",
    "spec",
    "metadata",
    "containers",
    "finalizers",
    "labels",
    "volumes",
    "tolerations",
    "$patch",
    "delete",
    "replace",
    "merge",
    "$retainKeys",
    "$setElementOrder/containers",
    "$setElementOrder/finalizers",
    "$deleteFromPrimitiveList/finalizers",
    "$setElementOrder/tolerations",
    "op",
    "path",
    "from",
    "value",
    "add",
    "remove",
    "test",
    "move",
    "copy",
    "/spec/containers/0",
    "/spec/containers/-",
    "/metadata/labels/a",
    "/spec",
    "",
    "ports",
    "containerPort",
];

fn value(tree: &Tree) -> Value {
    let word = |at: u8| WORDS[usize::from(at) % WORDS.len()];
    match tree {
        Tree::Null => Value::Null,
        Tree::Number(number) => json!(number),
        Tree::Word(at) => json!(word(*at)),
        Tree::List(items) => items.iter().map(value).collect(),
        Tree::Object(members) => {
            Value::Object(members.iter().map(|(key, tree)| (word(*key).to_owned(), value(tree))).collect())
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    let kind = [PatchType::Json, PatchType::Merge, PatchType::Strategic][usize::from(input.kind % 3)];
    let patch = match &input.source {
        Source::Bytes(bytes) => bytes.to_vec(),
        Source::Tree(tree) => value(tree).to_string().into_bytes(),
    };
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "labels": {"a": "b"}, "finalizers": ["a", "b"]},
        "spec": {
            "containers": [{"name": "a", "ports": [{"containerPort": 80}]}, {"name": "b"}],
            "tolerations": [{"key": "a"}], "volumes": [{"name": "a", "emptyDir": {}}],
        },
    });
    let pod = pod.as_object().expect("a pod is an object");
    let ty = type_of("", "v1", "Pod").expect("there are pods");
    for checks in [FieldValidation::Warn, FieldValidation::Ignore] {
        match apply(kind, Some(ty), pod, &patch, checks) {
            Ok(patched) => {
                if let Some(text) = patched.text() {
                    serde_json::from_str::<Value>(&text).expect("the text is JSON");
                }
                patched.refused("why");
            }
            Err(failure) => assert!((400..600).contains(&failure.code)),
        }
    }
});
