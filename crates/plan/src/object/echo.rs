//! Answers to writes. A server mostly says again what it was told; then thousands of rules need not be read to be known.

use std::sync::Arc;

use rolewright_core::Rule;
use serde::Deserialize;

use super::{Live, Unreadable};
use crate::kind::{Kind, Reports};
use crate::rbac::{AggregationRule, RoleBody};

/// How the rules begin in an object's text. Quotes within texts are escaped, so this is never part of one.
const BEGIN: &str = ",\"rules\":[";

/// What a role says after its rules.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct After {
    aggregation_rule: Option<AggregationRule>,
}

/// The rules of a role as they are sent to a server: as values, and as text.
#[derive(Clone, Debug)]
pub struct Echo<'a> {
    rules: &'a [Rule],
    text: Box<str>,
}

impl<'a> Echo<'a> {
    /// The rules out of the text of a request that is made of them by [`render`](crate::render).
    pub fn of(rules: &'a [Rule], request: &[u8]) -> Option<Self> {
        let request = std::str::from_utf8(request).ok()?;
        let (_, text) = request.split_at_checked(request.find(BEGIN)?)?;
        // Whoever gathers says so last. No text within has that member's name, because of its quotes.
        let end = match text.strip_suffix("]}") {
            Some(rules) => rules.len() + 1,
            None => text.rfind("],\"aggregationRule\":")? + 1,
        };
        let text = text.get(..end)?;
        text.ends_with(']').then(|| Self { rules, text: text.into() })
    }

    /// Reads an answer: the same as [`Live::parse`] of it. Rules that are told in the very words in which they were sent
    /// are those that were sent, and share their memory.
    pub fn read(&self, kind: &Kind, answer: &str) -> Result<Live, Unreadable> {
        self.heard(kind, answer).map_or_else(|| Live::parse(kind, answer), Ok)
    }

    fn heard(&self, kind: &Kind, answer: &str) -> Option<Live> {
        let answer = answer.trim_ascii_end();
        let (before, rest) = answer.split_at_checked(answer.find(BEGIN)?)?;
        let after = rest.strip_prefix(&*self.text)?;
        // Both sides are whole without the rules, so that these are the object's own and not part of anything in it.
        let (meta, body) = kind.parse(&format!("{before}}}"))?;
        let before: &RoleBody = body.downcast_ref()?;
        let after: After = serde_json::from_str(&format!("{{{}", after.strip_prefix(',').unwrap_or(after))).ok()?;
        if *before != RoleBody::default() || meta.ours.is_none() || kind.reports != Reports::Never {
            return None;
        }
        let body = RoleBody { rules: self.rules.to_vec(), aggregation: after.aggregation_rule.map(Into::into) };
        Some(Live { meta, body: Ok(Arc::new(body)), conditions: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::{Content, Shape};
    use crate::object::ObjectRef;
    use crate::rbac::CLUSTER_ROLE;
    use crate::render;
    use rolewright_core::selector::LabelSelector;

    const ENTRY: &str = r#"{"manager":"rolewright","operation":"Apply","apiVersion":"rbac.authorization.k8s.io/v1",
        "fieldsType":"FieldsV1","fieldsV1":{"f:rules":{}}}"#;

    fn rules() -> Vec<Rule> {
        let mut named = Rule::resources([""], ["pods", "pods/log"], ["get", "],\"aggregationRule\":"]);
        named.resource_names = ["a\"b".into()].into();
        let urls =
            Rule { non_resource_urls: ["/healthz".into()].into(), verbs: ["*".into()].into(), ..Rule::default() };
        vec![Rule::resources(["acme.io"], ["xs"], ["*"]), named, urls]
    }

    /// What a server answers that has these rules and says this beside them.
    fn answer(rules: &str, metadata: &str, after: &str) -> String {
        let metadata = format!(r#"{{"name":"a","uid":"1","resourceVersion":"7",{metadata}}}"#);
        format!("{{\"kind\":\"ClusterRole\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"rules\":{rules}{after}}}\n")
    }

    fn told(live: &Live) -> String {
        format!("{:?} {:?}", live.meta, live.body::<RoleBody>())
    }

    /// Whether its rules are those that were sent, and not only equal to them.
    fn shares(live: &Live, rules: &[Rule]) -> bool {
        let known = live.body::<RoleBody>().into_iter().flat_map(|role| &role.rules);
        known.zip(rules).all(|(known, sent)| std::ptr::eq(known.verbs.as_slice(), sent.verbs.as_slice()))
    }

    #[test]
    fn an_answer_is_read_as_any_object_and_shares_the_rules_that_were_sent() {
        let rules = rules();
        let gathers = vec![LabelSelector::default()];
        let role = ObjectRef::cluster(&CLUSTER_ROLE, "a");
        for aggregation in [None, Some(gathers)] {
            let content = Content::Role { rules: Some(rules.clone()), aggregation };
            let shape = Shape { content, ..Shape::default() };
            let sent = serde_json::to_vec(&render::object(&role, "v1", None, &shape)).unwrap();
            let echo = Echo::of(&rules, &sent).unwrap();
            // As Kubernetes' Go code writes them.
            let same = r#"[{"verbs":["*"],"apiGroups":["acme.io"],"resources":["xs"]},{"verbs":["get","],\"aggregationRule\":"],"apiGroups":[""],"resources":["pods","pods/log"],"resourceNames":["a\"b"]},{"verbs":["*"],"nonResourceURLs":["/healthz"]}]"#;
            let entries = format!("\"managedFields\":[{ENTRY}]");
            let selectors = r#","aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}"#;
            let hidden = format!(r#""annotations":{{"x":",\"rules\":[","rules":"["}},{entries}"#);
            let inside = format!(r#""more":{{"a":1,"rules":{same}}},{entries}"#);
            let cases = [
                (answer(same, &entries, ""), true),
                (answer(same, &entries, selectors), true),
                (answer(same, &hidden, ""), true),
                (answer(&same.replace("xs", "ys"), &entries, ""), false),
                (answer(&same.replace(r#"{"verbs":["*"],"nonR"#, r#"{"verbs":[],"nonR"#), &entries, ""), false),
                (answer("[]", &entries, ""), false),
                (answer("null", &entries, ""), false),
                (answer("[]", &inside, ""), false),
                (answer(same, "\"managedFields\":[]", ""), false),
                (answer(same, &entries, r#","rules":[]"#), false),
                (answer(same, &entries, r#","metadata":{"name":"b"}"#), false),
                (answer(&same.replace("},{", ",\"a\":1},{"), &entries, ""), false),
            ];
            for (text, expected) in cases {
                let live = echo.read(&CLUSTER_ROLE, &text).unwrap();
                assert_eq!(told(&live), told(&Live::parse(&CLUSTER_ROLE, &text).unwrap()), "{text}");
                let shared = echo.heard(&CLUSTER_ROLE, &text).is_some_and(|live| shares(&live, &rules));
                assert_eq!(shared, expected, "{text}");
            }
            for text in ["", "{}", "7", "{\"metadata\":{\"name\":\"a\"},\"rules\":["] {
                assert_eq!(echo.read(&CLUSTER_ROLE, text).is_ok(), Live::parse(&CLUSTER_ROLE, text).is_ok(), "{text}");
            }
        }
    }
}
