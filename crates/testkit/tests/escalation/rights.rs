//! What everybody holds, told by the objects that are there and by the server's own reviews.

use std::collections::BTreeMap;

use anyhow::Result;
use rolewright_core::{Authorizer, Binding, Role, Rule, User, World, covers};
use rolewright_testkit::wire::{BindingObject, RoleObject};
use serde_json::{Value, json};

use crate::servers::{Ask, Target, Who};
use crate::{NAMESPACE, RBAC};

/// Every role and binding.
pub(crate) async fn world(target: &Target) -> Result<World> {
    let mut roles = Vec::new();
    for (plural, kind) in [("clusterroles", "ClusterRole"), ("roles", "Role")] {
        roles.extend(list::<RoleObject>(target, plural, kind).await?.into_iter().map(Role::from));
    }
    let mut bindings = Vec::new();
    for (plural, kind) in [("clusterrolebindings", "ClusterRoleBinding"), ("rolebindings", "RoleBinding")] {
        bindings.extend(list::<BindingObject>(target, plural, kind).await?.into_iter().map(Binding::from));
    }
    Ok(World::new(roles, bindings))
}

async fn list<T: serde::de::DeserializeOwned>(target: &Target, plural: &str, kind: &str) -> Result<Vec<T>> {
    let mut all = target.must(&Ask::get(format!("{RBAC}/{plural}"))).await?;
    let mut items = all["items"].take();
    // List items carry no kind of their own.
    for item in items.as_array_mut().into_iter().flatten() {
        item["kind"] = json!(kind);
    }
    Ok(serde_json::from_value(items)?)
}

/// The rules that reach a user, in each of these namespaces; `""` for the cluster.
pub(crate) fn held(world: &World, user: &User, namespaces: &[&str]) -> BTreeMap<String, Vec<Rule>> {
    let authorizer = Authorizer::new(world);
    let rules = |namespace: &&str| {
        let rules = authorizer.rules_for(user, namespace).rules().cloned().collect();
        ((*namespace).to_owned(), rules)
    };
    namespaces.iter().map(rules).collect()
}

/// What `after` has and `before` does not cover, by namespace.
pub(crate) fn gained(
    before: &BTreeMap<String, Vec<Rule>>,
    after: &BTreeMap<String, Vec<Rule>>,
) -> Vec<(String, Vec<Rule>)> {
    let nothing = Vec::new();
    let missing = |(namespace, rules): (&String, &Vec<Rule>)| {
        let missing = covers(before.get(namespace).unwrap_or(&nothing), rules);
        (!missing.is_empty()).then(|| (namespace.clone(), missing))
    };
    after.iter().filter_map(missing).collect()
}

/// What the server itself says that somebody may do: yes or no to each probe, and the list of rules.
pub(crate) async fn reviewed(target: &Target, user: &str) -> Result<Value> {
    let who = Who::user(user);
    let mut answers = Vec::new();
    for attributes in probes() {
        let ask =
            Ask::new("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &json!({"spec": attributes}));
        let answer = target.send(&who, &ask).await?;
        answers.push(json!([attributes, answer.body["status"]["allowed"]]));
    }
    let ask = Ask::new(
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        &json!({"spec": {"namespace": NAMESPACE}}),
    );
    let rules = target.send(&who, &ask).await?.body["status"].take();
    Ok(
        json!({"probes": answers, "resources": sorted(&rules["resourceRules"]), "paths": sorted(&rules["nonResourceRules"])}),
    )
}

/// Kubernetes lists rules in no order.
fn sorted(rules: &Value) -> Vec<String> {
    let mut rules: Vec<String> = rules.as_array().into_iter().flatten().map(ToString::to_string).collect();
    rules.sort();
    rules.dedup();
    rules
}

fn probes() -> Vec<Value> {
    let resource = |verb: &str, group: &str, resource: &str, namespace: &str, name: &str| json!({"resourceAttributes": {"verb": verb, "group": group, "resource": resource, "namespace": namespace, "name": name}});
    let rbac = "rbac.authorization.k8s.io";
    vec![
        resource("get", "", "secrets", NAMESPACE, ""),
        resource("get", "", "secrets", NAMESPACE, "a"),
        resource("list", "", "secrets", "", ""),
        resource("list", "", "secrets", "default", ""),
        resource("create", "", "pods", NAMESPACE, ""),
        resource("create", "", "nodes", "", ""),
        resource("escalate", rbac, "clusterroles", "", ""),
        resource("bind", rbac, "clusterroles", "", "cluster-admin"),
        resource("bind", rbac, "roles", NAMESPACE, ""),
        resource("bind", rbac, "clusterroles", NAMESPACE, "prize-secrets"),
        resource("impersonate", "", "users", "", "root"),
        resource("impersonate", "", "groups", "", "system:masters"),
        resource("*", "*", "*", "", ""),
        json!({"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}),
        json!({"nonResourceAttributes": {"verb": "get", "path": "/logs/a"}}),
        json!({"nonResourceAttributes": {"verb": "post", "path": "/anything"}}),
    ]
}
