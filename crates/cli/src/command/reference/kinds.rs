//! The kinds that the manager reads and writes, what users may write on objects, and the fields of definitions of ours.

use std::fmt::Write as _;

use rolewright_api::crds;
use rolewright_plan::Module;
use rolewright_plan::vocabulary::annotation;
use serde_json::Value;

use super::{head, row};

pub(super) fn page(modules: &[Box<dyn Module>]) -> String {
    let mut page = "# Kinds\n\nWhat each module of the manager reads, and where. There are no kinds of our own: a module \
                    wakes when the kinds that it needs are served. What the manager may write is printed by `rolewright \
                    manifests rbac`; [annotations](#annotations) and [fields](#fields-of-config-syncs-kinds) are below.\n"
        .to_owned();
    for module in modules {
        // Writing to a `String` cannot fail.
        let _ = write!(page, "\n## {}\n\n{}", module.name(), head(&["kind", "group", "versions", "scope", ""]));
        for watch in module.watches() {
            let kind = watch.kind;
            let group = if kind.group.is_empty() { "core".to_owned() } else { format!("`{}`", kind.group) };
            let scope = if kind.namespaced { "namespaced" } else { "cluster" };
            let needed = if watch.needed { "needed" } else { "used where it is served" };
            page.push_str(&row(&[&format!("`{}`", kind.kind), &group, &kind.versions.join(", "), scope, needed]));
        }
    }
    annotations(&mut page);
    fields(&mut page);
    page
}

fn annotations(page: &mut String) {
    page.push_str("\n## Annotations\n\nWhat one may write on objects.\n\n");
    page.push_str(&head(&["annotation", "on", "value", "what it does"]));
    for (name, on, value, what) in annotation::FOR_USERS {
        page.push_str(&row(&[&format!("`{name}`"), on, &format!("`{value}`"), what]));
    }
}

fn fields(page: &mut String) {
    page.push_str(
        "\n## Fields of Config Sync's kinds\n\nWhat the definitions say that `rolewright manifests crds` prints. Fields of `spec` \
         and `status` that they do not name stay as they are written.\n",
    );
    for definition in crds::config_sync() {
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, group) = (text("/spec/names/kind"), text("/spec/group"));
        let _ = write!(page, "\n### {kind}.{group}\n\n{}", head(&["field", "type", "what it is"]));
        if let Some(schema) = definition.pointer("/spec/versions/0/schema/openAPIV3Schema") {
            describe(page, "", schema);
        }
    }
}

/// The fields of a schema, each with its path.
fn describe(page: &mut String, path: &str, schema: &Value) {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let below = format!("{path}{name}");
        let word = |key: &str| field.get(key).and_then(Value::as_str).unwrap_or_default();
        let items = field.get("items");
        let of = items.and_then(|items| items.get("type")).and_then(Value::as_str).map(|of| format!(" of {of}s"));
        let mut said: Vec<String> = Vec::new();
        if required.contains(&name.as_str()) {
            said.push("required".to_owned());
        }
        if let Some(values) = field.get("enum").and_then(Value::as_array) {
            let values: Vec<String> =
                values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`")).collect();
            said.push(values.join(" or "));
        }
        for (key, sign) in [("minLength", "at least"), ("maxLength", "at most")] {
            if let Some(length) = field.get(key).and_then(Value::as_u64) {
                let letters = if length == 1 { "letter" } else { "letters" };
                said.push(format!("{sign} {length} {letters}"));
            }
        }
        if let Some(most) = field.get("maxItems").and_then(Value::as_u64) {
            said.push(format!("at most {most}"));
        }
        let description = [word("description").to_owned(), said.join(", "), rules(schema, name)];
        let description: Vec<String> = description.into_iter().filter(|part| !part.is_empty()).collect();
        let kind = format!("{}{}", word("type"), of.unwrap_or_default());
        page.push_str(&row(&[&format!("`{below}`"), &kind, &description.join("<br>")]));
        match items {
            Some(items) => describe(page, &format!("{below}[]."), items),
            None => describe(page, &format!("{below}."), field),
        }
    }
}

/// With which words a field is refused.
fn rules(schema: &Value, field: &str) -> String {
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    let about = |rule: &&Value| rule.get("fieldPath").and_then(Value::as_str) == Some(&format!(".{field}"));
    let messages = rules.filter(about).filter_map(|rule| rule.get("message")?.as_str());
    messages.map(|message| format!("error: {message}")).collect::<Vec<_>>().join("<br>")
}
