//! Autoscalers. Version 1 keeps all metrics but one in annotations, in a form of their own.

use serde_json::{Value, json};

use super::row;
use super::shown::{Node, Shown};

/// How many metrics are shown; the rest is counted.
const SHOWN_METRICS: usize = 2;

/// What version 1 aims at if it is told nothing, in percent.
const DEFAULT_CPU_UTILIZATION: i64 = 80;

pub(super) fn v2(shown: Shown<'_>) -> Vec<Value> {
    let targets: Vec<Node<'_>> = shown.spec("metrics").items().collect();
    let currents: Vec<Node<'_>> = shown.status("currentMetrics").items().collect();
    let targets = metrics(&targets, &currents, &|source, kind, side| Amounts::v2(source.get(kind.member), side));
    autoscaler(shown, targets)
}

pub(super) fn v1(shown: Shown<'_>) -> Vec<Value> {
    let cpu = |amount: &str, percent: i64| json!({"type": "Resource", "resource": {"name": "cpu", amount: percent}});
    let written = |annotation: &str| {
        let text = shown.annotation(annotation).text();
        serde_json::from_str::<Vec<Value>>(text).ok()
    };
    let mut targets = written("autoscaling.alpha.kubernetes.io/metrics").unwrap_or_default();
    let target = shown.spec("targetCPUUtilizationPercentage").set_int();
    let target = target.or(targets.is_empty().then_some(DEFAULT_CPU_UTILIZATION));
    targets.extend(target.map(|percent| cpu("targetAverageUtilization", percent)));
    let currents = written("autoscaling.alpha.kubernetes.io/current-metrics").unwrap_or_else(|| {
        let current = shown.status("currentCPUUtilizationPercentage").set_int();
        current.map(|percent| cpu("currentAverageUtilization", percent)).into_iter().collect()
    });
    let targets: Vec<Node<'_>> = targets.iter().map(|target| Node::new(Some(target))).collect();
    let currents: Vec<Node<'_>> = currents.iter().map(|current| Node::new(Some(current))).collect();
    let targets = metrics(&targets, &currents, &|source, kind, side| Amounts::v1(source.get(kind.member), kind, side));
    autoscaler(shown, targets)
}

fn autoscaler(shown: Shown<'_>, targets: String) -> Vec<Value> {
    let reference = shown.spec("scaleTargetRef");
    row![
        shown.name(),
        format!("{}/{}", reference.get("kind").text(), reference.get("name").text()),
        targets,
        shown.spec("minReplicas").set_int().map_or_else(|| "<unset>".to_owned(), |min| min.to_string()),
        shown.spec("maxReplicas").int(),
        shown.status("currentReplicas").int(),
        shown.age(),
    ]
}

/// A kind of metrics.
struct Kind {
    name: &'static str,
    /// The member with the particulars.
    member: &'static str,
    /// In version 1, the member with an average target. Other names follow from this one.
    average: &'static str,
    shows: Shows,
}

enum Shows {
    /// An average if one is aimed at, else a value.
    ValueOrAverage,
    Average,
    /// An average or a utilization, with the name of the resource.
    Resource,
}

#[rustfmt::skip]
const KINDS: [Kind; 5] = [
    Kind { name: "External", member: "external", average: "AverageValue", shows: Shows::ValueOrAverage },
    Kind { name: "Object", member: "object", average: "", shows: Shows::ValueOrAverage },
    Kind { name: "Pods", member: "pods", average: "AverageValue", shows: Shows::Average },
    Kind { name: "Resource", member: "resource", average: "AverageValue", shows: Shows::Resource },
    Kind { name: "ContainerResource", member: "containerResource", average: "AverageValue", shows: Shows::Resource },
];

/// Whether it is aimed at or measured.
#[derive(Clone, Copy)]
enum Side {
    Target,
    Current,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Current => "current",
        }
    }
}

/// What is aimed at or measured.
struct Amounts<'a> {
    value: Option<&'a str>,
    average: Option<&'a str>,
    utilization: Option<i64>,
}

impl<'a> Amounts<'a> {
    /// Nothing where the metric is of another kind.
    fn v2(metric: Node<'a>, side: Side) -> Option<Self> {
        let amounts = metric.set()?.get(side.name());
        Some(Self {
            value: amounts.get("value").set().map(Node::text),
            average: amounts.get("averageValue").set().map(Node::text),
            utilization: amounts.get("averageUtilization").set_int(),
        })
    }

    fn v1(metric: Node<'a>, kind: &Kind, side: Side) -> Option<Self> {
        let metric = metric.set()?;
        let amount = |name: &str| metric.get(&format!("{}{name}", side.name()));
        let average = if kind.average.is_empty() { metric.get("averageValue") } else { amount(kind.average) };
        Some(Self {
            value: amount("Value").set().map(Node::text),
            average: average.set().map(Node::text),
            utilization: amount("AverageUtilization").set_int(),
        })
    }
}

/// Reads a metric as one of a kind.
type Read<'a> = dyn Fn(Node<'a>, &Kind, Side) -> Option<Amounts<'a>>;

fn metrics<'a>(targets: &[Node<'a>], currents: &[Node<'a>], read: &Read<'a>) -> String {
    if targets.is_empty() {
        return "<none>".to_owned();
    }
    let texts = targets.iter().take(SHOWN_METRICS).enumerate().map(|(at, target)| {
        let Some(kind) = KINDS.iter().find(|kind| kind.name == target.get("type").text()) else {
            return "<unknown type>".to_owned();
        };
        let current = currents.get(at).and_then(|current| read(*current, kind, Side::Current));
        let aim = read(*target, kind, Side::Target);
        metric(kind, target.get(kind.member), aim.as_ref(), current.as_ref())
    });
    let texts = texts.collect::<Vec<_>>().join(", ");
    match targets.len().checked_sub(SHOWN_METRICS) {
        None | Some(0) => texts,
        Some(more) => format!("{texts} + {more} more..."),
    }
}

fn metric(kind: &Kind, source: Node<'_>, target: Option<&Amounts<'_>>, current: Option<&Amounts<'_>>) -> String {
    const UNKNOWN: &str = "<unknown>";
    let aimed_average = target.and_then(|target| target.average);
    // What is measured but lacks the amount shows as Go shows a null pointer.
    let measured_average = current.map_or(UNKNOWN, |current| current.average.unwrap_or("<nil>"));
    let percent = |amounts: Option<&Amounts<'_>>| {
        amounts.and_then(|amounts| amounts.utilization).map(|utilization| format!("{utilization}%"))
    };
    match (&kind.shows, aimed_average) {
        (Shows::ValueOrAverage, Some(aim)) => {
            format!("{}/{aim} (avg)", current.and_then(|current| current.average).unwrap_or(UNKNOWN))
        }
        (Shows::ValueOrAverage, None) => {
            let measured = current.map_or(UNKNOWN, |current| current.value.unwrap_or("<nil>"));
            format!("{measured}/{}", target.and_then(|target| target.value).unwrap_or("<nil>"))
        }
        (Shows::Average, aim) => format!("{measured_average}/{}", aim.unwrap_or("<nil>")),
        (Shows::Resource, Some(aim)) => format!("{}: {measured_average}/{aim}", source.get("name").text()),
        (Shows::Resource, None) => {
            let measured = percent(current).unwrap_or_else(|| UNKNOWN.to_owned());
            let aim = percent(target).unwrap_or_else(|| "<auto>".to_owned());
            format!("{}: {measured}/{aim}", source.get("name").text())
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn version_1_has_a_target_even_if_none_is_written() {
        for (annotations, targets) in [
            (json!({}), "cpu: <unknown>/80%"),
            (json!({"autoscaling.alpha.kubernetes.io/metrics": "[]"}), "cpu: <unknown>/80%"),
            (json!({"autoscaling.alpha.kubernetes.io/metrics": "no JSON"}), "cpu: <unknown>/80%"),
            (json!({"autoscaling.alpha.kubernetes.io/metrics": r#"[{"type":"Odd"}]"#}), "<unknown type>"),
        ] {
            let Value::Object(object) = json!({"metadata": {"annotations": annotations}}) else { unreachable!() };
            let cells = v1(Shown::new(&object, Timestamp::UNIX_EPOCH));
            assert_eq!(cells.get(2), Some(&json!(targets)), "{annotations}");
        }
    }
}
