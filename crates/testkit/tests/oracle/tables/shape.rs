//! Random JSON of a given shape.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

pub(super) type Any = BoxedStrategy<Value>;
pub(super) type Fields = Vec<(&'static str, Any)>;

/// One of these texts.
pub(super) fn one_of(texts: &'static [&'static str]) -> Any {
    select(texts).prop_map(Value::from).boxed()
}

pub(super) fn name() -> Any {
    one_of(&["a", "web", "db-0", "kube-system", "x.y.z"])
}

pub(super) fn int(range: std::ops::Range<i64>) -> Any {
    range.prop_map(Value::from).boxed()
}

pub(super) fn count() -> Any {
    int(0..5)
}

pub(super) fn flag() -> Any {
    any::<bool>().prop_map(Value::from).boxed()
}

pub(super) fn quantity() -> Any {
    one_of(&["0", "1", "3", "100m", "1500m", "1Gi", "1024Mi", "2e3", "0.5", "10Ki", "1G", "500k", "-1"])
}

pub(super) fn ip() -> Any {
    one_of(&["10.0.0.1", "10.0.0.2", "192.168.7.9", "fd00::1", "1.2.3.4", ""])
}

/// A status of a condition.
pub(super) fn truth() -> Any {
    one_of(&["True", "False", "Unknown"])
}

/// A time whose distance from now shows the same for the next half minute; [`moment`] has no such limits.
pub(super) fn time() -> Any {
    let minutes = select(&[-600_i64, 10, 45, 179, 180, 250, 479, 500, 2_879, 2_950, 9_000, 11_520, 20_000, 900_000]);
    let minutes = prop_oneof![4 => minutes, 1 => 1_051_200..20_000_000_i64];
    minutes.prop_map(|minutes| ago(minutes).strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()).boxed()
}

/// A time at any distance, mostly a small one, from others of its sort.
pub(super) fn moment() -> Any {
    let base: Timestamp = "2020-01-01T00:00:00Z".parse().expect("this is a time");
    let seconds =
        prop_oneof![0..5_i64, 0..700_i64, 0..30_000_i64, 0..800_000_i64, 0..70_000_000_i64, 0..400_000_000_i64];
    seconds.prop_map(move |seconds| (base + SignedDuration::from_secs(seconds)).to_string().into()).boxed()
}

pub(super) fn micro_time() -> Any {
    time().prop_map(|time| time.as_str().map(|time| time.replace('Z', ".123456Z")).into()).boxed()
}

fn ago(minutes: i64) -> Timestamp {
    Timestamp::now() - SignedDuration::from_secs(minutes * 60 + 30)
}

pub(super) fn list(item: Any) -> Any {
    prop::collection::vec(item, 0..5).prop_map(Value::from).boxed()
}

/// A map with some of these keys.
pub(super) fn map(keys: &'static [&'static str], value: &Any) -> Any {
    object(keys.iter().map(|key| (*key, value.clone())).collect(), 0.5).prop_map(Value::Object).boxed()
}

pub(super) fn labels() -> Any {
    map(&["app", "app-x", "app.kubernetes.io/name", "tier", "z"], &one_of(&["", "web", "db", "a.b_c-d"]))
}

/// An object with most of these fields.
pub(super) fn with(fields: Fields) -> Any {
    object(fields, 0.8).prop_map(Value::Object).boxed()
}

/// An object with each of these fields at this probability.
pub(super) fn object(fields: Fields, likely: f64) -> BoxedStrategy<Map<String, Value>> {
    let (names, values): (Vec<_>, Vec<_>) =
        fields.into_iter().map(|(name, value)| (name, prop::option::weighted(likely, value))).unzip();
    values
        .prop_map(move |values| {
            let fields = names.iter().zip(values);
            fields.filter_map(|(name, value)| Some(((*name).to_owned(), value?))).collect()
        })
        .boxed()
}

/// A list of conditions of these types.
pub(super) fn conditions(types: &'static [&'static str]) -> Any {
    list(with(vec![
        ("type", one_of(types)),
        ("status", truth()),
        ("reason", one_of(&["", "SchedulingGated", "Failing"])),
    ]))
}

/// A label selector; one out of many is not valid.
pub(super) fn selector() -> Any {
    let valid = prop_oneof![
        ("[a-c]", select(&["Exists", "DoesNotExist"][..]))
            .prop_map(|(key, op)| serde_json::json!({"key": key, "operator": op})),
        ("[a-c]", select(&["In", "NotIn"][..]), prop::collection::vec("[a-d]{1,2}", 1..4))
            .prop_map(|(key, op, values)| serde_json::json!({"key": key, "operator": op, "values": values})),
    ];
    let any = with(vec![
        ("key", one_of(&["a", "x/y", "-", ""])),
        ("operator", one_of(&["In", "Exists", "in", ""])),
        ("values", list(one_of(&["v", "-"]))),
    ]);
    let requirement = prop_oneof![20 => valid, 1 => any].boxed();
    with(vec![("matchLabels", labels()), ("matchExpressions", list(requirement))])
}

/// The fields of both.
pub(super) fn merged(mut one: Value, mut other: Value) -> Value {
    if let (Some(one), Some(other)) = (one.as_object_mut(), other.as_object_mut()) {
        one.append(other);
    }
    one
}
