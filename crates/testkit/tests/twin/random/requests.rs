//! Random requests about objects of a kind.

use serde_json::{Value, json};

use super::dice::Dice;
use super::kinds::Kind;
use super::patches;
use crate::exchange::Exchange;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Selectors of labels.
const LABELS: [&str; 7] =
    ["app", "app%3Dx", "app%21%3Dx", "%21tier", "app%20in%20%28x,y%29", "app%20notin%20%28x%29", "tier%3Dfront,app"];

/// A request; one that creates where `begin` says that there is little yet.
pub(super) fn request(kind: &Kind, dice: &mut Dice, begin: bool) -> Exchange {
    let name = *dice.pick(&NAMES);
    let mut exchange = match if begin { 0 } else { dice.below(100) } {
        0..20 => create(kind, dice, name),
        20..38 => update(kind, dice, name),
        38..66 => patches::patch(kind, dice, &path(kind, name), name),
        66..78 => delete(kind, dice, name),
        78..81 => delete_some(kind, dice),
        81..86 => get(kind, dice, name),
        86..90 => subresource(kind, dice, name),
        90..98 => list(kind, dice),
        _ => watch(kind, dice, name),
    };
    if dice.chance(8) {
        let form = *dice.pick(&["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);
        exchange.headers.push(("Accept".into(), format!("application/json;as={form};v=v1;g=meta.k8s.io")));
    }
    if dice.chance(3) && ["POST", "PUT"].contains(&exchange.method.as_str()) {
        exchange.headers.push(("Content-Type".into(), "application/yaml".into()));
    }
    exchange
}

/// The version of an object, as it was seen last or first.
pub(super) fn version(kind: &Kind, dice: &mut Dice, name: &str) -> String {
    let seen = *dice.pick(&["last", "last", "last", "first"]);
    format!("{{{{{seen}-{}-{name}}}}}", kind.plural)
}

pub(super) fn uid(kind: &Kind, name: &str) -> String {
    format!("{{{{uid-{}-{name}}}}}", kind.plural)
}

/// Remembers what the answer says of the object; what failed says nothing.
fn remembering(mut exchange: Exchange, kind: &Kind, name: &str) -> Exchange {
    let version = ".metadata.resourceVersion";
    let captures = &mut exchange.directives.captures_if_there;
    captures.push((format!("last-{}-{name}", kind.plural), version.into()));
    captures.push((format!("uid-{}-{name}", kind.plural), ".metadata.uid".into()));
    if exchange.method == "POST" {
        captures.push((format!("first-{}-{name}", kind.plural), version.into()));
    }
    exchange
}

fn path(kind: &Kind, name: &str) -> String {
    format!("{}/{}", kind.collection(), kind.full_name(name))
}

fn create(kind: &Kind, dice: &mut Dice, name: &str) -> Exchange {
    let target = format!("{}?{}", kind.collection(), write_options(dice));
    let mut object = kind.object(dice, name);
    if dice.chance(6) {
        // Each prefix once: the order of two objects must not depend on what was made up.
        let prefix = format!("g{}", dice.below(100_000));
        object["metadata"]["generateName"] = json!(format!("{}-", kind.full_name(&prefix)));
        if let Some(metadata) = object["metadata"].as_object_mut().filter(|_| dice.chance(80)) {
            metadata.remove("name");
        }
    }
    if dice.chance(3) {
        object["metadata"]["resourceVersion"] = json!(dice.pick(&["1", "0", "x"]));
    }
    let exchange = Exchange { method: "POST".into(), target, body: object.to_string(), ..Exchange::default() };
    remembering(exchange, kind, name)
}

fn update(kind: &Kind, dice: &mut Dice, name: &str) -> Exchange {
    let mut object = kind.object(dice, name);
    if dice.chance(40) {
        object["metadata"]["resourceVersion"] = json!(version(kind, dice, name));
    }
    if dice.chance(10) {
        object["metadata"]["uid"] = json!(uid(kind, name));
    }
    let target = format!("{}?{}", path(kind, name), write_options(dice));
    let exchange = Exchange { method: "PUT".into(), target, body: object.to_string(), ..Exchange::default() };
    remembering(exchange, kind, name)
}

/// The ways to delete that leave nothing for the garbage collector to do in its own time; in dry runs, all of them.
fn delete_options(kind: &Kind, dice: &mut Dice, name: &str) -> Value {
    let mut options = json!({});
    if dice.chance(15) {
        options["preconditions"] = json!({"uid": uid(kind, name)});
    }
    if dice.chance(20) {
        options["preconditions"]["resourceVersion"] = json!(version(kind, dice, name));
    }
    if dice.chance(15) {
        options["gracePeriodSeconds"] = json!(dice.pick(&[0, 5, -1]));
    }
    if kind.lasts || dice.chance(12) {
        options["dryRun"] = json!(["All"]);
        match dice.below(8) {
            0 => options["propagationPolicy"] = json!(dice.pick(&["Orphan", "Foreground"])),
            1 => options["orphanDependents"] = json!(dice.chance(50)),
            2 => options = json!({"dryRun": ["All"], "orphanDependents": true, "propagationPolicy": "Orphan"}),
            _ => {}
        }
    } else {
        match dice.below(12) {
            0..3 => options["propagationPolicy"] = json!("Background"),
            3 => options["propagationPolicy"] = json!("Sideways"),
            4 => options["orphanDependents"] = json!(false),
            _ => {}
        }
    }
    options
}

fn delete(kind: &Kind, dice: &mut Dice, name: &str) -> Exchange {
    let options = delete_options(kind, dice, name);
    let body = if options == json!({}) { String::new() } else { options.to_string() };
    let mut target = path(kind, name);
    if dice.chance(10) {
        target.push_str("?propagationPolicy=Background&dryRun=All");
    }
    let exchange = Exchange { method: "DELETE".into(), target, body, ..Exchange::default() };
    remembering(exchange, kind, name)
}

/// Deletes what a selector finds. Namespaces cannot be deleted so, and without a selector nobody keeps any rights.
fn delete_some(kind: &Kind, dice: &mut Dice) -> Exchange {
    let mut options = delete_options(kind, dice, "a");
    if let Some(options) = options.as_object_mut() {
        options.remove("preconditions");
    }
    let mut target = if dice.chance(25) {
        kind.with_field(&format!("metadata.name%3D{}", kind.full_name("b")))
    } else {
        kind.selected(dice.text(&["app", "app%3Dx", "tier%3Dfront"]))
    };
    if dice.chance(15) {
        target.push_str("&limit=1");
    }
    Exchange { method: "DELETE".into(), target, body: options.to_string(), ..Exchange::default() }
}

fn get(kind: &Kind, dice: &mut Dice, name: &str) -> Exchange {
    let target = match dice.below(6) {
        0 => format!("{}?resourceVersion={}", path(kind, name), version(kind, dice, name)),
        _ => path(kind, name),
    };
    remembering(Exchange { method: "GET".into(), target, ..Exchange::default() }, kind, name)
}

fn subresource(kind: &Kind, dice: &mut Dice, name: &str) -> Exchange {
    let Some(subresource) = (!kind.subresources.is_empty()).then(|| *dice.pick(kind.subresources)) else {
        return get(kind, dice, name);
    };
    let target = format!("{}/{subresource}", path(kind, name));
    if dice.chance(40) {
        return Exchange { method: "GET".into(), target, ..Exchange::default() };
    }
    let body = match subresource {
        "scale" => json!({"spec": {"replicas": dice.pick(&[0, 1, 3, -1])}}),
        _ => json!({"spec": {"replicas": 9}, "status": {"observedGeneration": dice.below(3)}}),
    };
    let headers = vec![("Content-Type".into(), "application/merge-patch+json".into())];
    let target = format!("{target}?{}", write_options(dice));
    Exchange { method: "PATCH".into(), target, headers, body: body.to_string(), ..Exchange::default() }
}

/// A list: whole, by selectors, page by page, of an earlier version.
fn list(kind: &Kind, dice: &mut Dice) -> Exchange {
    let mut target = match dice.below(10) {
        0..6 => kind.selected(dice.text(&LABELS)),
        6 if !kind.fields.is_empty() => kind.with_field(dice.text(kind.fields)),
        7 => kind.with_field(&format!("metadata.name%3D{}", kind.full_name("a"))),
        8 => kind.with_field(dice.text(&["metadata.namespace%3D{{ns}}", "data%3Dx", "metadata.name%21%3Da"])),
        _ => format!("{}?{}", kind.collection(), kind.ours()),
    };
    let pages = format!("page-{}", kind.plural);
    let mut exchange = Exchange { method: "GET".into(), ..Exchange::default() };
    let seen = format!("seen-{}", kind.plural);
    match dice.below(12) {
        0 | 1 => target.push_str(dice.text(&["&limit=1", "&limit=2"])),
        2 | 3 => {
            target = format!("{}?{}&limit=1", kind.collection(), kind.ours());
            exchange.directives.captures_if_there.push((pages, ".metadata.continue".into()));
        }
        4 => target = format!("{}?{}&limit=2&continue={{{{{pages}}}}}", kind.collection(), kind.ours()),
        5 => target = format!("{target}&resourceVersion={{{{{seen}}}}}&resourceVersionMatch=Exact"),
        6 => target = format!("{target}&resourceVersion={{{{{seen}}}}}&resourceVersionMatch=NotOlderThan"),
        7 => target = format!("{target}&resourceVersion={{{{{seen}}}}}"),
        8 => target
            .push_str(dice.text(&["&resourceVersionMatch=Exact", "&resourceVersion=0&resourceVersionMatch=Exact"])),
        9 => target = kind.across().unwrap_or(target),
        _ => {}
    }
    exchange.target = target;
    exchange.directives.captures_if_there.push((seen, ".metadata.resourceVersion".into()));
    exchange
}

/// What has happened since an object was seen.
fn watch(kind: &Kind, dice: &mut Dice, name: &str) -> Exchange {
    let since = version(kind, dice, name);
    let target = if dice.chance(60) {
        kind.selected(dice.text(&LABELS))
    } else {
        kind.with_field(&format!("metadata.name%3D{}", kind.full_name(name)))
    };
    let target = format!("{target}&watch=1&timeoutSeconds=1&resourceVersion={since}");
    Exchange { method: "GET".into(), target, ..Exchange::default() }
}

/// Options of whatever writes.
pub(super) fn write_options(dice: &mut Dice) -> String {
    let mut options = Vec::new();
    if dice.chance(10) {
        options.push("dryRun=All".to_owned());
    }
    if dice.chance(25) {
        options.push(format!("fieldManager={}", dice.pick(&["one", "two"])));
    }
    if dice.chance(15) {
        options.push(format!("fieldValidation={}", dice.pick(&["Strict", "Warn", "Ignore"])));
    }
    options.join("&")
}
