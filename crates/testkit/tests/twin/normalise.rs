//! Takes out of one answer what no two servers share, before answers are compared.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// The names that one server made up, in the order they were seen.
#[derive(Debug, Default)]
pub(crate) struct Names {
    made_up: Vec<(String, String)>,
    /// What the request at hand wants a name to begin with.
    prefix: Option<String>,
}

impl Names {
    /// A refusal names what was to be created without saying that the name was made up; the request does.
    pub(crate) fn expect(&mut self, body: &[u8]) {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        self.prefix = body.pointer("/metadata/generateName").and_then(Value::as_str).map(str::to_owned);
    }

    /// Learns the names in an answer and rewrites it.
    pub(crate) fn normalise(&mut self, value: &mut Value) {
        self.learn(value);
        self.rewrite(value);
    }

    /// Rewrites a text that is no JSON.
    pub(crate) fn normalise_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, placeholder) in &self.made_up {
            text = text.replace(name, placeholder);
        }
        text
    }

    fn learn(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Object(fields) => {
                let text = |key: &str| fields.get(key).and_then(Value::as_str);
                if let (Some(prefix), Some(name)) = (text("generateName"), text("name")) {
                    self.add(prefix, name);
                }
                if let (Some(prefix), Some(name)) = (self.prefix.clone(), text("name")) {
                    self.add(&prefix, name);
                }
                fields.values().for_each(|field| self.learn(field));
            }
            _ => {}
        }
    }

    /// A name counts as made up only if it looks as Kubernetes' do: five letters that spell no words.
    fn add(&mut self, prefix: &str, name: &str) {
        const ALPHABET: &str = "bcdfghjklmnpqrstvwxz2456789";
        let random = |suffix: &&str| suffix.len() == 5 && suffix.chars().all(|c| ALPHABET.contains(c));
        let known = self.made_up.iter().any(|(known, _)| known == name);
        // A long prefix is cut before the suffix is added.
        let start = name.len().saturating_sub(5);
        let suffix = name.get(start..).filter(random);
        if let (false, Some(_), Some(stem)) = (known, suffix, name.get(..start).filter(|stem| prefix.starts_with(stem)))
        {
            let placeholder = format!("{stem}<random {}>", self.made_up.len() + 1);
            self.made_up.push((name.to_owned(), placeholder));
        }
    }

    fn rewrite(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                *text = self.normalise_text(text);
                mask_mounts(text);
                if let Some(token) = claims(text) {
                    *value = token;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rewrite(item)),
            Value::Object(fields) => {
                let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
                if kind.ends_with("List") || kind == "Table" || fields.get("type") == Some(&json!("BOOKMARK")) {
                    forget_version(value);
                }
                self.rewrite_fields(value);
            }
            _ => {}
        }
    }

    /// Rules that somebody has come in no order: Kubernetes visits bindings as they are in a hash table.
    fn rewrite_fields(&self, value: &mut Value) {
        let Value::Object(fields) = value else { return };
        let group = fields.get("group").and_then(Value::as_str);
        let custom = group.is_some_and(|group| group.ends_with(".example.com"));
        for (key, field) in fields {
            self.rewrite(field);
            match (key.as_str(), field) {
                ("managedFields", Value::Array(entries)) => sort_managers(entries),
                ("conditions", Value::Array(conditions)) => sort_definition(conditions),
                ("causes", Value::Array(causes)) if custom => causes.sort_by_cached_key(Value::to_string),
                ("cells", Value::Array(cells)) => cells.iter_mut().for_each(mask_age),
                ("reason" | "evaluationError", Value::String(text)) => sort_errors(text),
                ("message", Value::String(text)) => {
                    sort_errors(text);
                    sort_refusal(text);
                    mask_versions(text);
                    mask_document(text);
                }
                ("manager", Value::String(text)) => mask_component(text),
                ("resourceRules" | "nonResourceRules", Value::Array(rules)) => {
                    rules.sort_by_cached_key(Value::to_string);
                }
                ("columnDefinitions", Value::Array(columns)) => columns.iter_mut().for_each(drop_prose),
                ("continue", Value::String(text)) if !text.is_empty() => "<continue>".clone_into(text),
                _ => {}
            }
        }
    }
}

/// The version of a list or a bookmark is the server's, not an object's: it moves with everything else that happens.
fn forget_version(value: &mut Value) {
    for place in ["/metadata/resourceVersion", "/object/metadata/resourceVersion"] {
        if let Some(Value::String(version)) = value.pointer_mut(place)
            && version.parse::<u64>().is_ok_and(|version| version > 0)
        {
            "<version>".clone_into(version);
        }
    }
}

/// Entries are ordered by time, which two servers share only by luck.
fn sort_managers(entries: &mut [Value]) {
    entries.sort_by_cached_key(|entry| {
        let parts = ["manager", "operation", "subresource", "apiVersion"];
        parts.map(|part| entry.get(part).and_then(Value::as_str).unwrap_or_default().to_owned())
    });
}

/// Several controllers write the conditions of a definition, each when it comes to that.
fn sort_definition(conditions: &mut [Value]) {
    if conditions.iter().any(|condition| condition["type"] == "NamesAccepted") {
        conditions.sort_by_cached_key(|condition| condition["type"].to_string());
    }
}

/// `5s`, `2m10s`, `3d`: how long ago.
fn mask_age(cell: &mut Value) {
    let Value::String(text) = cell else { return };
    let mut rest = text.as_str();
    while let Some(after) =
        rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['s', 'm', 'h', 'd', 'y'])
    {
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return;
        }
        rest = after;
    }
    if !text.is_empty() && rest.is_empty() {
        "<age>".clone_into(text);
    }
}

/// What is wrong with somebody's bindings is told in the order of a hash table.
fn sort_errors(text: &mut String) {
    let start = match text.find("RBAC: [") {
        Some(at) => at + "RBAC: [".len(),
        None if text.starts_with('[') => 1,
        None => return,
    };
    if let Some(errors) = text.get(start..).and_then(|rest| rest.strip_suffix(']')) {
        let mut errors: Vec<&str> = errors.split(", ").collect();
        errors.sort_unstable();
        let sorted = errors.join(", ");
        text.replace_range(start..text.len() - 1, &sorted);
    }
}

/// What a schema refuses in an object is told in the order of a hash table.
fn sort_refusal(text: &mut String) {
    const START: &str = " is invalid: [";
    let Some(at) = text.find(START).filter(|at| text.get(..*at).is_some_and(|start| start.contains(".example.com \"")))
    else {
        return;
    };
    if let Some(errors) = text.get(at + START.len()..).and_then(|rest| rest.strip_suffix(']')) {
        let mut errors: Vec<&str> = errors.split(", ").collect();
        errors.sort_unstable();
        let sorted = errors.join(", ");
        text.replace_range(at + START.len()..text.len() - 1, &sorted);
    }
}

/// Messages about versions name the server's own.
fn mask_versions(text: &mut String) {
    for (before, after) in [("resource version: ", ", current: "), ("resource version: ", " (")] {
        if let Some((start, rest)) = text.split_once(before)
            && let Some((asked, rest)) = rest.split_once(after)
            && asked.bytes().all(|byte| byte.is_ascii_digit())
        {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            *text = format!("{start}{before}{asked}{after}<version>{rest}");
            return;
        }
    }
}

/// A patch that does not fit is refused with the whole patched object, in the order that Go's libraries left it in.
fn mask_document(text: &mut String) {
    const START: &str = "Invalid value: \"{\\\"";
    const END: &str = "}\": ";
    if let (Some(start), Some(end)) = (text.find(START), text.rfind(END))
        && start < end
    {
        text.replace_range(start..end + END.len(), "Invalid value: <document>: ");
    }
}

/// The server's own manager is named after its program, which is not the same in a testbed and in a cluster.
fn mask_component(text: &mut String) {
    if text.starts_with("testbed") || ["kube-apiserver", "kube-controller-manager"].contains(&text.as_str()) {
        "<component>".clone_into(text);
    }
}

/// What a column is about is said in Kubernetes' words there, in none here.
fn drop_prose(column: &mut Value) {
    if let Some(column) = column.as_object_mut() {
        column.remove("description");
    }
}

/// The volume with a pod's token has a random name.
fn mask_mounts(text: &mut String) {
    const PREFIX: &str = "kube-api-access-";
    if let Some(at) = text.find(PREFIX) {
        let end = at + PREFIX.len() + 5;
        if text.is_char_boundary(end) && end <= text.len() {
            text.replace_range(at + PREFIX.len()..end, "<random>");
        }
    }
}

/// What a JWT says, without what is random in it. How long it lives is kept, when it began is not. In secrets it is in
/// base64.
fn claims(text: &str) -> Option<Value> {
    let decoded = BASE64_STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let parts: Vec<&str> = decoded.as_deref().unwrap_or(text).split('.').collect();
    let [header, payload, signature] = parts[..] else { return None };
    let decode = |part: &str| {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(part).ok()?;
        serde_json::from_slice::<Value>(&bytes).ok().filter(Value::is_object)
    };
    let (mut header, mut payload) = (decode(header)?, decode(payload)?);
    let key = header.get_mut("kid")?;
    *key = json!("<key>");
    let begin = payload.get("iat").and_then(Value::as_i64).unwrap_or_default();
    for time in ["iat", "nbf", "exp", "warnafter"] {
        for place in [format!("/{time}"), format!("/kubernetes.io/{time}")] {
            if let Some(value) = payload.pointer_mut(&place) {
                *value = json!(format!("begin + {}", value.as_i64()? - begin));
            }
        }
    }
    Some(json!({"header": header, "claims": payload, "signed": !signature.is_empty()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(mut value: Value) -> Value {
        Names::default().normalise(&mut value);
        value
    }

    #[test]
    fn versions_of_lists_are_forgotten_those_of_objects_are_not() {
        let list = json!({"kind": "RoleList", "metadata": {"resourceVersion": "7", "continue": "abc"},
            "items": [{"metadata": {"resourceVersion": "5"}}]});
        let expected = json!({"kind": "RoleList", "metadata": {"resourceVersion": "<version>", "continue": "<continue>"},
            "items": [{"metadata": {"resourceVersion": "5"}}]});
        assert_eq!(normalised(list), expected);
        let bookmark = json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}});
        assert_eq!(normalised(bookmark)["object"]["metadata"]["resourceVersion"], "<version>");
        let nothing = json!({"kind": "RoleList", "metadata": {"resourceVersion": ""}});
        assert_eq!(normalised(nothing.clone()), nothing, "a version that is missing stays missing");
    }

    #[test]
    fn generated_names_become_placeholders_wherever_they_are() {
        let mut names = Names::default();
        let mut created = json!({"metadata": {"generateName": "a-", "name": "a-bcdfg"}});
        names.normalise(&mut created);
        assert_eq!(created["metadata"]["name"], "a-<random 1>");
        let mut refused = json!({"message": "roles \"a-bcdfg\" not found"});
        names.normalise(&mut refused);
        assert_eq!(refused["message"], "roles \"a-<random 1>\" not found");
        names.expect(br#"{"metadata": {"generateName": "b-"}}"#);
        let mut refused = json!({"message": "b-bcdfg is bad", "details": {"name": "b-bcdfg"}});
        names.normalise(&mut refused);
        assert_eq!(refused["message"], "b-<random 2> is bad");
        let mut unlike = json!({"metadata": {"generateName": "a-", "name": "a-aaaaa"}});
        names.normalise(&mut unlike);
        assert_eq!(unlike["metadata"]["name"], "a-aaaaa", "vowels are never drawn");
    }

    #[test]
    fn ages_and_versions_in_messages() {
        assert_eq!(
            normalised(json!({"cells": ["a", "5s", "2m10s", 3, "", "1/1", "s"]})),
            json!({"cells": ["a", "<age>", "<age>", 3, "", "1/1", "s"]})
        );
        let message = |text: &str| normalised(json!({"message": text}))["message"].clone();
        assert_eq!(
            message("Too large resource version: 99, current: 12"),
            "Too large resource version: 99, current: <version>"
        );
        let document = r#"patch: Invalid value: "{\"a\":{\"b\":1}}": json: no"#;
        assert_eq!(message(document), "patch: Invalid value: <document>: json: no");
        assert_eq!(message("too old resource version: 1 (12)"), "too old resource version: 1 (<version>)");
        assert_eq!(message("no: RBAC: [b, a]"), "no: RBAC: [a, b]");
    }

    #[test]
    fn tokens_are_opened() {
        let part = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let token = format!(
            "{}.{}.abc",
            part(json!({"alg": "ES256", "kid": "x"})),
            part(json!({"iat": 10, "exp": 3610, "sub": "a"}))
        );
        let expected = json!({"header": {"alg": "ES256", "kid": "<key>"}, "signed": true,
            "claims": {"iat": "begin + 0", "exp": "begin + 3600", "sub": "a"}});
        assert_eq!(normalised(json!({"token": token}))["token"], expected);
    }
}
