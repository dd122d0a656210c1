//! What is written: each thing as it is at first, and as the one who tries wants it to be.

use serde_json::{Value, json};

use crate::servers::Ask;
use crate::{NAMESPACE, RBAC};

/// Rights that somebody may want.
pub(crate) const PRIZES: [&str; 7] = ["secrets", "named", "wild", "paths", "escalate", "subresource", "nothing"];

/// The rules of a prize.
pub(crate) fn prize(name: &str) -> Value {
    match name {
        "secrets" => json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}]),
        "named" => {
            json!([{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"], "verbs": ["get", "list"]}])
        }
        "wild" => json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
        "paths" => json!([{"nonResourceURLs": ["/metrics", "/logs/a"], "verbs": ["get"]}]),
        "escalate" => {
            json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "clusterroles"], "verbs": ["bind", "escalate"]}])
        }
        "subresource" => json!([{"apiGroups": [""], "resources": ["*/exec", "secrets/x"], "verbs": ["create"]}]),
        _ => json!([]),
    }
}

/// A kind of object, and how it could be abused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    /// Gets more rules.
    Role,
    /// Gets more rules.
    ClusterRole,
    /// Gets selectors.
    Aggregated,
    /// Gets other selectors.
    Reselected,
    /// Loses its selectors and gets rules.
    Loosened,
    /// Gets a label by which its rules flow into another role.
    Source,
    /// Gets a subject; of a ClusterRole.
    RoleBinding,
    /// Gets a subject; of a Role.
    LocalBinding,
    /// Gets a subject.
    ClusterRoleBinding,
    /// Gets another role.
    Repointed,
}

/// One object that is abused.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) thing: Thing,
    pub(crate) name: String,
    pub(crate) prize: &'static str,
    pub(crate) accomplice: String,
}

impl Thing {
    pub(crate) const PLAIN: [Self; 6] = [
        Self::Role,
        Self::ClusterRole,
        Self::RoleBinding,
        Self::LocalBinding,
        Self::ClusterRoleBinding,
        Self::Repointed,
    ];
    pub(crate) const AGGREGATED: [Self; 4] = [Self::Aggregated, Self::Reselected, Self::Loosened, Self::Source];

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Role => "Role",
            Self::ClusterRole | Self::Aggregated | Self::Reselected | Self::Loosened | Self::Source => "ClusterRole",
            Self::RoleBinding | Self::LocalBinding => "RoleBinding",
            Self::ClusterRoleBinding | Self::Repointed => "ClusterRoleBinding",
        }
    }
}

impl Object {
    /// Where things like this are.
    pub(crate) fn collection(&self) -> String {
        match self.thing.kind() {
            kind @ ("Role" | "RoleBinding") => format!("{RBAC}/namespaces/{NAMESPACE}/{}s", kind.to_lowercase()),
            kind => format!("{RBAC}/{}s", kind.to_lowercase()),
        }
    }

    /// Where this one is.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }

    /// What has to be there besides.
    pub(crate) fn around(&self) -> Vec<Ask> {
        let role = |name: &str, labels: Value, more: Value| {
            let mut role = json!({"metadata": {"name": name, "labels": labels}});
            merge(&mut role, &more);
            Ask::new("POST", format!("{RBAC}/clusterroles"), &role)
        };
        let bound = |name: &str| {
            let binding = json!({
                "metadata": {"name": name}, "subjects": [{"kind": "User", "name": self.accomplice}],
                "roleRef": {"kind": "ClusterRole", "name": name},
            });
            Ask::new("POST", format!("{RBAC}/clusterrolebindings"), &binding)
        };
        let (name, other) = (&self.name, format!("{}-other", self.name));
        match self.thing {
            Thing::Aggregated | Thing::Reselected => {
                vec![role(&other, json!({"flow": name}), json!({"rules": prize(self.prize)})), bound(name)]
            }
            Thing::Loosened => vec![bound(name)],
            Thing::Source => {
                vec![role(&other, json!({}), json!({"aggregationRule": selectors(name)})), bound(&other)]
            }
            _ => Vec::new(),
        }
    }

    /// As it is before.
    pub(crate) fn plain(&self) -> Value {
        let role_ref =
            |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
        let role = format!("prize-{}", self.prize);
        let more = match self.thing {
            Thing::Role | Thing::ClusterRole | Thing::Aggregated => json!({"rules": []}),
            Thing::Reselected => json!({"rules": [], "aggregationRule": selectors("nothing")}),
            Thing::Loosened => json!({"rules": [], "aggregationRule": selectors(&self.name)}),
            Thing::Source => json!({"rules": prize(self.prize)}),
            Thing::RoleBinding | Thing::ClusterRoleBinding => {
                json!({"subjects": [], "roleRef": role_ref("ClusterRole", &role)})
            }
            Thing::LocalBinding => json!({"subjects": [], "roleRef": role_ref("Role", &role)}),
            Thing::Repointed => {
                json!({"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": self.accomplice}], "roleRef": role_ref("ClusterRole", "prize-nothing")})
            }
        };
        let mut object = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": self.thing.kind(), "metadata": {"name": self.name}});
        merge(&mut object, &more);
        object
    }

    /// What has to change, as a merge patch.
    pub(crate) fn change(&self) -> Value {
        match self.thing {
            Thing::Role | Thing::ClusterRole => json!({"rules": prize(self.prize)}),
            Thing::Aggregated | Thing::Reselected => json!({"aggregationRule": selectors(&self.name)}),
            Thing::Loosened => json!({"rules": prize(self.prize), "aggregationRule": null}),
            Thing::Source => json!({"metadata": {"labels": {"flow": self.name}}}),
            Thing::RoleBinding | Thing::LocalBinding | Thing::ClusterRoleBinding => {
                json!({"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": self.accomplice}]})
            }
            Thing::Repointed => {
                json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": format!("prize-{}", self.prize)}})
            }
        }
    }

    /// As it is wanted.
    pub(crate) fn greedy(&self) -> Value {
        let mut object = self.plain();
        merge(&mut object, &self.change());
        object
    }

    /// The change as a JSON patch.
    pub(crate) fn steps(&self) -> Value {
        let change = self.change();
        let members = change.as_object().into_iter().flatten();
        members
            .map(|(member, value)| match (member.as_str(), value) {
                ("metadata", value) => json!({"op": "add", "path": "/metadata/labels", "value": value["labels"]}),
                (member, Value::Null) => json!({"op": "remove", "path": format!("/{member}")}),
                (member, value) => json!({"op": "add", "path": format!("/{member}"), "value": value}),
            })
            .collect()
    }
}

/// Selects by the label that rules flow along.
fn selectors(value: &str) -> Value {
    json!({"clusterRoleSelectors": [{"matchLabels": {"flow": value}}]})
}

/// A merge patch on a document.
pub(crate) fn merge(into: &mut Value, change: &Value) {
    let (Value::Object(into), Value::Object(change)) = (&mut *into, change) else {
        into.clone_from(change);
        return;
    };
    for (member, value) in change {
        if value.is_null() {
            into.remove(member);
        } else {
            merge(into.entry(member).or_insert(Value::Null), value);
        }
    }
}
