//! Whether metadata and RBAC kinds have the form that Kubernetes knows. Everything else passes: its kind knows better.

use rolewright_core::RBAC_GROUP;
use serde_json::Value;

use super::{MOST_PROBLEMS, Manifest, Problem};

/// The form of a value.
enum Form {
    Any,
    Text,
    /// Texts by name, as labels.
    Texts,
    List(&'static Form),
    /// Exactly these fields, none of which must be there.
    Object(&'static [(&'static str, Form)]),
}

const METADATA: Form = Form::Object(&[
    ("annotations", Form::Texts),
    ("creationTimestamp", Form::Any),
    ("deletionGracePeriodSeconds", Form::Any),
    ("deletionTimestamp", Form::Any),
    ("finalizers", Form::List(&Form::Text)),
    ("generateName", Form::Text),
    ("generation", Form::Any),
    ("labels", Form::Texts),
    ("managedFields", Form::Any),
    ("name", Form::Text),
    ("namespace", Form::Text),
    ("ownerReferences", Form::Any),
    ("resourceVersion", Form::Text),
    ("selfLink", Form::Text),
    ("uid", Form::Text),
]);

const RULE: Form = Form::Object(&[
    ("apiGroups", Form::List(&Form::Text)),
    ("nonResourceURLs", Form::List(&Form::Text)),
    ("resourceNames", Form::List(&Form::Text)),
    ("resources", Form::List(&Form::Text)),
    ("verbs", Form::List(&Form::Text)),
]);

const SELECTOR: Form = Form::Object(&[
    (
        "matchExpressions",
        Form::List(&Form::Object(&[
            ("key", Form::Text),
            ("operator", Form::Text),
            ("values", Form::List(&Form::Text)),
        ])),
    ),
    ("matchLabels", Form::Texts),
]);

const ROLE: Form = Form::Object(&[
    ("apiVersion", Form::Text),
    ("kind", Form::Text),
    ("metadata", METADATA),
    ("rules", Form::List(&RULE)),
]);

const CLUSTER_ROLE: Form = Form::Object(&[
    ("aggregationRule", Form::Object(&[("clusterRoleSelectors", Form::List(&SELECTOR))])),
    ("apiVersion", Form::Text),
    ("kind", Form::Text),
    ("metadata", METADATA),
    ("rules", Form::List(&RULE)),
]);

const BINDING: Form = Form::Object(&[
    ("apiVersion", Form::Text),
    ("kind", Form::Text),
    ("metadata", METADATA),
    ("roleRef", Form::Object(&[("apiGroup", Form::Text), ("kind", Form::Text), ("name", Form::Text)])),
    (
        "subjects",
        Form::List(&Form::Object(&[
            ("apiGroup", Form::Text),
            ("kind", Form::Text),
            ("name", Form::Text),
            ("namespace", Form::Text),
        ])),
    ),
]);

/// Says what is wrong with an object.
pub(super) fn check(manifest: &Manifest, problems: &mut Vec<Problem>) {
    let mut tell = |field: &str, message: String, hint: Option<String>| {
        if problems.len() < MOST_PROBLEMS {
            problems.push(Problem { hint, ..manifest.problem(field, message) });
        }
    };
    if manifest.group() == RBAC_GROUP {
        if manifest.api_version() != "rbac.authorization.k8s.io/v1" {
            let message = format!("`{}` is not served any more", manifest.api_version());
            tell("apiVersion", message, Some("write `rbac.authorization.k8s.io/v1`".to_owned()));
        }
        let form = match manifest.kind() {
            "ClusterRole" => CLUSTER_ROLE,
            "Role" => ROLE,
            "ClusterRoleBinding" | "RoleBinding" => BINDING,
            other => {
                let hint = "they are ClusterRole, Role, ClusterRoleBinding and RoleBinding";
                tell("kind", format!("there is no kind `{other}` in this group"), Some(hint.to_owned()));
                return;
            }
        };
        form.check(&manifest.object, "", &mut tell);
    } else if let Some(metadata) = manifest.object.get("metadata") {
        METADATA.check(metadata, "metadata", &mut tell);
    }
}

type Tell<'a> = &'a mut dyn FnMut(&str, String, Option<String>);

impl Form {
    fn check(&self, value: &Value, path: &str, tell: Tell<'_>) {
        match (self, value) {
            // `null` is as good as nothing.
            (Self::Any, _) | (_, Value::Null) | (Self::Text, Value::String(_)) => {}
            (Self::Text, Value::Bool(_) | Value::Number(_)) => {
                tell(path, format!("must be text, and is {}", form_of(value)), Some(format!("write `\"{value}\"`")));
            }
            (Self::Text, _) => tell(path, format!("must be text, and is {}", form_of(value)), None),
            (Self::Texts, Value::Object(members)) => {
                for (key, value) in members {
                    Self::Text.check(value, &format!("{path}[{key}]"), tell);
                }
            }
            (Self::List(of), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    of.check(item, &format!("{path}[{index}]"), tell);
                }
            }
            (Self::Object(fields), Value::Object(members)) => {
                for (key, value) in members {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    match fields.iter().find(|(name, _)| name == key) {
                        Some((_, form)) => form.check(value, &path, tell),
                        None => tell(&path, "there is no such field".to_owned(), Some(nearest(fields, key))),
                    }
                }
            }
            (Self::List(_), _) => {
                let hint = matches!(value, Value::String(_)).then(|| format!("write `[{value}]`"));
                tell(path, format!("must be a list, and is {}", form_of(value)), hint);
            }
            (Self::Texts | Self::Object(_), _) => {
                tell(path, format!("must be an object, and is {}", form_of(value)), None);
            }
        }
    }
}

fn form_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The field that was meant, or all that there are.
fn nearest(fields: &[(&str, Form)], written: &str) -> String {
    let near = |(name, _): &&(&str, Form)| {
        let (name, written) = (name.to_lowercase(), written.to_lowercase());
        name.contains(&written) || written.contains(&name)
    };
    if let Some((name, _)) = fields.iter().find(near) {
        return format!("did you mean `{name}`");
    }
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    format!("there are {}", names.join(", "))
}
