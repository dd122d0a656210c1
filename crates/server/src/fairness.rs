//! Which flow a request belongs to.
//!
//! Kubernetes queues requests by flow when there are too many, and names the flow's schema and priority level in two
//! headers of every answer. Here nothing queues: the headers are what is left, as in a cluster whose flows nobody changed.

mod rule;

use axum::http::{HeaderMap, HeaderValue};
use rolewright_core::User;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use self::rule::Rule;
use crate::http::request::RequestInfo;
use crate::uid::uuid_v4;

/// The flow schemas of a new cluster, in the order in which they are tried.
const FLOWS: &str = include_str!("fairness/flows.json");

/// Requests of these subresources last, and belong to no flow.
const LONG_RUNNING: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// All flow schemas.
pub(crate) struct Fairness(Vec<Flow>);

struct Flow {
    rules: Vec<Rule>,
    ids: Ids,
}

/// What an answer says of its request's flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ids {
    schema: HeaderValue,
    level: HeaderValue,
}

impl Ids {
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        headers.insert("x-kubernetes-pf-flowschema-uid", self.schema);
        headers.insert("x-kubernetes-pf-prioritylevel-uid", self.level);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    flow_schemas: Vec<FlowSchema>,
}

#[derive(Deserialize)]
struct FlowSchema {
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    priority_level_configuration: Reference,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Reference {
    name: String,
}

impl Fairness {
    pub(crate) fn new() -> Self {
        let document: Document = serde_json::from_str(FLOWS).expect("the tables are generated");
        let id = || HeaderValue::try_from(uuid_v4()).expect("ids are hexadecimal");
        let mut levels: FxHashMap<String, HeaderValue> = FxHashMap::default();
        let flow = |FlowSchema { spec }: FlowSchema| {
            let level = levels.entry(spec.priority_level_configuration.name).or_insert_with(id).clone();
            Flow { rules: spec.rules, ids: Ids { schema: id(), level } }
        };
        Self(document.flow_schemas.into_iter().map(flow).collect())
    }

    /// The flow of a request; `None` for one that lasts, unless it is a watch.
    pub(crate) fn classify(&self, user: &User, info: &RequestInfo) -> Option<&Ids> {
        if info.is_resource && info.verb != "watch" && LONG_RUNNING.contains(&info.subresource.as_str()) {
            return None;
        }
        self.0.iter().find(|flow| flow.rules.iter().any(|rule| rule.matches(user, info))).map(|flow| &flow.ids)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use serde_json::Value;

    use super::*;

    /// The schema of a request, by name.
    fn flow(user: &User, method: &Method, url: &str) -> String {
        let fairness = Fairness::new();
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let found = fairness.classify(user, &RequestInfo::read(method, path, query));
        let document: Value = serde_json::from_str(FLOWS).unwrap();
        let names = document["flowSchemas"].as_array().unwrap().iter().map(|schema| &schema["metadata"]["name"]);
        let named = fairness.0.iter().zip(names).find(|(flow, _)| Some(&flow.ids) == found);
        named.map_or_else(String::new, |(_, name)| name.as_str().unwrap().to_owned())
    }

    #[test]
    fn requests_belong_to_the_first_schema_that_fits() {
        let user = |name: &str, group: &str| User::new(name, [group, "system:authenticated"]);
        let account = |namespace: &str| user(&format!("system:serviceaccount:{namespace}:a"), "system:serviceaccounts");
        let (get, put, post) = (Method::GET, Method::PUT, Method::POST);
        let lease = "/apis/coordination.k8s.io/v1/namespaces/a/leases/b";
        let pod = "/api/v1/namespaces/a/pods/b";
        for (user, method, url, want) in [
            (user("root", "system:masters"), &get, pod, "exempt"),
            (user("root", "system:masters"), &get, "/healthz", "exempt"),
            (User::new("system:anonymous", ["system:unauthenticated"]), &get, "/livez/etcd", "probes"),
            (user("u", "g"), &get, "/healthz", "probes"),
            (user("u", "g"), &post, "/healthz", "global-default"),
            (user("u", "g"), &get, "/healthzz", "global-default"),
            (user("system:kube-scheduler", "g"), &put, lease, "system-leader-election"),
            (account("kube-system"), &get, lease, "system-leader-election"),
            (account("kube-system"), &Method::DELETE, lease, "kube-system-service-accounts"),
            (account("kube-system"), &get, "/version", "kube-system-service-accounts"),
            (account("kube-system-not"), &get, pod, "service-accounts"),
            (account("default"), &get, pod, "service-accounts"),
            (user("system:node:n", "system:nodes"), &put, "/api/v1/nodes/n/status", "system-node-high"),
            (user("system:node:n", "system:nodes"), &put, "/api/v1/nodes/n/other", "system-nodes"),
            (user("system:node:n", "system:nodes"), &get, lease, "system-node-high"),
            (user("system:node:n", "system:nodes"), &get, pod, "system-nodes"),
            (user("system:kube-controller-manager", "g"), &get, pod, "kube-controller-manager"),
            (user("system:kube-scheduler", "g"), &get, pod, "kube-scheduler"),
            (user("u", "g"), &get, pod, "global-default"),
            (user("u", "g"), &get, "/api/v1/namespaces", "global-default"),
            (user("u", "g"), &get, "/api/v1/namespaces/a/pods/b/log", ""),
            (user("u", "g"), &get, "/api/v1/pods?watch=1", "global-default"),
            (User::new("nobody", ["g"]), &get, pod, ""),
        ] {
            assert_eq!(flow(&user, method, url), want, "{user:?} {method} {url}");
        }
    }

    #[test]
    fn schemas_of_one_level_share_its_id() {
        let Fairness(flows) = Fairness::new();
        let mut levels: Vec<&HeaderValue> = flows.iter().map(|flow| &flow.ids.level).collect();
        levels.sort_by_key(|level| level.as_bytes());
        levels.dedup();
        assert!(levels.len() < flows.len(), "{levels:?}");
        assert!(flows.iter().zip(flows.iter().skip(1)).all(|(a, b)| a.ids.schema != b.ids.schema));
    }
}
