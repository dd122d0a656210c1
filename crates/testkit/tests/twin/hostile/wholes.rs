//! Definitions that hurt beside their schemas.

#![expect(clippy::too_many_lines, reason = "tables, not programs")]

use serde_json::{Map, Value, json};

use super::definition;

const COLUMNS: &str = "/spec/versions/0/additionalPrinterColumns";
const SELECTABLE: &str = "/spec/versions/0/selectableFields";
const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema";

/// What it is, what Kubernetes answers with, and the body.
pub(super) type Row = (&'static str, u16, String);
/// What is set to what.
type Edited = (&'static str, u16, Vec<(&'static str, Value)>);

/// Definitions with some places set.
pub(super) fn rows() -> Vec<Row> {
    let row = |(title, status, edits): Edited| {
        let mut definition = definition("things", &json!({"type": "string"}));
        for (pointer, value) in edits {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            let parent = definition.pointer_mut(parent).unwrap();
            match name.parse::<usize>() {
                Ok(at) => parent[at] = value,
                Err(_) => parent[name] = value,
            }
        }
        (title, status, definition.to_string())
    };
    edits().into_iter().map(row).collect()
}

fn edits() -> Vec<Edited> {
    let version = |name: String, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object"}}});
    let columns = |count: usize| -> Value {
        (0..count)
            .map(|number| json!({"name": format!("c{number}"), "type": "string", "jsonPath": ".spec.x"}))
            .collect()
    };
    let selectable =
        |count: usize| -> Value { (0..count).map(|number| json!({"jsonPath": format!(".spec.x{number}")})).collect() };
    let selectable_schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties":
        (0..10).map(|number| (format!("x{number}"), json!({"type": "string"}))).collect::<Map<String, Value>>()}}});
    let labels = ["a".repeat(63), "b".repeat(63), "c".repeat(63)].join(".");
    let long = format!("{labels}.{}", "d".repeat(61));
    let at_limit = format!("{labels}.{}", "d".repeat(54));
    vec![
        (
            "1,000 versions",
            201,
            vec![(
                "/spec/versions",
                (0..1_000).map(|number| version(format!("v{}", number + 1), number == 0)).collect(),
            )],
        ),
        ("1,000 versions of one name", 422, vec![("/spec/versions", vec![version("v1".into(), false); 1_000].into())]),
        ("a version with a long name", 201, vec![("/spec/versions/0/name", json!("v".repeat(63)))]),
        ("a version with a name that is too long", 422, vec![("/spec/versions/0/name", json!("v".repeat(64)))]),
        ("3,000 columns", 201, vec![(COLUMNS, columns(3_000))]),
        (
            "columns of one name",
            201,
            vec![(
                COLUMNS,
                json!([{"name": "c", "type": "string", "jsonPath": ".a"}, {"name": "c", "type": "string", "jsonPath": ".b"}]),
            )],
        ),
        (
            "a column with a path of noise",
            201,
            vec![(COLUMNS, json!([{"name": "c", "type": "string", "jsonPath": ".a[?(@.b=="}]))],
        ),
        (
            "a column with a long path",
            201,
            vec![(COLUMNS, json!([{"name": "c", "type": "string", "jsonPath": ".a".repeat(20_000)}]))],
        ),
        (
            "a column beyond priorities",
            400,
            vec![(COLUMNS, json!([{"name": "c", "type": "string", "jsonPath": ".a", "priority": 3_000_000_000_u64}]))],
        ),
        (
            "a column of an unknown type",
            422,
            vec![(COLUMNS, json!([{"name": "c", "type": "thing", "jsonPath": ".a"}]))],
        ),
        ("8 selectable fields", 201, vec![(SCHEMA, selectable_schema.clone()), (SELECTABLE, selectable(8))]),
        ("9 selectable fields", 422, vec![(SCHEMA, selectable_schema.clone()), (SELECTABLE, selectable(9))]),
        (
            "2,000 selectable fields of one path",
            422,
            vec![(SELECTABLE, vec![json!({"jsonPath": ".spec.x"}); 2_000].into())],
        ),
        ("a selectable field of metadata", 422, vec![(SELECTABLE, json!([{"jsonPath": ".metadata.name"}]))]),
        (
            "a group at its limit",
            201,
            vec![
                ("/spec/group", json!(at_limit.clone())),
                ("/metadata/name", json!(format!("xs.{at_limit}"))),
                ("/spec/names/plural", json!("xs")),
            ],
        ),
        (
            "a group beyond its limit",
            422,
            vec![("/spec/group", json!(long.clone())), ("/metadata/name", json!(format!("things.{long}")))],
        ),
        (
            "a plural at its limit",
            201,
            vec![
                ("/spec/names/plural", json!("p".repeat(63))),
                ("/metadata/name", json!(format!("{}.{{{{ns}}}}.example.com", "p".repeat(63)))),
            ],
        ),
        (
            "a plural beyond its limit",
            422,
            vec![
                ("/spec/names/plural", json!("p".repeat(64))),
                ("/metadata/name", json!(format!("{}.{{{{ns}}}}.example.com", "p".repeat(64)))),
            ],
        ),
        ("a kind at its limit", 422, vec![("/spec/names/kind", json!("K".repeat(63)))]),
        ("a kind beyond its limit", 422, vec![("/spec/names/kind", json!("K".repeat(64)))]),
        (
            "a kind whose list is too long",
            422,
            vec![("/spec/names/kind", json!("K".repeat(60))), ("/spec/names/listKind", json!("K".repeat(64)))],
        ),
        (
            "1,000 short names",
            201,
            vec![("/spec/names/shortNames", (0..1_000).map(|number| format!("s{number}")).collect())],
        ),
        ("1,000 short names that are one", 201, vec![("/spec/names/shortNames", vec!["s"; 1_000].into())]),
        (
            "1,000 categories",
            201,
            vec![("/spec/names/categories", (0..1_000).map(|number| format!("c{number}")).collect())],
        ),
        ("annotations that are too large", 422, vec![("/metadata/annotations", json!({"a": "x".repeat(300_000)}))]),
        (
            "1,000 labels",
            201,
            vec![(
                "/metadata/labels",
                (0..1_000).map(|number| (format!("l{number}"), json!("v"))).collect::<Map<String, Value>>().into(),
            )],
        ),
        ("a finalizer without a domain", 201, vec![("/metadata/finalizers", json!(["plain"]))]),
        ("a name of 300 letters", 422, vec![("/metadata/name", json!("n".repeat(300)))]),
        ("a definition whose spec is nothing", 422, vec![("/spec", json!(null))]),
        ("names that are nothing", 422, vec![("/spec/names", json!(null))]),
        ("versions that are nothing", 422, vec![("/spec/versions", json!(null))]),
        ("a version that is nothing", 422, vec![("/spec/versions", json!([null]))]),
        ("a schema of a version that is nothing", 422, vec![("/spec/versions/0/schema", json!(null))]),
        ("a whole schema that is nothing", 422, vec![(SCHEMA, json!(null))]),
        ("a whole schema that is a text", 400, vec![(SCHEMA, json!("object"))]),
        ("metadata that are nothing", 422, vec![("/metadata", json!(null))]),
        ("metadata that are a list", 400, vec![("/metadata", json!([]))]),
        ("a scope that is a number", 400, vec![("/spec/scope", json!(7))]),
        ("a conversion that is nothing", 201, vec![("/spec/conversion", json!(null))]),
        (
            "subresources that are nothing",
            201,
            vec![("/spec/versions/0/subresources", json!({"status": null, "scale": null}))],
        ),
    ]
}

/// Bodies that no JSON value stands for.
pub(super) fn texts() -> Vec<Row> {
    let whole = definition("things", &json!({"type": "string"})).to_string();
    let twice = whole.replacen("\"type\":\"string\"", "\"type\":\"integer\",\"type\":\"string\"", 1);
    let doubled = whole.replacen("\"scope\":\"Namespaced\"", "\"scope\":\"Cluster\",\"scope\":\"Namespaced\"", 1);
    let huge = whole.replacen("\"type\":\"string\"", "\"type\":\"number\",\"maximum\":1e400", 1);
    let digits =
        whole.replacen("\"type\":\"string\"", &format!("\"type\":\"number\",\"maximum\":{}", "9".repeat(300)), 1);
    let surrogate = whole.replacen("\"type\":\"string\"", "\"type\":\"string\",\"description\":\"\\ud800\"", 1);
    let upper = whole.replacen("\"scope\"", "\"Scope\"", 1);
    vec![
        ("a type that is said twice", 201, twice),
        ("a scope that is said twice", 201, doubled),
        ("a number beyond floats", 400, huge),
        ("a number of 300 digits", 201, digits),
        ("half a surrogate", 201, surrogate),
        ("another case", 422, upper),
        ("a definition that does not end", 400, whole[..whole.len() - 2].to_owned()),
        ("a definition and more", 400, format!("{whole} {{}}")),
        ("200 brackets", 400, format!("{}{}", "[".repeat(200), "]".repeat(200))),
        ("20,000 brackets", 400, format!("{}{}", "[".repeat(20_000), "]".repeat(20_000))),
        ("nothing", 422, "null".to_owned()),
        ("a list", 400, "[]".to_owned()),
        ("a text", 400, "\"text\"".to_owned()),
    ]
}
