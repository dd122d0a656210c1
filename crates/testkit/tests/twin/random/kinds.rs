//! The kinds that random requests are about, and the requests.

use serde_json::{Value, json};

use super::dice::Dice;
use super::patches;
use crate::exchange::Exchange;

/// A kind, and how its objects are drawn.
pub(super) struct Kind {
    pub(super) plural: &'static str,
    group: &'static str,
    namespaced: bool,
    /// Everything beside the metadata.
    pub(super) content: fn(&mut Dice) -> Value,
}

pub(super) const KINDS: &[Kind] = &[
    Kind { plural: "configmaps", group: "api/v1", namespaced: true, content: config_map },
    Kind { plural: "secrets", group: "api/v1", namespaced: true, content: secret },
    Kind { plural: "serviceaccounts", group: "api/v1", namespaced: true, content: service_account },
    Kind { plural: "roles", group: "apis/rbac.authorization.k8s.io/v1", namespaced: true, content: role },
    Kind { plural: "clusterroles", group: "apis/rbac.authorization.k8s.io/v1", namespaced: false, content: role },
    Kind { plural: "rolebindings", group: "apis/rbac.authorization.k8s.io/v1", namespaced: true, content: binding },
    Kind { plural: "leases", group: "apis/coordination.k8s.io/v1", namespaced: true, content: lease },
    Kind { plural: "deployments", group: "apis/apps/v1", namespaced: true, content: deployment },
];

impl Kind {
    pub(super) fn collection(&self) -> String {
        let namespace = if self.namespaced { "/namespaces/{{ns}}" } else { "" };
        format!("/{}{namespace}/{}", self.group, self.plural)
    }

    /// A selector for what the sequence made itself.
    pub(super) fn ours(&self) -> &'static str {
        if self.namespaced { "fieldSelector=metadata.name%21%3Ddefault" } else { "labelSelector=twin%3D{{ns}}" }
    }

    fn name(&self, dice: &mut Dice) -> String {
        let name = *dice.pick(&["a", "b", "c"]);
        if self.namespaced { name.to_owned() } else { format!("{{{{ns}}}}-{name}") }
    }

    fn metadata(&self, dice: &mut Dice, name: &str) -> Value {
        let mut labels = json!({});
        if !self.namespaced {
            labels["twin"] = json!("{{ns}}");
        }
        for (label, values) in [("app", ["x", "y"]), ("tier", ["front", "a b"])] {
            if dice.chance(if label == "app" { 50 } else { 10 }) {
                labels[label] = json!(dice.pick(&values));
            }
        }
        let mut metadata = json!({"name": name, "labels": labels});
        if dice.chance(20) {
            metadata["annotations"] = json!({"note": dice.pick(&["1", "2"])});
        }
        if dice.chance(12) {
            metadata["finalizers"] = json!([dice.pick(&["example.com/f", "example.com/g", "plain"])]);
        }
        metadata
    }

    fn object(&self, dice: &mut Dice, name: &str) -> Value {
        let mut object = (self.content)(dice);
        object["metadata"] = self.metadata(dice, name);
        if dice.chance(4) {
            object["colour"] = json!("blue");
        }
        object
    }

    /// A request; one that creates where `begin` says that there is little yet.
    pub(super) fn request(&self, dice: &mut Dice, begin: bool) -> Exchange {
        let name = self.name(dice);
        let mut exchange = match if begin { 0 } else { dice.below(100) } {
            0..25 => self.create(dice, &name),
            25..45 => self.update(dice, &name),
            45..75 => patches::patch(self, dice, &format!("{}/{name}", self.collection())),
            75..87 => self.delete(dice, &name),
            87..93 => Exchange {
                method: "GET".into(),
                target: format!("{}/{name}", self.collection()),
                ..Exchange::default()
            },
            _ => self.list(dice),
        };
        if dice.chance(15) {
            exchange.directives.identity.push(("Impersonate-User".into(), "{{ns}}-alice".into()));
        }
        if dice.chance(8) {
            let form = *dice.pick(&["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);
            exchange.headers.push(("Accept".into(), format!("application/json;as={form};v=v1;g=meta.k8s.io")));
        }
        exchange.directives.captures.push((format!("rv-{}-{name}", self.plural), ".metadata.resourceVersion".into()));
        exchange.directives.captures.push((format!("uid-{}-{name}", self.plural), ".metadata.uid".into()));
        exchange
    }

    /// Those of the sequence's own objects that have labels.
    fn selected(&self, labels: &str) -> String {
        let separator = if self.namespaced { "&labelSelector=" } else { "," };
        format!("{}?{}{separator}{labels}", self.collection(), self.ours())
    }

    fn create(&self, dice: &mut Dice, name: &str) -> Exchange {
        let target = format!("{}?{}", self.collection(), write_options(dice));
        Exchange { method: "POST".into(), target, body: self.object(dice, name).to_string(), ..Exchange::default() }
    }

    fn update(&self, dice: &mut Dice, name: &str) -> Exchange {
        let mut object = self.object(dice, name);
        if dice.chance(40) {
            object["metadata"]["resourceVersion"] = json!(format!("{{{{rv-{}-{name}}}}}", self.plural));
        }
        if dice.chance(10) {
            object["metadata"]["uid"] = json!(format!("{{{{uid-{}-{name}}}}}", self.plural));
        }
        let target = format!("{}/{name}?{}", self.collection(), write_options(dice));
        Exchange { method: "PUT".into(), target, body: object.to_string(), ..Exchange::default() }
    }

    fn delete(&self, dice: &mut Dice, name: &str) -> Exchange {
        let mut options = json!({});
        if dice.chance(20) {
            options["preconditions"] = json!({"uid": format!("{{{{uid-{}-{name}}}}}", self.plural)});
        }
        if dice.chance(20) {
            options["preconditions"]["resourceVersion"] = json!(format!("{{{{rv-{}-{name}}}}}", self.plural));
        }
        if dice.chance(20) {
            options["propagationPolicy"] = json!("Background");
        }
        if dice.chance(10) {
            options["dryRun"] = json!(["All"]);
        }
        let target = if dice.chance(8) { self.selected("app") } else { format!("{}/{name}", self.collection()) };
        let body = if options == json!({}) { String::new() } else { options.to_string() };
        Exchange { method: "DELETE".into(), target, body, ..Exchange::default() }
    }

    fn list(&self, dice: &mut Dice) -> Exchange {
        let labels = ["app", "app%3Dx", "app%21%3Dx", "%21tier", "app%20in%20%28x,y%29", "app%20notin%20%28x%29"];
        let limit = *dice.pick(&["", "&limit=1", "&limit=2", "&resourceVersion=0"]);
        let selector = *dice.pick(&labels);
        let target = format!("{}{limit}", self.selected(selector));
        Exchange { method: "GET".into(), target, ..Exchange::default() }
    }
}

/// Options of whatever writes.
pub(super) fn write_options(dice: &mut Dice) -> String {
    let mut options = Vec::new();
    if dice.chance(8) {
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

fn config_map(dice: &mut Dice) -> Value {
    let mut data = json!({});
    for key in ["a", "b", "c"] {
        if dice.chance(50) {
            data[key] = json!(dice.pick(&["1", "2"]));
        }
    }
    match dice.below(20) {
        0 => json!({"data": {"a": 1}}),
        1 => json!({"data": data, "immutable": true}),
        2 => json!({"data": {"a b": "1"}}),
        3 => json!({"binaryData": {"a": "AAEC"}}),
        4 => json!({}),
        _ => json!({"data": data}),
    }
}

fn secret(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => json!({"data": {"a": "%"}}),
        1 => json!({"type": "example.com/t"}),
        2 => json!({"type": "kubernetes.io/basic-auth"}),
        3 => json!({"stringData": {"a": "1"}, "data": {"b": "MQ=="}}),
        number => json!({"data": {"a": if number % 2 == 0 { "MQ==" } else { "Mg==" }}}),
    }
}

fn service_account(dice: &mut Dice) -> Value {
    match dice.below(5) {
        0 => json!({"automountServiceAccountToken": dice.chance(50)}),
        1 => json!({"imagePullSecrets": [{"name": dice.pick(&["p", "q"])}]}),
        2 => json!({"secrets": [{"name": dice.pick(&["p", "q"])}, {"name": "r"}]}),
        3 => json!({"secrets": "none"}),
        _ => json!({}),
    }
}

fn rule(dice: &mut Dice) -> Value {
    match dice.below(14) {
        0 => json!({"apiGroups": [""], "resources": ["pods"]}),
        1 => json!({"resources": ["pods"], "verbs": ["get"]}),
        2 => json!({"nonResourceURLs": ["/a"], "verbs": ["get"]}),
        3 => json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}),
        4 => json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"], "verbs": ["get", "update"]}),
        5 => json!({"apiGroups": ["apps", ""], "resources": ["deployments", "pods"], "verbs": ["list", "get"]}),
        _ => json!({"apiGroups": [""], "resources": ["pods"], "verbs": [dice.pick(&["get", "list", "watch"])]}),
    }
}

fn role(dice: &mut Dice) -> Value {
    match dice.below(15) {
        0 => json!({}),
        1 => json!({"rules": []}),
        2 => json!({"rules": [null]}),
        3 => json!({"rules": {"a": 1}}),
        4..8 => json!({"rules": [rule(dice), rule(dice)]}),
        _ => json!({"rules": [rule(dice)]}),
    }
}

fn binding(dice: &mut Dice) -> Value {
    let subject = match dice.below(8) {
        0 => json!({"kind": "Robot", "name": "r"}),
        1 => json!({"kind": "ServiceAccount", "name": "default", "namespace": "{{ns}}"}),
        2 => json!({"kind": "Group", "name": "bobs"}),
        3 => json!({"kind": "User"}),
        _ => json!({"kind": "User", "name": dice.pick(&["bob", "bert"])}),
    };
    let role = match dice.below(8) {
        0 => json!({"kind": "Role", "name": "a"}),
        1 => json!({"kind": "ClusterRole", "name": "cluster-admin"}),
        2 => json!({"kind": "Pod", "name": "a"}),
        _ => json!({"kind": "ClusterRole", "name": "{{ns}}-alice"}),
    };
    if dice.chance(15) { json!({"roleRef": role}) } else { json!({"subjects": [subject], "roleRef": role}) }
}

fn lease(dice: &mut Dice) -> Value {
    let duration = *dice.pick(&[10, 15, 15, 0]);
    match dice.below(6) {
        0 => json!({}),
        1 => json!({"spec": {"renewTime": "soon"}}),
        2 => json!({"spec": {"holderIdentity": "a", "renewTime": "2020-01-01T00:00:00.000000Z"}}),
        _ => json!({"spec": {"holderIdentity": dice.pick(&["a", "b"]), "leaseDurationSeconds": duration}}),
    }
}

fn deployment(dice: &mut Dice) -> Value {
    let container = json!({"name": dice.pick(&["one", "two"]), "image": dice.pick(&["i:1", "i:2"])});
    let replicas = *dice.pick(&[0, 1, 2]);
    json!({"spec": {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}}})
}
