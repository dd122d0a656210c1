//! Who asks in a random sequence, what they may do, and how both servers come to know it.
//!
//! Kubernetes decides by caches that follow its storage a moment later. Before somebody else than the superuser asks,
//! a sequence waits until both servers have seen every right that it changed: a marker that is written last in each of
//! the four kinds arrives after everything else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::content;
use super::dice::Dice;
use super::kinds::KINDS;
use crate::exchange::Exchange;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1";
const USERS: [&str; 3] = ["alice", "bella", "carl"];
const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// Kinds that decide on rights and were written since everybody knew.
pub(super) type Unsettled = BTreeSet<&'static str>;

/// All of them.
pub(super) fn unsettled() -> Unsettled {
    ["clusterroles", "clusterrolebindings", "roles", "rolebindings"].into()
}

/// The users and their rights, and the markers.
pub(super) fn beginning(dice: &mut Dice) -> Vec<Exchange> {
    let resources: BTreeSet<&str> = KINDS.iter().map(|kind| kind.plural).collect();
    // Alice writes everything, but holds little that she could grant.
    let mut all = vec![role(
        "alice",
        &json!([{"apiGroups": ["*"], "resources": resources, "verbs": VERBS},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]),
    )];
    let alice = json!([{"kind": "User", "name": "{{ns}}-alice"}]);
    all.push(binding("alice", "clusterrolebindings", "clusterrolebindings/", &alice));
    // Bella may do this and that in the namespace.
    let mut rules: Vec<Value> = (0..3).map(|_| some_rights(dice)).collect();
    rules.push(json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "clusterroles"],
        "resourceNames": ["a", "{{ns}}-a", "{{ns}}-carl"], "verbs": [dice.pick(&["bind", "escalate"]), "get", "update"]}));
    all.push(role("bella", &json!(rules)));
    let bella = json!([{"kind": "User", "name": "{{ns}}-bella"}]);
    all.push(binding("bella", "rolebindings", "namespaces/{{ns}}/rolebindings", &bella));
    // Carl's team may change what is there, by name.
    let verbs = ["get", "update", "patch", "delete"];
    let names = ["a", "{{ns}}-a", "b", "{{ns}}-b"];
    all.push(role(
        "carl",
        &json!([{"apiGroups": ["*"], "resources": resources, "resourceNames": names, "verbs": verbs},
        content::rule(&mut Dice::new(0, 9))]),
    ));
    let team = json!([{"kind": "Group", "name": "{{ns}}-team"}]);
    all.push(binding("carl", "clusterrolebindings", "clusterrolebindings/", &team));
    all.extend(markers());
    all
}

fn some_rights(dice: &mut Dice) -> Value {
    let verbs: BTreeSet<&str> = (0..3).map(|_| *dice.pick(&VERBS)).collect();
    let resources: BTreeSet<&str> = (0..4).map(|_| dice.pick(KINDS).plural).collect();
    json!({"apiGroups": ["*"], "resources": resources, "verbs": verbs})
}

fn role(user: &str, rules: &Value) -> Exchange {
    let body = json!({"metadata": {"name": format!("{{{{ns}}}}-{user}")}, "rules": rules});
    post(&format!("{user}'s role"), format!("{RBAC}/clusterroles"), &body)
}

fn binding(user: &str, plural: &str, place: &str, subjects: &Value) -> Exchange {
    let role = json!({"kind": "ClusterRole", "name": format!("{{{{ns}}}}-{user}")});
    let body = json!({"metadata": {"name": format!("{{{{ns}}}}-{user}")}, "roleRef": role, "subjects": subjects});
    debug_assert!(place.contains(plural));
    post(&format!("{user}'s binding"), format!("{RBAC}/{}", place.trim_end_matches('/')), &body)
}

/// A role of each kind, bound to a settler who has no other rights.
fn markers() -> Vec<Exchange> {
    let metadata = json!({"name": "{{ns}}-settle"});
    let subjects = json!([{"kind": "User", "name": "{{ns}}-settler"}]);
    let mut all = Vec::new();
    for (kind, place) in [("ClusterRole", ""), ("Role", "/namespaces/default")] {
        let plural = format!("{}s", kind.to_lowercase());
        let role = json!({"metadata": metadata, "rules": marking(kind, &["know"])});
        all.push(post(&format!("a marker among {plural}"), format!("{RBAC}{place}/{plural}"), &role));
        let binding =
            json!({"metadata": metadata, "subjects": subjects, "roleRef": {"kind": kind, "name": "{{ns}}-settle"}});
        let plural = plural.replace("roles", "rolebindings");
        all.push(post(&format!("a marker among {plural}"), format!("{RBAC}{place}/{plural}"), &binding));
    }
    all
}

fn marking(kind: &str, verbs: &[&str]) -> Value {
    json!([{"apiGroups": ["twin"], "resources": [format!("{}-markers", kind.to_lowercase())], "verbs": verbs}])
}

/// Waits until both servers decide by everything that was written before.
pub(super) fn settle(unsettled: &mut Unsettled, step: u64) -> Vec<Exchange> {
    let mut all = Vec::new();
    for plural in std::mem::take(unsettled) {
        let (kind, place) = if plural.starts_with("cluster") { ("ClusterRole", "") } else { ("Role", "default") };
        let (new, body, asked) = if plural.ends_with("bindings") {
            let user = format!("{{{{ns}}}}-settler-{step}");
            let subjects = json!([{"kind": "User", "name": "{{ns}}-settler"}, {"kind": "User", "name": user}]);
            (user, json!({"subjects": subjects}), "know".to_owned())
        } else {
            let verb = format!("know-{step}");
            ("{{ns}}-settler".to_owned(), json!({"rules": marking(kind, &["know", &verb])}), verb)
        };
        let at = if place.is_empty() { String::new() } else { format!("/namespaces/{place}") };
        all.push(Exchange {
            title: format!("mark {plural} before step {step}"),
            method: "PATCH".into(),
            target: format!("{RBAC}{at}/{plural}/{{{{ns}}}}-settle"),
            headers: vec![("Content-Type".into(), "application/merge-patch+json".into())],
            body: body.to_string(),
            ..Exchange::default()
        });
        let attributes = json!({"group": "twin", "resource": format!("{}-markers", kind.to_lowercase()), "verb": asked,
            "namespace": place});
        let review = json!({"spec": {"user": new, "resourceAttributes": attributes}});
        let title = format!("{plural} are known before step {step}");
        let mut known = post(&title, format!("{REVIEWS}/subjectaccessreviews"), &review);
        known.directives.wait = Some(".status.allowed == true".into());
        all.push(known);
    }
    all
}

/// Makes one of the users ask.
pub(super) fn ask_as_somebody(exchange: &mut Exchange, dice: &mut Dice) {
    let user = *dice.pick(&USERS);
    let identity = &mut exchange.directives.identity;
    identity.push(("Impersonate-User".into(), format!("{{{{ns}}}}-{user}")));
    if user == "carl" {
        identity.push(("Impersonate-Group".into(), "{{ns}}-team".into()));
    }
}

/// A question about rights. Whose binding allows it is not compared: of several, Kubernetes names the first in a hash
/// table.
pub(super) fn review(dice: &mut Dice) -> Exchange {
    let resource = |dice: &mut Dice| {
        let kind = dice.pick(KINDS);
        let mut attributes = json!({"verb": dice.pick(&["get", "list", "create", "update", "bind", "escalate", "*"]),
            "resource": kind.plural, "group": dice.pick(&["", "", "apps", "rbac.authorization.k8s.io", "*"])});
        for (member, values, percent) in [
            ("namespace", &["{{ns}}", "default"][..], 70),
            ("name", &["a", "{{ns}}-a"], 40),
            ("subresource", &["status", "scale"], 10),
        ] {
            if dice.chance(percent) {
                attributes[member] = json!(dice.pick(values));
            }
        }
        attributes
    };
    let user = format!("{{{{ns}}}}-{}", dice.pick(&USERS));
    let mut exchange = match dice.below(10) {
        0..4 => {
            let mut spec = json!({"user": user, "resourceAttributes": resource(dice)});
            if dice.chance(30) {
                spec["groups"] = json!(["{{ns}}-team"]);
            }
            post("", format!("{REVIEWS}/subjectaccessreviews"), &json!({"spec": spec}))
        }
        4 => {
            let attributes = json!({"verb": "get", "path": dice.pick(&["/a", "/api", "/a/b"])});
            let spec = json!({"user": user, "nonResourceAttributes": attributes});
            post("", format!("{REVIEWS}/subjectaccessreviews"), &json!({"spec": spec}))
        }
        5 | 6 => {
            let mut attributes = resource(dice);
            if dice.chance(80) {
                attributes["namespace"] = json!("{{ns}}");
            }
            let body = json!({"spec": {"user": user, "resourceAttributes": attributes}});
            post("", format!("{REVIEWS}/namespaces/{{{{ns}}}}/localsubjectaccessreviews"), &body)
        }
        7 => {
            let body = json!({"spec": {"resourceAttributes": resource(dice)}});
            let mut exchange = post("", format!("{REVIEWS}/selfsubjectaccessreviews"), &body);
            ask_as_somebody(&mut exchange, dice);
            exchange
        }
        _ => {
            let body = json!({"spec": {"namespace": dice.pick(&["{{ns}}", "default", ""])}});
            let mut exchange = post("", format!("{REVIEWS}/selfsubjectrulesreviews"), &body);
            ask_as_somebody(&mut exchange, dice);
            exchange
        }
    };
    exchange.directives.ignored.push(".status.reason".into());
    exchange
}

fn post(title: &str, target: String, body: &Value) -> Exchange {
    Exchange { title: title.into(), method: "POST".into(), target, body: body.to_string(), ..Exchange::default() }
}
