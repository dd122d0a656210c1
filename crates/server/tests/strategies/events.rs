//! Random events without metadata, in both forms.

use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::values::{Values, object, one, sometimes_long, text};

const TIMES: &[&str] = &["2020-01-01T00:00:00Z", "2021-02-03T04:05:06Z"];
const MICRO: &[&str] = &["2020-01-01T00:00:00.000001Z", "2021-02-03T04:05:06.000000Z"];

fn reference(bad: f64) -> Values {
    object(vec![
        ("kind", 0.6, one(&["Pod", "<x>"])),
        ("namespace", 0.8, text(&["team-a"], &["", "team-b", "default"], bad)),
        ("name", 0.5, one(&["web", "db"])),
        ("uid", 0.2, one(&["u"])),
        ("apiVersion", 0.3, one(&["v1"])),
        ("resourceVersion", 0.2, one(&["7"])),
        ("fieldPath", 0.2, one(&["spec.containers{web}"])),
    ])
}

pub(crate) fn core(bad: f64) -> Values {
    let short = |words: &'static [&'static str]| sometimes_long(text(words, &[""], bad), 129, bad / 10.0);
    let source = object(vec![("component", 0.5, one(&["kubelet"])), ("host", 0.3, one(&["node"]))]);
    let series = object(vec![
        ("count", 0.9, if bad > 0.0 { one(&[0, 1, 2]) } else { one(&[2, 3]) }),
        ("lastObservedTime", if bad > 0.0 { 0.8 } else { 1.0 }, one(MICRO)),
    ]);
    object(vec![
        ("involvedObject", if bad > 0.0 { 0.9 } else { 1.0 }, reference(bad)),
        ("reason", 1.0 - bad / 2.0, short(&["Started"])),
        ("message", 0.6, sometimes_long(one(&["hello", ""]), 1025, bad / 10.0)),
        ("source", bad, source),
        ("firstTimestamp", bad, one(TIMES)),
        ("lastTimestamp", bad, one(TIMES)),
        ("count", bad, one(&[0, 1])),
        ("type", 1.0 - bad / 2.0, text(&["Normal", "Warning"], &["", "normal"], bad)),
        ("eventTime", 1.0 - bad / 2.0, one(MICRO)),
        ("series", 0.3, series),
        ("action", 1.0 - bad / 2.0, short(&["Starting"])),
        ("related", 0.2, reference(bad)),
        ("reportingComponent", 1.0 - bad / 2.0, text(&["a.b/c", "kubelet"], &["", "/", "é"], bad)),
        ("reportingInstance", 1.0 - bad / 2.0, short(&["kubelet-1"])),
    ])
}

pub(crate) fn new(bad: f64) -> Values {
    const NAMES: &[(&str, &str)] = &[
        ("involvedObject", "regarding"),
        ("message", "note"),
        ("source", "deprecatedSource"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("count", "deprecatedCount"),
        ("reportingComponent", "reportingController"),
    ];
    let rename = |name: String| NAMES.iter().find(|(core, _)| *core == name).map_or(name, |(_, new)| (*new).to_owned());
    core(bad)
        .prop_map(move |event| {
            let Value::Object(event) = event else { unreachable!() };
            event.into_iter().map(|(name, value)| (rename(name), value)).collect::<Map<_, _>>().into()
        })
        .boxed()
}
